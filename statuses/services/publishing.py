from django.db import transaction

from accounts.models import Account
from social.kernel.errors import NotFound, require_found
from statuses.models import Status
from statuses.services import idempotency
from statuses.services.composing import Draft, compose
from statuses.services.holding import HeldForReview, hold_written, is_held
from statuses.services.quotas import check_posts
from statuses.services.screening import limit_author, note_stored, screen
from statuses.services.storing import store_status


def publish_status(
    *, author: Account, draft: Draft, idempotency_key: str | None = None, application_id: int | None = None
) -> Status:
    """Store the post of a local author, whose `user` is loaded, and publish StatusPublished.

    With a repeated `idempotency_key`, returns the post of the first request in the last hour, even if the requests are
    concurrent (behaviours section 9, clients.md trap 37). Raises the errors of `compose`, `check_posts` and `store_status`;
    NotFound when that first post was deleted or was scheduled; HeldForReview when a spam rule holds the post, whose draft is
    then stored.
    """
    if idempotency_key:
        first = idempotency.find_first(author.id, idempotency_key)
        if first is not None:
            return _require_existing(first)
    new = compose(author=author, draft=draft, application_id=application_id)
    screening = screen(new)
    limited_by = limit_author(new, screening)
    with transaction.atomic():
        claimed = None
        if idempotency_key:
            claimed = idempotency.claim(author.id, idempotency_key)
            if claimed is None:
                first = idempotency.find_first(author.id, idempotency_key)
                if first is None and is_held(author.id, idempotency_key):
                    raise HeldForReview
                return _require_existing(require_found(first))
        if screening.held_by is None:
            check_posts(author)
            status = store_status(new)
            note_stored(status, screening, limited_by)
            if claimed is not None:
                idempotency.remember(claimed, status=status)
            return status
        hold_written(new, draft, screening, limited_by=limited_by, claimed=claimed)
    raise HeldForReview


def _require_existing(status: Status) -> Status:
    if status.is_deleted:
        raise NotFound
    return status
