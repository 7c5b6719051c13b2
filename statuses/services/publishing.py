"""Publishes posts written on this server."""

from __future__ import annotations

from django.db import transaction

from accounts.models import Account
from social.kernel.errors import NotFound, require_found
from statuses.models import Status
from statuses.services import idempotency
from statuses.services.composing import Draft, compose
from statuses.services.storing import store_status


def publish_status(
    *, author: Account, draft: Draft, idempotency_key: str | None = None, application_id: int | None = None
) -> Status:
    """Publish what a local author has written, and publish StatusPublished.

    `author` has its `user` loaded. With an `idempotency_key` that made a post within the last hour that post is
    returned and nothing is written, also when both requests run at the same moment (behaviours section 9, clients.md
    trap 37). Raises what `compose` and `store_status` raise; NotFound when the first post of a repeated key has been
    deleted, or was scheduled.
    """
    if idempotency_key:
        first = idempotency.find_first(author.id, idempotency_key)
        if first is not None:
            return _still_there(first)
    new = compose(author=author, draft=draft, application_id=application_id)
    with transaction.atomic():
        claimed = None
        if idempotency_key:
            claimed = idempotency.claim(author.id, idempotency_key)
            if claimed is None:
                first = require_found(idempotency.find_first(author.id, idempotency_key))
                return _still_there(first)
        status = store_status(new)
        if claimed is not None:
            idempotency.remember(claimed, status)
    return status


def _still_there(status: Status) -> Status:
    if status.is_deleted:
        raise NotFound
    return status
