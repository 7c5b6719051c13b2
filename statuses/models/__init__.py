"""Exports the models of posts."""

from accounts.models import Visibility
from statuses.models.attachments import MediaAttachment, MediaType, Poll, PollVote, Processing
from statuses.models.card import CardFetch, CardType, PreviewCard, StatusCard
from statuses.models.filter import Filter, FilterAction, FilterContext, FilterKeyword, FilterStatus
from statuses.models.held import HeldBoost, HeldMedia, HeldPost
from statuses.models.interactions import Bookmark, ConversationMute, Favourite, ImportedPost, Pin
from statuses.models.requests import Interaction, InteractionRequest, RequestState
from statuses.models.scheduling import IdempotencyKey, RetentionPolicy, ScheduledMedia, ScheduledStatus
from statuses.models.status import (
    LinkedCollection,
    Mention,
    Quote,
    QuoteState,
    Status,
    StatusEdit,
    StatusStat,
    StatusTag,
    UnknownMention,
)
