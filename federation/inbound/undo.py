"""Handles an Undo of a Follow, Like, Announce or Block (contract, federation section 7)."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from django.db import transaction

from accounts.models import Account, Follow, FollowRequest
from accounts.queries.relations import find_block
from accounts.services import blocking, following
from federation.documents.reading import kind_of, kinds_of, uri_of
from federation.inbound.incoming import Incoming, is_ended, is_undone, remember_ended, remember_undone
from federation.reasons import Reason, Rejected
from federation.remote.references import find_account_by_uri, find_post_by_uri
from social.kernel.errors import NotFound
from social.kernel.locks import lock
from statuses.models import Favourite, Interaction, Status
from statuses.services import deleting, holding, interactions, requests


def handle(incoming: Incoming) -> None:
    """Undo the embedded activity or, if only an id is given, the Follow, Like, Announce or Block with that id. Raises Rejected
    for other types; therefore undoing an emoji reaction removes no favourite.
    """
    kind, uri = kind_of(incoming.object, _HANDLERS), incoming.undone_uri
    if uri is None:
        raise Rejected(Reason.ABOUT_NOTHING)
    if kind is None and kinds_of(incoming.object) and "object" in incoming.object:
        raise Rejected(Reason.IGNORED_KIND)
    if incoming.object and uri_of(incoming.object.get("actor")) not in (None, incoming.actor.uri):
        raise Rejected(Reason.UNDONE_BY_OTHER)
    handlers = _HANDLERS.values() if kind is None else [_HANDLERS[kind]]
    if any(undo(incoming) for undo in handlers):
        remember_ended(uri, incoming.actor)
    elif incoming.object_uri is not None and not is_ended(uri, incoming.actor):
        # The undone activity may still arrive, and is refused then. A repeated Undo must not have this effect, because a new
        # activity may have the same id: Misskey builds the id of a Follow from the two accounts.
        remember_undone(uri, incoming.actor)


def _undo_follow(incoming: Incoming) -> bool:
    uri = incoming.undone_uri
    row = (
        Follow.objects.select_related("target").filter(uri=uri, account=incoming.actor).first()
        or FollowRequest.objects.select_related("target").filter(uri=uri, account=incoming.actor).first()
    )
    target = row.target if row is not None else None
    if target is None:
        if is_undone(uri, incoming.actor):
            return False  # The follow remains, because a newer Follow has replaced the Follow that is undone.
        target = find_account_by_uri(uri_of(incoming.object.get("object")) or "")
    if target is None or not target.local:
        return False
    with transaction.atomic():
        lock(following.pair_name(incoming.actor.id, target.id))
        return following.end_following(incoming.actor.id, target.id, ended_by_id=incoming.actor.id)


def _undo_like(incoming: Incoming) -> bool:
    likes = Favourite.objects.filter(account=incoming.actor)
    row = likes.filter(uri=incoming.undone_uri).first()
    if row is None:
        status = find_post_by_uri(uri_of(incoming.object.get("object")) or "")
        row = likes.filter(status=status).first() if status is not None else None
        if row is None and requests.withdraw_request(
            account_id=incoming.actor.id,
            kind=Interaction.FAVOURITE,
            uri=incoming.undone_uri,
            status_id=status.id if status is not None else None,
        ):
            return True
    if row is None:
        return False
    interactions.unfavourite_status(account_id=incoming.actor.id, status_id=row.status_id)
    return True


def _undo_announce(incoming: Incoming) -> bool:
    """Remove a boost or the request for it; return False if no boost or request has this id, because the Announce may still
    arrive.
    """
    uri = incoming.undone_uri
    boost = Status.objects.filter(account=incoming.actor, uri=uri, reblog_of__isnull=False).first()
    if boost is not None:
        deleting.delete_status(status_id=boost.id)
        return True
    if uri is not None and holding.forget_boost(account=incoming.actor, uri=uri):
        return True
    if requests.withdraw_request(account_id=incoming.actor.id, kind=Interaction.REBLOG, uri=uri):
        return True
    status = find_post_by_uri(uri_of(incoming.object.get("object")) or "")
    if status is not None:
        with suppress(NotFound):
            interactions.unreblog_status(account_id=incoming.actor.id, status_id=status.id)
    return False


def _undo_block(incoming: Incoming) -> bool:
    block = find_block(incoming.undone_uri)
    if block is not None and block.account_id == incoming.actor.id:
        target: Account | None = block.target
    else:
        target = find_account_by_uri(uri_of(incoming.object.get("object")) or "")
    if target is None or not target.local:
        return False
    blocking.unblock_account(account=incoming.actor, target=target)
    return True


_HANDLERS: Final[Mapping[str, Callable[[Incoming], bool]]] = {
    "Follow": _undo_follow,
    "Like": _undo_like,
    "Announce": _undo_announce,
    "Block": _undo_block,
}
