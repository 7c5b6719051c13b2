"""Stores drafts until they are published as posts: at the time that the author chose, or when staff have approved them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from accounts.models import Account
from social.kernel.releases import known_fields
from statuses.models import MediaAttachment, ScheduledMedia, ScheduledStatus, Status
from statuses.policies.polls import PollDraft
from statuses.policies.quotes import choose_policy
from statuses.services import idempotency
from statuses.services.composing import Draft
from statuses.services.media import MediaChange
from statuses.services.storing import Composed, store_status


def draft_row(*, author: Account, draft: Draft, scheduled_at: datetime, application_id: int | None) -> ScheduledStatus:
    """Return the unsaved row for a draft. A draft without a quote policy gets the author's current default."""
    policy = choose_policy(draft.quote_approval_policy, author.user.default_quote_policy)
    return ScheduledStatus(
        account=author,
        scheduled_at=scheduled_at,
        draft=asdict(replace(draft, quote_approval_policy=policy, scheduled_at=None)),
        application_id=application_id,
    )


def store_draft(scheduled: ScheduledStatus, files: Sequence[MediaAttachment], claimed: int | None) -> None:
    """Save a row that `draft_row` returned, its files, and the idempotency key if any, in the caller's transaction."""
    scheduled.save(force_insert=True)
    attach_files(scheduled, files)
    if claimed is not None:
        idempotency.remember(claimed, scheduled=scheduled)


def attach_files(scheduled: ScheduledStatus, files: Sequence[MediaAttachment]) -> None:
    """Attach the files to a scheduled post, in the given order."""
    for position, media in enumerate(files):
        ScheduledMedia.objects.create(scheduled=scheduled, media=media, position=position)


def lock_draft(scheduled_id: int) -> ScheduledStatus | None:
    """Lock and return the row of a scheduled post or draft; None if the row was deleted."""
    return ScheduledStatus.objects.select_for_update().filter(id=scheduled_id).first()


def publish_draft(scheduled: ScheduledStatus, new: Composed) -> Status:
    """Store the post of a draft whose row the caller has locked, and delete the row. Raises the errors of `store_status`."""
    ScheduledMedia.objects.filter(scheduled=scheduled).delete()
    status = store_status(new)
    idempotency.remember_published(scheduled, status)
    scheduled.delete()
    return status


def draft_of(scheduled: ScheduledStatus) -> Draft:
    return read_draft(scheduled.draft)


def encode_edit(draft: Draft) -> dict[str, Any]:
    """Serialise the draft of an edit without the new thumbnails of files, which are stored separately (HeldMedia)."""
    changes = [
        (number, {"description": change.description, "focus": change.focus}) for number, change in draft.media_changes
    ]
    return asdict(replace(draft, media_changes=())) | {"media_changes": changes}


def read_draft(stored: Mapping[str, Any]) -> Draft:
    """Deserialise a stored draft, ignoring fields that a newer release has added."""
    values = known_fields(Draft, stored)
    for name in ("media_ids", "allowed_mentions", "unsent"):
        if values.get(name) is not None:
            values[name] = tuple(values[name])
    values["media_changes"] = tuple(
        (number, MediaChange(**known_fields(MediaChange, change))) for number, change in values.get("media_changes", ())
    )
    if values.get("poll") is not None:
        poll = known_fields(PollDraft, values["poll"])
        values["poll"] = PollDraft(**poll | {"options": tuple(poll["options"])})
    return Draft(**values)
