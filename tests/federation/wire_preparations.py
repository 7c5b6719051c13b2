"""Preparations for each delivery recorded from Mastodon 4.6.5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.models import Account, Follow, FollowRequest
from accounts.services.following import FollowChange, follow_account
from federation.remote.actors import fetch_actor
from statuses.models import Quote, Status
from tests.factories.statuses import follow, make_remote_status
from tests.federation.wire_effects import Check, account_of
from tests.support.wire import record

if TYPE_CHECKING:
    from tests.federation.test_wire import World


def _follow_asked(name: str) -> Check:
    """Return a function that sends a follow request from a local account to the sender of the record."""

    def ask(world: World) -> None:
        asked = world.here(record(name)["body"]["object"])
        follower, target = Account.objects.get(uri=asked["actor"]), fetch_actor(asked["object"])
        follow_account(account=follower, target=target, change=FollowChange())
        FollowRequest.objects.filter(account=follower).update(uri=asked["id"])

    return ask


def _follow_repeated(world: World) -> None:
    asked = world.here(record("accept_follow_again")["body"]["object"])
    Follow.objects.filter(account__uri=asked["actor"], target__uri=asked["object"]).update(uri=asked["id"])


def _quote_asked(name: str) -> Check:
    """Return a function that stores a pending quote of a post by the record's sender in the recorded post of Bob."""

    def ask(world: World) -> None:
        asked = world.here(record(name)["body"]["object"])
        quoted = make_remote_status(fetch_actor(world.here(record(name)["body"]["actor"])), uri=asked["object"])
        quoting = Status.objects.get(id=asked["instrument"].rpartition("/")[2])
        Quote.objects.create(status=quoting, quoted_status=quoted, request_uri=asked["id"])

    return ask


def _place_asked(name: str) -> Check:
    """Return a function that adds the sender of the record to a collection of Bob, with a pending request."""

    def ask(world: World) -> None:
        bob = world.people["bob"]
        collection = Collection.objects.create(account=bob, name="Birds", sensitive=False, discoverable=True)
        answer = world.here(record(name)["body"])
        person = fetch_actor(answer["actor"])
        CollectionItem.objects.create(
            collection=collection, account=person, request_uri=answer["object"], state=ItemState.PENDING
        )

    return ask


def _discoverable(world: World) -> None:
    Account.objects.filter(username="bob", domain=None).update(discoverable=True)


def _post_known(world: World) -> None:
    make_remote_status(account_of(world, "delete_note"), uri=world.here(record("delete_note")["body"]["object"]["id"]))


def _follow_known(world: World) -> None:
    undone = world.here(record("undo_follow")["body"]["object"])
    follow(account_of(world, "undo_follow"), world.people["fay"], uri=undone["id"])


def _thread_known(world: World) -> None:
    body = record("create_note_forwarded_reply")["body"]
    forwarded = world.here(body["object"])
    world.serve(forwarded)
    world.signer(body["signature"]["creator"])
    make_remote_status(account_of(world, "like"), uri=forwarded["inReplyTo"])


#: The preparations, keyed by the names of the records.
BEFORE: Final[dict[str, Check]] = {
    "accept_feature_request": _place_asked("accept_feature_request"),
    "accept_follow": _follow_asked("accept_follow"),
    "accept_follow_again": _follow_repeated,
    "accept_quote_request": _quote_asked("accept_quote_request"),
    "create_note_forwarded_reply": _thread_known,
    "delete_actor": lambda world: fetch_actor(world.here(record("delete_actor")["body"]["actor"])),
    "delete_note": _post_known,
    "feature_request": _discoverable,
    "reject_feature_request": _place_asked("reject_feature_request"),
    "reject_follow": _follow_asked("reject_follow"),
    "reject_quote_request": _quote_asked("reject_quote_request"),
    "undo_follow": _follow_known,
}
