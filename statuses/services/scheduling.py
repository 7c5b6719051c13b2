"""Schedules posts and stores drafts. A draft is a scheduled post that is never due (DRAFTS_FROM), as in some clients."""

import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, time, timedelta
from typing import Final

import orjson
from django.db import transaction
from django.utils import translation
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from accounts.identity.services.mails import Letter, send_all
from accounts.models import Account
from social.kernel import clock
from social.kernel.errors import FieldError, Forbidden, Invalid, NotFound, require_found
from social.kernel.events import publish
from social.kernel.identity import default_language
from social.kernel.ids import parse_id
from social.kernel.locks import delete_rows, lock
from statuses.events import ScheduledStatusDue, ScheduledStatusFailed
from statuses.models import ScheduledMedia, ScheduledStatus, Status
from statuses.policies.publishing import DRAFT_TIME, DRAFTS_FROM, choose_visibility, is_draft
from statuses.queries.authors import find_author
from statuses.services import idempotency
from statuses.services.composing import Draft, UnexpectedMentions, check_files, compose
from statuses.services.holding import HeldForReview, hold_scheduled
from statuses.services.kept_drafts import attach_files, draft_of, draft_row, lock_draft, publish_draft, store_draft
from statuses.services.quotas import check_posts
from statuses.services.screening import limit_author, note_stored, screen
from statuses.services.storing import Composed, lock_media

SHORTEST_DELAY: Final = timedelta(minutes=5)
"""Minimum delay of a scheduled post."""

LONGEST_DELAY: Final = timedelta(days=100 * 365)
"""Maximum delay of a scheduled post that is not a draft."""

LATEST: Final = datetime(9999, 12, 30, tzinfo=UTC)
"""Latest time of a draft, chosen so that the year is at most 9999 in every time zone."""

DAILY_LIMIT: Final = 25
"""Maximum number of scheduled posts of an account for one day (UTC)."""

TOTAL_LIMIT: Final = 300
"""Maximum number of scheduled posts of an account, and of its drafts."""

DRAFT_LIMIT: Final = 100_000
"""Maximum size in bytes of a stored draft; its text may be longer than a post's text."""

_REASON_LENGTH: Final = 500
_EXCERPT_LENGTH: Final = 200

logger = logging.getLogger(__name__)


def schedule_status(
    *,
    author: Account,
    draft: Draft,
    scheduled_at: datetime,
    idempotency_key: str | None = None,
    application_id: int | None = None,
    composed: bool = True,
) -> ScheduledStatus | Status:
    """Store a post until it is due; a post scheduled for DRAFTS_FROM or later is a draft. Unless `composed` is False, the post
    is composed immediately, so that errors are reported. Errors about files and unexpected mentions keep their message; all
    other errors are reported as "Record invalid".

    With a repeated `idempotency_key`, returns the first scheduled post, or the post published from it; raises NotFound if that
    post was deleted. Raises Invalid for a time that is too near or too far, and if the daily or total limit is exceeded.
    """
    if idempotency_key:
        first = _find_first(author.id, idempotency_key)
        if first is not None:
            return first
    media_ids = _compose_or_refuse(author, draft, application_id).media_ids if composed else draft.media_ids
    with transaction.atomic():
        claimed = None
        if idempotency_key:
            claimed = idempotency.claim(author.id, idempotency_key)
            if claimed is None:
                first = _find_first(author.id, idempotency_key)
                if first is None:
                    raise NotFound
                return first
        files = lock_media(author, [int(number) for number in media_ids], checked=composed)
        scheduled = draft_row(author=author, draft=draft, scheduled_at=scheduled_at, application_id=application_id)
        _check(scheduled)
        store_draft(scheduled, files, claimed)
        _publish_due(scheduled)
    return scheduled


def reschedule_status(*, scheduled: ScheduledStatus, scheduled_at: datetime) -> None:
    """Change the time of a scheduled post. Raises Invalid like `schedule_status`, and for invalid content of a draft that
    gets a real time; HeldForReview for a held post; NotFound if the post was deleted.
    """
    if is_draft(scheduled.scheduled_at) and not is_draft(scheduled_at):
        _compose_or_refuse(find_author(scheduled.account_id), draft_of(scheduled), scheduled.application_id)
    with transaction.atomic():
        locked = require_found(lock_draft(scheduled.id))
        if hasattr(locked, "held"):
            raise HeldForReview
        locked.scheduled_at = scheduled.scheduled_at = scheduled_at
        _check(locked)
        locked.save(update_fields=["scheduled_at"])
        _publish_due(locked)


def cancel_status(*, scheduled: ScheduledStatus) -> None:
    """Delete a scheduled post; its files may be attached to another post. Raises NotFound if the post was already deleted."""
    with transaction.atomic():
        require_found(lock_draft(scheduled.id)).delete()


def publish_due(events: Sequence[ScheduledStatusDue]) -> None:
    """Publish scheduled posts that are due, each exactly once. Posts of accounts that may no longer post are deleted; posts
    that match a holding spam rule are held. A post that can no longer be published stays in its author's list, and
    ScheduledStatusFailed is published.
    """
    for event in events:
        _publish_one(event.scheduled_id)


def _publish_one(scheduled_id: int) -> None:
    due = ScheduledStatus.objects.filter(id=scheduled_id, scheduled_at__lte=clock.now(), held=None)
    scheduled = due.first()
    if scheduled is None:
        return
    author = find_author(scheduled.account_id)
    if author.suspended or author.user.disabled_at is not None:
        delete_rows(due)
        return
    try:
        with translation.override(author.user.locale or default_language()):
            publish_kept(scheduled, author)
    except HeldForReview:
        return
    except (Forbidden, Invalid, NotFound) as error:
        logger.warning("The scheduled post %s cannot be published: %s", scheduled.id, error.message)
        reason = error.message[:_REASON_LENGTH] if not isinstance(error, NotFound) else ""
        with transaction.atomic():
            publish(ScheduledStatusFailed(scheduled_id=scheduled.id, account_id=scheduled.account_id, reason=reason))


def publish_kept(scheduled: ScheduledStatus, author: Account, *, idempotency_key: str | None = None) -> Status | None:
    """Publish a scheduled post or draft; None if the post or draft was published or deleted before. Raises the errors of
    `publish_status`.
    """
    # Composed before the transaction, because composing may query other servers for mentioned accounts.
    new = compose(author=author, draft=draft_of(scheduled), application_id=scheduled.application_id)
    screening = screen(new)
    limited_by = limit_author(new, screening)
    with transaction.atomic():
        locked = lock_draft(scheduled.id)
        if locked is None or hasattr(locked, "held"):
            return None
        if screening.held_by is None:
            check_posts(author)
            claimed = idempotency.claim(author.id, idempotency_key) if idempotency_key else None
            status = publish_draft(locked, new)
            note_stored(status, screening, limited_by)
            if claimed is not None:
                idempotency.remember(claimed, status=status)
            return status
        hold_scheduled(locked, new, screening, limited_by=limited_by)
    raise HeldForReview


def send_failure_mails(events: Sequence[ScheduledStatusFailed]) -> None:
    """Handle ScheduledStatusFailed: send a mail to the authors of posts that are still scheduled. Raises Unavailable."""
    reasons = {event.scheduled_id: event.reason for event in events}
    rows = ScheduledStatus.objects.select_related("account__user").filter(id__one_of=reasons)
    send_all(
        Letter(
            row.account.user,
            row.account.user.email,
            "scheduled",
            {
                "text": Truncator(str(row.draft.get("text") or "")).chars(_EXCERPT_LENGTH),
                "reason": reasons[row.id],
                "scheduled_at": row.scheduled_at,
            },
        )
        for row in rows.order_by("id")
        if row.account.deleted_at is None
    )


def _find_first(account_id: int, key: str) -> ScheduledStatus | Status | None:
    return idempotency.find_first_scheduled(account_id, key) or idempotency.find_first(account_id, key)


def _compose_or_refuse(author: Account, draft: Draft, application_id: int | None) -> Composed:
    check_files(author.id, draft.media_ids)
    try:
        return compose(author=author, draft=draft, application_id=application_id)
    except UnexpectedMentions:
        raise
    except Invalid:
        raise Invalid(_("Record invalid")) from None


def _check(scheduled: ScheduledStatus) -> None:
    # Takes the account's lock in the caller's transaction.
    lock(f"scheduled:{scheduled.account_id}")
    if scheduled.scheduled_at <= clock.now() + SHORTEST_DELAY:
        raise _wrong_time(_("date must be in the future"))
    others = ScheduledStatus.objects.filter(account_id=scheduled.account_id).exclude(id=scheduled.id)
    if is_draft(scheduled.scheduled_at):
        if scheduled.scheduled_at > LATEST:
            raise _wrong_time(_("date is too far in the future"))
        if others.filter(scheduled_at__gte=DRAFTS_FROM).count() >= TOTAL_LIMIT:
            raise Invalid.sentence(_("You have exceeded the limit of %(limit)d drafts") % {"limit": TOTAL_LIMIT})
        return
    if scheduled.scheduled_at > clock.now() + LONGEST_DELAY:
        raise _wrong_time(_("date is too far in the future"))
    others = others.filter(scheduled_at__lt=DRAFTS_FROM)
    if others.count() >= TOTAL_LIMIT:
        raise Invalid.sentence(_("You have exceeded the limit of %(limit)d scheduled posts") % {"limit": TOTAL_LIMIT})
    day = datetime.combine(scheduled.scheduled_at.astimezone(UTC).date(), time.min, UTC)
    if others.filter(scheduled_at__gte=day, scheduled_at__lt=day + timedelta(days=1)).count() >= DAILY_LIMIT:
        message = _("You have exceeded the limit of %(limit)d scheduled posts for today") % {"limit": DAILY_LIMIT}
        raise Invalid.sentence(message)


def _wrong_time(message: str) -> Invalid:
    return Invalid.of([FieldError("scheduled_at", "ERR_INVALID", message, _("Scheduled at"))])


def _publish_due(scheduled: ScheduledStatus) -> None:
    if not is_draft(scheduled.scheduled_at):
        event = ScheduledStatusDue(scheduled_id=scheduled.id, account_id=scheduled.account_id)
        publish(event, due_at=scheduled.scheduled_at)


def save_draft(
    *, author: Account, draft: Draft, idempotency_key: str | None = None, application_id: int | None = None
) -> ScheduledStatus | Status:
    """Store a draft; its content is only checked when it is published. Raises Invalid for a text that is too long, files that
    are already attached or belong to another account, and too many drafts. A repeated key works as in `schedule_status`.
    """
    return schedule_status(
        author=author,
        draft=_checked_draft(author, draft),
        scheduled_at=DRAFT_TIME,
        idempotency_key=idempotency_key,
        application_id=application_id,
        composed=False,
    )


def change_draft(*, author: Account, draft_id: int, draft: Draft) -> None:
    """Replace the content of a draft. Raises the same errors as `save_draft`, and NotFound if the draft was published or
    deleted.
    """
    draft = _checked_draft(author, draft)
    with transaction.atomic():
        locked = _lock_draft(draft_id)
        ScheduledMedia.objects.filter(scheduled=locked).delete()
        files = lock_media(author, [int(number) for number in draft.media_ids], checked=False)
        row = draft_row(author=author, draft=draft, scheduled_at=locked.scheduled_at, application_id=None)
        locked.draft, locked.created_at = row.draft, row.created_at
        locked.save(update_fields=["draft", "created_at"])
        attach_files(locked, files)


def publish_saved(*, author: Account, draft_id: int, idempotency_key: str | None = None) -> Status:
    """Publish a draft now and return the post. Raises the errors of `publish_status`, in which case the draft stays. Raises
    NotFound if the draft was published or deleted, unless the draft was published with this idempotency key.
    """
    first = idempotency.find_first(author.id, idempotency_key) if idempotency_key else None
    if first is not None:
        return first
    scheduled = ScheduledStatus.objects.filter(id=draft_id, account=author, held=None).first()
    if scheduled is None or not is_draft(scheduled.scheduled_at):
        raise NotFound
    return require_found(publish_kept(scheduled, author, idempotency_key=idempotency_key))


def _lock_draft(draft_id: int) -> ScheduledStatus:
    locked = require_found(lock_draft(draft_id))
    if hasattr(locked, "held"):
        raise HeldForReview
    if not is_draft(locked.scheduled_at):
        raise NotFound
    return locked


def _checked_draft(author: Account, draft: Draft) -> Draft:
    # Ids become numbers; values that cannot be the id of a post are dropped.
    if len(orjson.dumps(asdict(draft), default=str)) > DRAFT_LIMIT:
        raise Invalid.sentence(_("The draft is too long"))
    choose_visibility(author, draft.visibility, author.user.default_privacy)
    return replace(
        draft,
        media_ids=check_files(author.id, draft.media_ids),
        in_reply_to_id=parse_id(draft.in_reply_to_id),
        quoted_status_id=parse_id(draft.quoted_status_id),
    )
