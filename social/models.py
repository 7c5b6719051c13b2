"""Lists the kernel's tables for Django."""

from social.kernel.outbox import OutboxRow

__all__ = ["OutboxRow"]
