"""Blocklists of others, for staff: subscriptions, what waits for a decision with a dry run, and exceptions."""

from moderation.blocklists.admin.entries import BlocklistEntryAdmin, BlocklistExceptionAdmin
from moderation.blocklists.admin.lists import BlocklistAdmin

__all__ = ["BlocklistAdmin", "BlocklistEntryAdmin", "BlocklistExceptionAdmin"]
