"""Deletes posts for staff, and marks their files as sensitive."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db import transaction

from accounts.models import User
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record_each
from social.kernel.batches import in_batches
from statuses.models import MediaAttachment, Status, StatusCard
from statuses.services.changing import change_statuses
from statuses.services.deleting import BATCH_SIZE, delete_statuses
from statuses.services.revising import store_sensitivity


def remove_status(*, by: Staff, status: Status) -> None:
    """Delete one post, as `remove_statuses` does."""
    remove_statuses(by=by, status_ids=[status.id])


def remove_statuses(*, by: Staff, status_ids: Collection[int]) -> list[int]:
    """Delete posts with their files, so that authors cannot post them again, and write an audit row for each. Return the ids of
    the posts that existed. Raises Forbidden, and deletes nothing, if `by` lacks MANAGE_REPORTS or does not rank higher than
    every local author.
    """
    with transaction.atomic():
        found = _hold(by, status_ids)
        for batch in in_batches(found, BATCH_SIZE):
            delete_statuses(status_ids=[status.id for status in batch], delete_media=True)
        _record(by, "destroy", found)
    return [status.id for status in found]


def mark_statuses_sensitive(*, by: Staff, status_ids: Collection[int]) -> list[int]:
    """Mark posts with files or a preview as sensitive, and write an audit row for each. Return the ids of the posts that were
    not marked before. Local posts get a new version, as if edited by their authors, and StatusEdited is published for them, so
    that other servers are sent the change. Raises Forbidden like `remove_statuses`.
    """
    return _set_sensitive(by, status_ids, "sensitize", sensitive=True)


def unmark_statuses_sensitive(*, by: Staff, status_ids: Collection[int]) -> list[int]:
    """Undo `mark_statuses_sensitive` for posts that are still marked."""
    return _set_sensitive(by, status_ids, "unsensitize", sensitive=False)


def _set_sensitive(by: Staff, status_ids: Collection[int], action: str, *, sensitive: bool) -> list[int]:
    with transaction.atomic():
        found = [status for status in _hold(by, status_ids) if status.sensitive != sensitive]
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
        _record(by, action, found)
    return [status.id for status in found]


def _hold(by: Staff, status_ids: Collection[int]) -> list[Status]:
    # Locks the posts that are not deleted; `by` must be allowed to act on all of them.
    rows = Status.objects.select_for_update(of=("self",)).select_related("account")
    found = list(rows.filter(id__one_of=list(status_ids), deleted_at=None).order_by("id"))
    require(by, Permission.MANAGE_REPORTS)
    authors = {status.account_id for status in found if status.local}
    for user in User.objects.select_related("role").filter(account_id__one_of=authors) if authors else ():
        require(by, Permission.MANAGE_REPORTS, over=user.role)
    return found


def _record(by: Staff, action: str, statuses: Sequence[Status]) -> None:
    targets = [(status.id, f"@{status.account.acct}") for status in statuses]
    record_each(by=by, action=action, target_type="Status", targets=targets)
