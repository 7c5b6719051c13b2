"""Acts upon changes of accounts of other servers, and upon their end."""

from __future__ import annotations

from django.db import transaction

from accounts.models import Account, Follow, FollowRequest
from accounts.services.following import end_following, pair_name
from federation.documents.reading import Rejected
from federation.inbound.incoming import Incoming
from federation.models import Tombstone
from federation.remote.actors import refresh
from social.kernel.locks import lock
from statuses.models import Status
from statuses.services.deleting import delete_status


def update(incoming: Incoming) -> None:
    """The actor says that it has changed: it is looked at again where it lives, so that a copy cannot lie."""
    if incoming.object_uri != incoming.actor.uri:
        raise Rejected("only the actor's own profile is updated")
    refresh(incoming.actor)


def delete(incoming: Incoming) -> None:
    """The end of the actor: its posts, follows and everything else of it go, and it cannot come back."""
    account = incoming.actor
    Tombstone.objects.update_or_create(uri=account.uri, actor_uri=account.uri, defaults={"expires_at": None})
    for status in Status.objects.filter(account=account, deleted_at=None).order_by("id").iterator(chunk_size=200):
        delete_status(status_id=status.id, delete_media=True)
    _end_relations(account)
    Account.objects.filter(id=account.id).delete()


def _end_relations(account: Account) -> None:
    pairs = set()
    for model in (Follow, FollowRequest):
        rows = model._default_manager
        pairs |= set(rows.filter(account=account).values_list("account_id", "target_id"))
        pairs |= set(rows.filter(target=account).values_list("account_id", "target_id"))
    for follower_id, target_id in sorted(pairs):
        with transaction.atomic():
            lock(pair_name(follower_id, target_id))
            end_following(follower_id, target_id, ended_by_id=account.id)
