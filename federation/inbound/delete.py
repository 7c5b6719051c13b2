"""Acts upon a Delete of a post, or of the actor itself (contract, federation section 7; security rows 8 and 18)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db import transaction

from accounts.models.account import SuspensionOrigin
from accounts.services.deleting import end_account
from federation.documents.reading import Rejected, same_origin
from federation.inbound.incoming import Incoming
from federation.inbound.quotas import remember_gone
from federation.models import Tombstone
from federation.remote.references import find_account_by_uri, find_post_by_uri
from social.kernel.locks import lock
from statuses.services.deleting import delete_status

REMEMBERED_UNKNOWN: Final = timedelta(days=3)
"""Longer than servers try to deliver a post."""


def handle(incoming: Incoming) -> None:
    """The end of the actor itself, or of one of its posts."""
    if incoming.object_uri == incoming.actor.uri:
        _delete_actor(incoming)
    else:
        _delete_post(incoming)


def _delete_actor(incoming: Incoming) -> None:
    """The end of the actor: it is hidden at once, and cannot come back; everything of it is removed in steps."""
    account = incoming.actor
    with transaction.atomic():
        Tombstone.objects.update_or_create(uri=account.uri, actor_uri=account.uri, defaults={"expires_at": None})
        end_account(account=account, origin=SuspensionOrigin.REMOTE)


def _delete_post(incoming: Incoming) -> None:
    """The end of one of its actor's posts, which is refused should it arrive later."""
    uri = incoming.needed_object_uri()
    if not same_origin(uri, incoming.actor.uri):
        raise Rejected("the post is of another server")
    status = find_post_by_uri(uri)
    if (status is not None and status.account_id != incoming.actor.id) or find_account_by_uri(uri) is not None:
        raise Rejected("it is another actor's")
    delete_remote_post(uri, incoming.actor.uri)


def delete_remote_post(uri: str, actor_uri: str) -> None:
    """Delete the post with this id, if it is this actor's, and refuse it should it arrive later.

    One that is unknown here is refused for as long as it may be on its way.
    """
    with transaction.atomic():
        lock(f"object:{uri}")
        status = find_post_by_uri(uri)
        if status is None or status.account.uri != actor_uri:
            remember_gone(uri, actor_uri, REMEMBERED_UNKNOWN)
            return
        Tombstone.objects.update_or_create(uri=uri, actor_uri=actor_uri, defaults={"expires_at": None})
        delete_status(status_id=status.id, delete_media=True)
