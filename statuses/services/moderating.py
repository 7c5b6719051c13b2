"""Carries out staff decisions: deletes posts, marks files as sensitive, approves or discards held posts (docs/adr/0031)."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

import orjson
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import Account, User
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record, record_each
from accounts.spam.models import SpamRule
from social.kernel import clock
from social.kernel.batches import in_batches
from social.kernel.errors import Conflict, require_found
from social.kernel.events import publish
from social.kernel.locks import delete_rows
from statuses.events import HeldPostApproved
from statuses.models import HeldPost, MediaAttachment, ScheduledStatus, Status, StatusCard
from statuses.policies.visibility import OPEN_VISIBILITIES
from statuses.queries.authors import find_author
from statuses.services.changing import change_statuses
from statuses.services.composing import compose
from statuses.services.deleting import BATCH_SIZE, delete_statuses
from statuses.services.kept_drafts import draft_of, lock_draft, publish_draft, read_draft
from statuses.services.revising import edit_status, store_sensitivity

_HELD_BATCH: Final = 200


def remove_status(*, by: Staff, status: Status) -> None:
    """Delete one post, as `remove_statuses` does."""
    remove_statuses(by=by, status_ids=[status.id])


def remove_statuses(*, by: Staff, status_ids: Collection[int]) -> list[int]:
    """Delete posts with their files, with an audit row for each, and return the ids of the posts that existed. Raises
    Forbidden, and deletes nothing, if `by` lacks MANAGE_REPORTS or does not rank higher than every local author.
    """
    with transaction.atomic():
        found = _lock_posts(by, status_ids)
        for batch in in_batches(found, BATCH_SIZE):
            delete_statuses(status_ids=[status.id for status in batch], delete_media=True)
        _record_posts(by, "destroy", found)
    return [status.id for status in found]


def mark_statuses_sensitive(*, by: Staff, status_ids: Collection[int]) -> list[int]:
    """Mark posts with files or a preview as sensitive, with an audit row for each, and return the ids of the posts that were
    not marked before. Local posts get a new version, and StatusEdited is published. Raises Forbidden like `remove_statuses`.
    """
    return _set_sensitive(by, status_ids, "sensitize", sensitive=True)


def unmark_statuses_sensitive(*, by: Staff, status_ids: Collection[int]) -> list[int]:
    """Undo `mark_statuses_sensitive` for posts that are still marked."""
    return _set_sensitive(by, status_ids, "unsensitize", sensitive=False)


def _set_sensitive(by: Staff, status_ids: Collection[int], action: str, *, sensitive: bool) -> list[int]:
    with transaction.atomic():
        found = [status for status in _lock_posts(by, status_ids) if status.sensitive != sensitive]
        if sensitive:
            ids = [status.id for status in found]
            ids_with_media = {
                *MediaAttachment.objects.filter(status_id__one_of=ids).values_list("status_id", flat=True),
                *StatusCard.objects.filter(status_id__one_of=ids).values_list("status_id", flat=True),
            }
            found = [status for status in found if status.id in ids_with_media]
        for status in found:
            if status.local:
                store_sensitivity(status, sensitive=sensitive)
        change_statuses([status.id for status in found if not status.local], sensitive=sensitive)
        _record_posts(by, action, found)
    return [status.id for status in found]


def _lock_posts(by: Staff, status_ids: Collection[int]) -> list[Status]:
    # Locks the posts that are not deleted; `by` must be allowed to act on all of these posts.
    rows = Status.objects.select_for_update(of=("self",)).select_related("account")
    found = list(rows.filter(id__one_of=list(status_ids), deleted_at=None).order_by("id"))
    require(by, Permission.MANAGE_REPORTS)
    authors = {status.account_id for status in found if status.local}
    for user in User.objects.select_related("role").filter(account_id__one_of=authors) if authors else ():
        require(by, Permission.MANAGE_REPORTS, over=user.role)
    return found


def _record_posts(by: Staff, action: str, statuses: Sequence[Status]) -> None:
    targets = [(status.id, f"@{status.account.acct}") for status in statuses]
    record_each(by=by, action=action, target_type="Status", targets=targets)


def approve_held(*, by: Staff, held: HeldPost) -> None:
    """Publish a held post or edit with the time at which it was written. A local post is published immediately, a remote post
    when HeldPostApproved is handled. Spam rules are not checked again. Raises Forbidden without MANAGE_REPORTS; NotFound if the
    post is no longer held; Conflict if its author may no longer post, or has changed the post; and the errors of `compose`, in
    which case the post stays held.
    """
    require(by, Permission.MANAGE_REPORTS)
    # Computed first, because composing may take seconds while other servers are asked for mentioned accounts.
    version_of(held)
    if held.draft is not None:
        _approve_edit(by, held)
        return
    scheduled = held.scheduled
    if scheduled is None:
        with transaction.atomic():
            locked = _lock_held(held)
            HeldPost.objects.filter(id=locked.id).update(approved_at=clock.now())
            publish(HeldPostApproved(held_id=locked.id, account_id=locked.account_id))
            _record_held(by, "approve", locked)
        return
    author = _author(held)
    # Composed before the transaction, because composing may query other servers for mentioned accounts.
    new = compose(author=author, draft=draft_of(scheduled), application_id=scheduled.application_id)
    with transaction.atomic():
        draft = require_found(lock_draft(scheduled.id))
        locked = _lock_held(held)
        publish_draft(draft, replace(new, created_at=locked.written_at))
        _record_held(by, "approve", locked)


def _approve_edit(by: Staff, held: HeldPost) -> None:
    def approved() -> None:
        locked = _lock_held(held)
        HeldPost.objects.filter(id=locked.id).delete()
        _record_held(by, "approve", locked)

    assert held.status_id is not None  # a held draft that is not an edit would be in `scheduled`
    draft = read_draft(held.draft or {})
    previews = {
        held_media.preview_of_id: held_media.media
        for held_media in held.media.exclude(preview_of=None).select_related("media")
    }
    changes = tuple((number, replace(change, drawn=previews.get(number))) for number, change in draft.media_changes)
    draft = replace(draft, media_changes=changes)
    edit_status(author=_author(held), status_id=held.status_id, draft=draft, approve=approved)


def _author(held: HeldPost) -> Account:
    author = find_author(held.account_id)
    if author.suspended or author.user.disabled_at is not None:
        raise Conflict(_("The author is no longer allowed to post."))
    return author


def open_held(*, by: Staff, held: HeldPost) -> None:
    """Write an audit row if staff view a held post that not everybody may read. Raises Forbidden without MANAGE_REPORTS."""
    require(by, Permission.MANAGE_REPORTS)
    if held.visibility not in OPEN_VISIBILITIES:
        with transaction.atomic():
            _record_held(by, "view", held)


def discard_held(*, by: Staff, held: HeldPost) -> None:
    """Delete a held post; the files of a local post may be attached to another post. Raises the errors of `approve_held`."""
    require(by, Permission.MANAGE_REPORTS)
    with transaction.atomic():
        locked = _lock_held(held)
        _remove_held([locked])
        _record_held(by, "discard", locked)


def discard_held_by_rule(*, by: Staff, rule: SpamRule) -> int:
    """Discard all posts that a rule holds, in batches, and return how many. Each post gets an audit row. Raises Forbidden."""
    require(by, Permission.MANAGE_REPORTS)
    discarded = 0
    while True:
        with transaction.atomic():
            rows = HeldPost.objects.select_for_update(of=("self",), skip_locked=True).select_related("account")
            batch = list(rows.filter(rule=rule, approved_at=None).order_by("id")[:_HELD_BATCH])
            _remove_held(batch)
            record_each(by=by, action="discard", target_type="HeldPost", targets=[_target(held) for held in batch])
        discarded += len(batch)
        if len(batch) < _HELD_BATCH:
            return discarded


def drop_held(rows: Sequence[HeldPost]) -> None:
    """Remove held posts that staff have not reviewed in time."""
    with transaction.atomic():
        _remove_held(rows)


def _remove_held(rows: Sequence[HeldPost]) -> None:
    delete_rows(HeldPost.objects.filter(id__one_of=[held.id for held in rows]))
    ScheduledStatus.objects.filter(id__one_of=[held.scheduled_id for held in rows if held.scheduled_id]).delete()


def _lock_held(held: HeldPost) -> HeldPost:
    """Lock and return a held post with its files. Raises Conflict if the author has changed the post since `held` was read."""
    read_version = version_of(held)
    rows = HeldPost.objects.select_for_update(of=("self",)).select_related("account", "scheduled")
    locked = require_found(rows.filter(id=held.id, approved_at=None).first())
    list(_files_of(locked).select_for_update(no_key=True, of=("self",)).values_list("id"))
    if version_of(locked) != read_version:
        raise Conflict(_("The post has been changed in the meantime. Look at it again."))
    return locked


def version_of(held: HeldPost) -> str:
    """Return a digest, computed once, of everything in a held post on which staff base their decision (security row 73)."""
    if not held.version:
        parts = [held.visibility, held.excerpt, held.link_hosts, held.mentions_count, held.document, held.draft]
        parts.append(held.scheduled.draft if held.scheduled is not None else None)
        parts += _files_of(held).values_list("id", "file", "preview", "description")
        held.version = hashlib.sha256(orjson.dumps(parts, default=str)).hexdigest()
    return held.version


def _files_of(held: HeldPost) -> QuerySet[MediaAttachment]:
    # Only held posts from this server have files.
    found = Q(held__held=held) if held.scheduled_id is None else Q(scheduled__scheduled=held.scheduled_id)
    return MediaAttachment.objects.filter(found).order_by("id")


def _target(held: HeldPost) -> tuple[int, str]:
    return held.id, f"@{held.account.acct}"


def _record_held(by: Staff, action: str, held: HeldPost) -> None:
    number, name = _target(held)
    record(by=by, action=action, target_type="HeldPost", target_id=number, target_name=name, rule=held.rule_name)
