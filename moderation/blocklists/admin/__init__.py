"""Admin pages of blocklists: subscriptions, entries with a dry run of their changes, and exceptions."""

from moderation.blocklists.admin.entries import BlocklistEntryAdmin, BlocklistExceptionAdmin
from moderation.blocklists.admin.lists import BlocklistAdmin

__all__ = ["BlocklistAdmin", "BlocklistEntryAdmin", "BlocklistExceptionAdmin"]
