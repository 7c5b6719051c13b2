"""Rules of announcements and reactions to them (contract, parameters section 5, behaviours section 19)."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from moderation.models.announcement import ANNOUNCEMENT_LIMIT
from social.kernel.errors import FieldError
from social.kernel.text.characters import is_emoji


@dataclass(frozen=True)
class AnnouncementDraft:
    """An announcement that is not stored yet. `scheduled_at` is None if staff will publish the announcement by hand."""

    text: str
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    all_day: bool = False
    scheduled_at: datetime | None = None


def announcement_errors(draft: AnnouncementDraft) -> list[FieldError]:
    errors = []
    if not draft.text.strip():
        errors.append(FieldError.blank("text"))
    if len(draft.text) > ANNOUNCEMENT_LIMIT:
        errors.append(FieldError.too_long("text", ANNOUNCEMENT_LIMIT))
    if draft.starts_at is not None and draft.ends_at is not None and draft.ends_at < draft.starts_at:
        errors.append(FieldError("ends_at", "ERR_INVALID", _("must not be before the start")))
    if draft.all_day and (draft.starts_at is None or draft.ends_at is None):
        errors.append(FieldError("all_day", "ERR_INVALID", _("needs a start and an end")))
    return errors


def is_shown(now: datetime | Now) -> Q:
    """Return the condition for an announcement to be shown: it is published, and has not ended."""
    return Q(published_at__lte=now) & (Q(ends_at=None) | Q(ends_at__gt=now))


def may_be_reaction(name: str, *, has_custom_emoji: bool) -> bool:
    """Tell whether this is a Unicode emoji or a custom emoji of this server."""
    return has_custom_emoji or is_emoji(name)
