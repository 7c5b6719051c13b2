"""Lists the kernel's tables for Django."""

from social.kernel.installation import Installation
from social.kernel.leases import Lease
from social.kernel.outbox import OutboxRow

__all__ = ["Installation", "Lease", "OutboxRow"]
