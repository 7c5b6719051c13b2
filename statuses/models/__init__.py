"""Lists the tables of posts."""

from accounts.models import Visibility
from statuses.models.bookmark import Bookmark
from statuses.models.card import CardFetch, CardType, PreviewCard, StatusCard
from statuses.models.conversation_mute import ConversationMute
from statuses.models.favourite import Favourite
from statuses.models.filter import Filter, FilterAction, FilterContext, FilterKeyword, FilterStatus
from statuses.models.idempotency import IdempotencyKey
from statuses.models.media import MediaAttachment, MediaType, Processing
from statuses.models.mention import Mention
from statuses.models.pin import Pin
from statuses.models.poll import Poll, PollVote
from statuses.models.quote import Quote, QuoteState
from statuses.models.retention import RetentionPolicy
from statuses.models.scheduled_status import ScheduledMedia, ScheduledStatus
from statuses.models.status import Status, StatusStat
from statuses.models.status_edit import StatusEdit
from statuses.models.status_tag import StatusTag

__all__ = [
    "Bookmark",
    "CardFetch",
    "CardType",
    "ConversationMute",
    "Favourite",
    "Filter",
    "FilterAction",
    "FilterContext",
    "FilterKeyword",
    "FilterStatus",
    "IdempotencyKey",
    "MediaAttachment",
    "MediaType",
    "Mention",
    "Pin",
    "Poll",
    "PollVote",
    "PreviewCard",
    "Processing",
    "Quote",
    "QuoteState",
    "RetentionPolicy",
    "ScheduledMedia",
    "ScheduledStatus",
    "Status",
    "StatusCard",
    "StatusEdit",
    "StatusStat",
    "StatusTag",
    "Visibility",
]
