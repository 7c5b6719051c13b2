"""The kernel's models, listed where Django looks for them."""

from social.kernel.installation import Installation
from social.kernel.locks import Lease
from social.kernel.outbox import OutboxRow
from social.kernel.refusals import Refusal
from social.kernel.runner import Host

__all__ = ["Host", "Installation", "Lease", "OutboxRow", "Refusal"]
