"""Tests that a server cannot reuse the id of an account, a post or a collection for another object.

Contract, federation sections 5 and 7; security row 8.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest

from accounts.collections.models import Collection
from accounts.models import Account, AccountStat, Block, Follow, FollowRequest
from federation.models import StepKind, ThreadStep, ThreadWalk
from federation.reasons import Rejected
from federation.remote.actors import fetch_actor, refresh
from federation.remote.collections import find_or_fetch_linked
from federation.remote.posts import find_or_fetch_post
from federation.remote.profiles import read_outbox
from federation.remote.threads import take_step
from statuses.models import Favourite, Quote, Status
from tests.factories.accounts import make_account
from tests.factories.statuses import follow, make_remote_status, make_status
from tests.federation.activities import PUBLIC, deal, introduced
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.federation.test_featured_elsewhere import SAID
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def mallory(elsewhere: RemoteServer, zoe: RemotePerson, alice: Account) -> RemotePerson:
    """A user of Zoe's server; Alice follows both users."""
    introduced(zoe, alice)
    mallory = elsewhere.person("mallory", key=2)
    introduced(mallory, alice)
    return mallory


def _create(mallory: RemotePerson, note: dict[str, Any]) -> None:
    assert "belongs to another object" in deal(mallory, mallory.activity("Create", note))


def _create_named(mallory: RemotePerson, note: dict[str, Any]) -> None:
    mallory.home.serve(note)
    assert "belongs to another object" in deal(mallory, mallory.activity("Create", note["id"]))


def _update(mallory: RemotePerson, note: dict[str, Any]) -> None:
    assert deal(mallory, mallory.activity("Update", note)).startswith("rejected")


def _boost(mallory: RemotePerson, note: dict[str, Any]) -> None:
    assert "belongs to another object" in deal(mallory, mallory.activity("Announce", note, to=[PUBLIC]))


def _boost_named(mallory: RemotePerson, note: dict[str, Any]) -> None:
    mallory.home.serve(note)
    assert "belongs to another object" in deal(mallory, mallory.activity("Announce", note["id"], to=[PUBLIC]))


def _be_boost(mallory: RemotePerson, note: dict[str, Any]) -> None:
    uri = f"http://social.localhost/users/bob/statuses/{make_status(make_account('bob')).id}"
    assert "belongs to another object" in deal(mallory, mallory.activity("Announce", uri, to=[PUBLIC], id=note["id"]))


def _fetch(mallory: RemotePerson, note: dict[str, Any]) -> None:
    mallory.home.serve(note)
    with pytest.raises(Rejected, match="belongs to another object"):
        find_or_fetch_post(note["id"])


def _answer(mallory: RemotePerson, note: dict[str, Any]) -> None:
    asked = make_remote_status(Account.objects.get(uri=mallory.uri))
    mallory.home.serve(note | {"inReplyTo": asked.uri})
    walk = ThreadWalk.objects.create(status=asked)
    with pytest.raises(Rejected, match="belongs to another object"):
        take_step(ThreadStep(walk=walk, kind=StepKind.POST, uri=note["id"], host=mallory.home.domain))


def _outbox(mallory: RemotePerson, note: dict[str, Any]) -> None:
    page = {"type": "OrderedCollectionPage", "orderedItems": [mallory.activity("Create", note)]}
    mallory.home.serve({"id": f"{mallory.uri}/outbox", "type": "OrderedCollection", "first": page})
    Account.objects.filter(uri=mallory.uri).update(outbox_url=f"{mallory.uri}/outbox")
    read_outbox(mallory.uri)
    assert "/users/mallory/outbox" in mallory.home.gets()


def _pin(mallory: RemotePerson, note: dict[str, Any]) -> None:
    Account.objects.filter(uri=mallory.uri).update(featured_url=f"{mallory.uri}/featured")
    mallory.home.serve(note)
    assert "belongs to another object" in deal(
        mallory, mallory.activity("Add", note["id"], target=f"{mallory.uri}/featured")
    )


def _request_quote(mallory: RemotePerson, note: dict[str, Any]) -> None:
    quoted = make_status(make_account("bob"), quote_approval_policy="public")
    uri = f"http://social.localhost/users/bob/statuses/{quoted.id}"
    request = mallory.activity("QuoteRequest", uri, instrument=note | {"quote": uri})
    assert "belongs to another object" in deal(mallory, request)


def _collect(mallory: RemotePerson, note: dict[str, Any]) -> None:
    document = SAID | {"id": note["id"], "type": "FeaturedCollection", "attributedTo": mallory.uri, "orderedItems": []}
    assert deal(mallory, mallory.activity("Update", document)).startswith("rejected")


WAYS: Final = [
    _create,
    _create_named,
    _update,
    _boost,
    _boost_named,
    _be_boost,
    _fetch,
    _answer,
    _outbox,
    _pin,
    _request_quote,
    _collect,
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("whose", ["zoe", "mallory"])
def test_nothing_else_is_stored_under_the_id_of_an_actor(
    mallory: RemotePerson, zoe: RemotePerson, way: Callable[[RemotePerson, dict[str, Any]], None], whose: str
) -> None:
    uri = {"zoe": zoe, "mallory": mallory}[whose].uri
    profile = mallory.home.pages[f"/users/{whose}"]
    way(mallory, mallory.note() | {"id": uri})
    work()
    assert not Status.objects.filter(uri=uri).exists()
    assert not Collection.objects.filter(uri=uri).exists()
    assert not Quote.objects.exists()
    mallory.home.pages[f"/users/{whose}"] = profile
    assert refresh(Account.objects.get(uri=uri)).username == whose


def test_no_actor_and_no_collection_is_stored_under_the_id_of_a_post(
    elsewhere: RemoteServer, mallory: RemotePerson, zoe: RemotePerson
) -> None:
    note = zoe.note()
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    trap = mallory.document() | {"id": note["id"], "preferredUsername": "trap", "publicKey": None}
    elsewhere.serve(trap)
    elsewhere.finger("trap", note["id"])
    with pytest.raises(Rejected, match="belongs to another object"):
        fetch_actor(note["id"])
    _collect(mallory, note)
    assert Status.objects.get(uri=note["id"]).account.username == "zoe"
    assert not Collection.objects.exists()


def test_no_post_and_no_actor_is_stored_under_the_id_of_a_collection(
    elsewhere: RemoteServer, mallory: RemotePerson, zoe: RemotePerson
) -> None:
    uri = f"{zoe.uri}/collections/1"
    elsewhere.serve(SAID | {"id": uri, "type": "FeaturedCollection", "attributedTo": zoe.uri, "orderedItems": []})
    find_or_fetch_linked(uri)
    assert Collection.objects.get().uri == uri
    _create(mallory, mallory.note() | {"id": uri})
    elsewhere.serve(mallory.document() | {"id": uri, "preferredUsername": "trap", "publicKey": None})
    elsewhere.finger("trap", uri)
    with pytest.raises(Rejected, match="belongs to another object"):
        fetch_actor(uri)


def test_a_follow_or_like_with_the_id_of_something_else_is_refused(
    mallory: RemotePerson, zoe: RemotePerson, alice: Account
) -> None:
    status = make_status(alice)
    uri = f"http://social.localhost/users/alice/statuses/{status.id}"
    for activity in (mallory.activity("Follow", alice.uri), mallory.activity("Like", uri)):
        assert "belongs to another object" in deal(mallory, activity | {"id": zoe.uri})
    assert not Follow.objects.filter(target=alice).exists()
    assert not AccountStat.objects.filter(account=alice, followers_count__gt=0).exists()


def _path(status: Status) -> str:
    return f"http://social.localhost/users/alice/statuses/{status.id}"


def test_an_id_used_again_by_its_actor_moves_to_the_new_object(zoe: RemotePerson, alice: Account) -> None:
    """A server that was restored from a backup assigns some ids a second time (contract, federation section 17)."""
    bob, posts = make_account("bob"), [make_status(alice), make_status(alice)]
    uris = {kind: f"{zoe.uri}#{kind}/1" for kind in ("Like", "Follow", "Block")}
    for post in posts:
        assert deal(zoe, zoe.activity("Like", _path(post), id=uris["Like"])) == "done"
    assert Favourite.objects.count() == 2
    assert Favourite.objects.get(uri=uris["Like"]).status == posts[1]
    for kind, model in (("Follow", Follow), ("Block", Block)):
        for target in (alice, bob):
            assert deal(zoe, zoe.activity(kind, target.uri, id=uris[kind])) == "done"
            assert model._default_manager.get(uri=uris[kind]).target == target
        assert model._default_manager.count() == 2
        assert deal(zoe, zoe.activity("Undo", {"type": kind, "id": uris[kind], "object": bob.uri})) == "done"
        assert model._default_manager.get().target == alice
        old = {"type": kind, "id": uris[kind], "object": alice.uri}
        assert deal(zoe, zoe.activity("Undo", old)) == "done"
        assert not model._default_manager.exists()


def test_follows_end_and_begin_again_whatever_ids_their_server_gives_them(zoe: RemotePerson, alice: Account) -> None:
    """Pixelfed reuses the id of a follow between the same two accounts, and Misskey reuses the id of an Undo. Lemmy names the
    follow by a new id when undoing it.
    """
    uri = f"{zoe.uri}#follow/{alice.id}"
    inner = {"type": "Follow", "actor": zoe.uri, "object": alice.uri}
    for undone in ({**inner, "id": uri}, {**inner, "id": uri}, inner, {**inner, "id": f"{uri}/again"}):
        assert deal(zoe, zoe.activity("Follow", alice.uri, id=uri)) == "done"
        assert Follow.objects.get().uri == uri
        assert deal(zoe, zoe.activity("Undo", undone, id=f"{uri}/undo")) == "done"
        assert not Follow.objects.exists()


@pytest.mark.parametrize("kind", ["Like", "Follow", "Block"])
@pytest.mark.parametrize("locked", [False, True])
def test_an_activity_with_the_id_of_another_accounts_activity_is_refused(
    mallory: RemotePerson, zoe: RemotePerson, alice: Account, kind: str, locked: bool
) -> None:
    Account.objects.filter(id=alice.id).update(locked=locked)
    target = _path(make_status(alice, visibility="public")) if kind == "Like" else alice.uri
    activity = zoe.activity(kind, target)
    assert deal(zoe, activity) == "done"
    thing = {"Like": "favourite", "Follow": "follow", "Block": "block"}[kind]
    assert f"belongs to another {thing}" in deal(mallory, activity | {"actor": mallory.uri})
    model = {"Like": Favourite, "Follow": FollowRequest if locked else Follow, "Block": Block}[kind]
    assert model._default_manager.get(uri=activity["id"]).account.uri == zoe.uri


def test_a_known_account_stays_reachable_when_a_post_claims_its_id(mallory: RemotePerson, zoe: RemotePerson) -> None:
    """An earlier version may have stored a post with the id of an account; new posts with such an id are refused."""
    make_remote_status(Account.objects.get(uri=mallory.uri), uri=zoe.uri)
    assert deal(zoe, zoe.activity("Update", zoe.document() | {"name": "Zoe Z."})) == "done"
    assert Account.objects.get(uri=zoe.uri).display_name == "Zoe Z."


def test_an_actor_can_use_its_id_after_a_post_with_that_id_was_deleted(
    elsewhere: RemoteServer, mallory: RemotePerson
) -> None:
    yan = elsewhere.person("yan")
    assert deal(mallory, mallory.activity("Create", mallory.note() | {"id": yan.uri})) == "done"
    with pytest.raises(Rejected, match="belongs to another object"):
        fetch_actor(yan.uri)
    assert deal(mallory, mallory.activity("Delete", yan.uri)) == "done"
    assert fetch_actor(yan.uri).username == "yan"
    follow(make_account("bob"), Account.objects.get(uri=yan.uri))
    assert deal(yan, yan.activity("Create", yan.note())) == "done"
