"""Lists the tables of posts."""

from accounts.models import Visibility
from statuses.models.favourite import Favourite
from statuses.models.idempotency import IdempotencyKey
from statuses.models.media import MediaAttachment, MediaType, Processing
from statuses.models.mention import Mention
from statuses.models.status import Status, StatusStat
from statuses.models.status_tag import StatusTag

__all__ = [
    "Favourite",
    "IdempotencyKey",
    "MediaAttachment",
    "MediaType",
    "Mention",
    "Processing",
    "Status",
    "StatusStat",
    "StatusTag",
    "Visibility",
]
