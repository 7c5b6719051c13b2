"""Stores the drafts of authors until they are published, scheduled or deleted. A draft is a scheduled post that is never due
(DRAFTS_FROM), because clients without draft support store their drafts in that way.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Final

import orjson
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account
from social.kernel.errors import Invalid, NotFound, require_found
from social.kernel.ids import parse_id
from statuses.models import ScheduledMedia, ScheduledStatus, Status
from statuses.policies.publishing import DRAFT_TIME, choose_visibility, is_draft
from statuses.services import idempotency
from statuses.services.composing import Draft, check_files
from statuses.services.holding import HeldForReview
from statuses.services.kept_drafts import attach_files, draft_row, lock_draft
from statuses.services.scheduling import publish_kept, schedule_status
from statuses.services.storing import lock_media

DRAFT_LIMIT: Final = 100_000
"""Limit of the bytes of a stored draft; its text may be longer than that of a post."""


def save_draft(
    *, author: Account, draft: Draft, idempotency_key: str | None = None, application_id: int | None = None
) -> ScheduledStatus | Status:
    """Store a draft; its content is only checked when it is published. Raises Invalid for content that is too long, for files
    that are not the author's own unattached ones, and if the limit of drafts is exceeded. A repeated key is handled as in
    `schedule_status`.
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
    """Replace the content of a draft. Raises the same errors as `save_draft`, and NotFound if it was published or deleted."""
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
    """Publish a draft now and return the post. Raises the same errors as `publish_status`, in which case the draft stays, and
    NotFound if the draft was published or deleted, unless it was published with this idempotency key.
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
