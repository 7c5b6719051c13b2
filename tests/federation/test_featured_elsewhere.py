"""Tests of remote collections, which show only members whose consent was verified (FEP-7aa9; security rows 36 and 71).

Contract, federation sections 7, 8 and 16.
"""

import itertools
import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final

import pytest

from accounts.collections.models import (
    REMOTE_COLLECTIONS_LIMIT,
    REMOTE_ITEMS_LIMIT,
    Collection,
    CollectionItem,
    ItemState,
)
from accounts.models import Account, User
from accounts.services.blocking import block_account, block_domain
from federation.models import Fetch, FetchKind
from federation.remote.actors import end_actor, fetch_actor
from federation.remote.collections import read_collections
from social.kernel import clock
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import follow
from tests.federation.activities import deal, met, remote
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
_NUMBERS = itertools.count()
SAID: Final = {
    "name": "Bird people",
    "sensitive": False,
    "discoverable": True,
    "summaryMap": {"en": "They <em>know</em> birds<script>alert(1)</script>"},
    "topic": {"type": "Hashtag", "href": "https://x.example/tags/birds", "name": "#Birds"},
    "published": "2026-01-01T12:00:00Z",
    "updated": "2026-01-01T12:00:00Z",
}


@pytest.fixture
def alice(db: None) -> Account:
    return make_user("alice", discoverable=True).account


@pytest.fixture
def zoe(elsewhere: RemoteServer) -> RemotePerson:
    return keeper(elsewhere, "zoe")


@pytest.fixture
def yan(elsewhere: RemoteServer) -> RemotePerson:
    return keeper(elsewhere, "yan")


def keeper(home: RemoteServer, name: str) -> RemotePerson:
    """Create a remote user with a list of collections."""
    return home.person(name, featuredCollections=home.uri(f"users/{name}/featured_collections"))


def item(owner: RemotePerson, member_uri: str, stamp: str | None, number: int = 1) -> dict[str, Any]:
    return {
        "id": f"{owner.uri}/collection_items/{number}",
        "type": "FeaturedItem",
        "featuredObject": member_uri,
        "featureAuthorization": stamp,
        "published": "2026-01-01T12:01:00Z",
    }


def birds(owner: RemotePerson, items: Iterable[dict[str, Any]] = (), number: int = 1, **more: Any) -> dict[str, Any]:
    uri, found = f"{owner.uri}/collections/{number}", list(items)
    named = {"id": uri, "type": "FeaturedCollection", "attributedTo": owner.uri, "url": owner.home.uri(f"c/{number}")}
    return named | SAID | {"totalItems": len(found), "orderedItems": found} | more


def listed(owner: RemotePerson, *collections: dict[str, Any], **more: Any) -> str:
    """Serve the list of a user's collections, and return its address."""
    uri = f"{owner.uri}/featured_collections"
    page = {"id": f"{uri}?page=1", "type": "CollectionPage", "partOf": uri, "items": list(collections)} | more
    owner.home.serve({"id": uri, "type": "Collection", "totalItems": len(collections), "first": page})
    return uri


def stamp(member: RemotePerson, collection: dict[str, Any], number: int = 1, **more: Any) -> str:
    """Serve a user's consent, and return its id."""
    uri = f"{member.uri}/feature_authorizations/{number}"
    document = {"id": uri, "type": "FeatureAuthorization", "interactingObject": collection["id"]}
    member.home.serve(document | {"interactionTarget": member.uri} | more)
    return uri


def added(owner: RemotePerson, obj: Any, target: str | None = None, kind: str = "Add") -> dict[str, Any]:
    """Return an Add or Remove without an id; a number makes the activity unique, so that it is not refused as a replay."""
    place = target or f"{owner.uri}/featured_collections"
    return {"type": kind, "actor": owner.uri, "target": place, "object": obj, "name": str(next(_NUMBERS))}


def shown(account: Account, viewer: Account | None = None) -> list[dict[str, Any]]:
    """Return the collections of an account through the client API."""
    api = Api(make_token(User.objects.get(account=viewer))) if viewer is not None else Api()
    found: list[dict[str, Any]] = api.get(f"/api/v1/accounts/{account.id}/collections").json()["collections"]
    return found


def members(account: Account, viewer: Account | None = None) -> list[list[str]]:
    """Return the names of the members shown in each collection."""
    names = dict(Account.objects.values_list("id", "username"))
    return [[names[int(one["account_id"])] for one in each["items"]] for each in shown(account, viewer)]


def test_collections_of_a_remote_profile_are_shown_with_consenting_members(
    elsewhere: RemoteServer, zoe: RemotePerson, yan: RemotePerson, alice: Account
) -> None:
    xia = elsewhere.person("xia")
    base = birds(zoe)
    liar = stamp(xia, base, interactionTarget=yan.uri)
    items = [
        item(zoe, yan.uri, stamp(yan, base)),
        item(zoe, xia.uri, liar, 2),
        item(zoe, alice.uri, f"{alice.uri}/feature_authorizations/1", 3),
        item(zoe, zoe.uri, None, 4),
    ]
    listed(zoe, birds(zoe, items), birds(zoe, number=2, discoverable=False))
    follow(alice, fetch_actor(zoe.uri))
    work()
    (entity,) = shown(remote(zoe))
    number = entity["id"]
    assert entity == {
        "id": number,
        "uri": base["id"],
        "name": "Bird people",
        "description": "They <em>know</em> birds",
        "language": "en",
        "account_id": str(remote(zoe).id),
        "local": False,
        "sensitive": False,
        "discoverable": True,
        "url": base["url"],
        "item_count": 1,
        "created_at": "2026-01-01T12:00:00.000Z",
        "updated_at": "2026-01-01T12:00:00.000Z",
        "tag": {"name": "birds", "url": "http://social.localhost/tags/birds"},
        "items": entity["items"],
    }
    assert members(remote(zoe)) == [["yan"]], "the other members have not consented"
    whole = Api().get(f"/api/v1/collections/{number}").json()
    assert [one["username"] for one in whole["accounts"]] == ["zoe", "yan"]
    hidden = Collection.objects.get(uri=f"{zoe.uri}/collections/2")
    assert Api().get(f"/api/v1/collections/{hidden.id}").json()["collection"]["discoverable"] is False
    listed(zoe, birds(zoe, items, name="Others", updated="2026-01-02T12:00:00Z"))
    read_collections(zoe.uri)
    assert [one["name"] for one in shown(remote(zoe))] == ["Others"]
    listed(zoe)
    read_collections(zoe.uri)
    assert shown(remote(zoe)) == []
    assert Collection.objects.get() == hidden, "collections that are not discoverable are in no list"


def test_collections_of_followed_accounts_are_updated_and_others_are_not_stored(
    elsewhere: RemoteServer, zoe: RemotePerson, yan: RemotePerson, alice: Account
) -> None:
    met(zoe)
    assert "not relevant to anybody here" in deal(zoe, added(zoe, birds(zoe)))
    assert "not relevant to anybody here" in deal(zoe, zoe.activity("Update", birds(zoe)))
    follow(alice, remote(zoe))
    assert deal(zoe, added(zoe, birds(zoe))) == "done"
    assert members(remote(zoe)) == [[]]
    place = birds(zoe)["id"]
    one = item(zoe, yan.uri, stamp(yan, birds(zoe)))
    assert deal(zoe, added(zoe, one, place)) == "done"
    assert deal(zoe, added(zoe, one, place)) == "done"
    assert members(remote(zoe)) == [["yan"]]
    newer = {"updated": "2026-01-02T12:00:00Z"}
    assert deal(zoe, zoe.activity("Update", birds(zoe, [one], name="Friends", **newer))) == "done"
    assert deal(zoe, zoe.activity("Update", birds(zoe, name="An old one"))) == "done"
    (entity,) = shown(remote(zoe))
    assert (entity["name"], entity["item_count"]) == ("Friends", 1)
    # Only the owner can change a collection.
    met(yan)
    follow(alice, remote(yan))
    theirs = birds(zoe, attributedTo=yan.uri, **newer)
    assert deal(yan, yan.activity("Update", birds(zoe, name="Mine"))).startswith("rejected")
    assert deal(yan, yan.activity("Update", theirs)).startswith("rejected")
    assert "no such collection" in deal(yan, added(yan, one["id"], place, "Remove"))
    assert "no such collection" in deal(yan, added(yan, place, f"{zoe.uri}/featured_collections", "Remove"))
    assert deal(yan, yan.activity("Delete", place)) == "done"
    assert members(remote(zoe)) == [["yan"]]
    assert deal(zoe, added(zoe, one["id"], place, "Remove")) == "done"
    assert members(remote(zoe)) == [[]]
    assert deal(zoe, added(zoe, place, kind="Remove")) == "done"
    assert not Collection.objects.exists()
    assert deal(zoe, added(zoe, birds(zoe))) == "done"
    assert deal(zoe, zoe.activity("Delete", place)) == "done"
    assert not Collection.objects.exists()


def test_row_36_a_consent_counts_only_if_the_members_own_server_serves_it(
    elsewhere: RemoteServer, zoe: RemotePerson, yan: RemotePerson, alice: Account
) -> None:
    follow(alice, met(zoe))
    base = birds(zoe)
    with RemoteServer().running() as third:
        vic = third.person("vic")
        forged = {"id": f"{zoe.uri}/stamps/1", "type": "FeatureAuthorization", "interactingObject": base["id"]}
        elsewhere.serve(forged | {"interactionTarget": vic.uri})
        other = stamp(vic, birds(zoe, number=2), 2)
        wrong = vic.home.serve({"id": f"{vic.uri}/stamps/3", "type": "QuoteAuthorization"})["id"]
        for number, uri in enumerate([forged["id"], other, wrong, f"{vic.uri}/stamps/none"], 1):
            assert deal(zoe, added(zoe, birds(zoe, [item(zoe, vic.uri, uri, number)]))) == "done"
            assert members(remote(zoe)) == [[]]
        true = stamp(vic, base)
        assert deal(zoe, added(zoe, birds(zoe, [item(zoe, vic.uri, true, 5)]))) == "done"
        assert members(remote(zoe)) == [["vic"]]
        # Only Vic can withdraw the consent, and a withdrawn consent never counts again.
        gone = {"id": true, "type": "FeatureAuthorization"}
        deal(yan, yan.activity("Delete", gone))
        assert members(remote(zoe)) == [["vic"]]
        assert deal(vic, vic.activity("Delete", gone)) == "done"
        deal(zoe, added(zoe, birds(zoe, [item(zoe, vic.uri, true, 5)])))
        assert members(remote(zoe)) == [[]]


def test_row_71_a_strangers_list_of_thousands_of_accounts_causes_no_look_ups(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    with RemoteServer().running() as victim:
        many = [item(zoe, victim.uri(f"users/{n}"), victim.uri(f"stamps/{n}"), n) for n in range(1, 1000)]
        listed(
            zoe,
            birds(zoe, many),
            *(birds(zoe, number=n) for n in range(2, 300)),
            next=f"{zoe.uri}/featured_collections",
        )
        met(zoe)
        assert victim.asked == []
        assert Collection.objects.count() == 20, "the items of each page are limited"
        assert CollectionItem.objects.count() == REMOTE_ITEMS_LIMIT
        # The collections of a followed account are fetched once, at the rate allowed for its server.
        follow(alice, remote(zoe))
        for number in range(2):
            assert deal(zoe, zoe.activity("Update", birds(zoe, many[:20], name=f"Name {number}"))) == "done"
        assert len(set(victim.gets())) == len(victim.asked) == 20
        assert Fetch.objects.filter(kind=FetchKind.FEATURED, dead_at__isnull=False).count() == 20
        for number in range(300, 307):
            deal(zoe, added(zoe, birds(zoe, number=number)))
        assert Collection.objects.count() == REMOTE_COLLECTIONS_LIMIT
        assert members(remote(zoe), alice)[-1] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "https://other.example/1"},
        {"attributedTo": "https://other.example/zoe"},
        {"name": ""},
        {"name": 7},
        {"type": "Collection"},
        {"id": None},
    ],
)
def test_a_collection_that_does_not_belong_to_its_sender_is_refused(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, wrong: dict[str, Any]
) -> None:
    follow(alice, met(zoe))
    assert deal(zoe, added(zoe, birds(zoe) | wrong)).startswith("rejected")
    assert not Collection.objects.exists()


def test_long_texts_are_cut_and_broken_items_are_ignored(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    follow(alice, met(zoe))
    items: list[Any] = ["text", 7, None, {}, {"type": "FeaturedItem"}, item(zoe, "no address", None)]
    long = birds(zoe, items, name="n" * 5000, summaryMap={"xx": "d" * 5000}, topic=["x"], published=7, url={})
    assert deal(zoe, added(zoe, long)) == "done"
    (entity,) = shown(remote(zoe))
    assert (len(entity["name"]), len(entity["description"]), entity["tag"]) == (256, 2048, None)
    assert (entity["language"], entity["items"], entity["url"]) == (None, [], entity["uri"])


def test_blocks_between_viewer_owner_and_member_hide_members_and_collections(
    elsewhere: RemoteServer, zoe: RemotePerson, yan: RemotePerson, alice: Account
) -> None:
    bob = make_user("bob").account
    follow(alice, met(zoe))
    deal(zoe, added(zoe, birds(zoe, [item(zoe, yan.uri, stamp(yan, birds(zoe)))])))
    number = shown(remote(zoe))[0]["id"]
    block_account(account=alice, target=remote(yan))
    assert members(remote(zoe), alice) == [[]]
    assert members(remote(zoe), bob) == [["yan"]]
    block_account(account=remote(zoe), target=bob)
    assert shown(remote(zoe), bob) == []
    api = Api(make_token(User.objects.get(account=bob)))
    assert api.get(f"/api/v1/collections/{number}").status_code == 403
    carol = make_user("carol").account
    block_domain(account=carol, domain=elsewhere.domain)
    assert members(remote(zoe), carol) == [[]]
    end_actor(remote(yan))
    assert members(remote(zoe)) == [[]]
    end_actor(remote(zoe))
    assert Api().get(f"/api/v1/collections/{number}").status_code == 404
    work()
    assert not Collection.objects.exists()


def test_a_collection_is_found_by_its_address(elsewhere: RemoteServer, zoe: RemotePerson, alice: Account) -> None:
    document = elsewhere.serve(birds(zoe))
    api = Api(make_token(User.objects.get(account=alice)))
    found = api.get("/api/v2/search", {"q": document["id"], "resolve": "true"}).json()
    assert [one["uri"] for one in found["collections"]] == [document["id"]]
    page = f'<link rel="alternate" type="application/activity+json" href="{document["id"]}">'
    elsewhere.pages["/c/1"] = type(elsewhere.find("/none"))(page.encode(), "text/html")
    found = api.get("/api/v2/search", {"q": document["url"], "resolve": "true"}).json()
    assert [one["uri"] for one in found["collections"]] == [document["id"]]


def test_the_consent_of_one_account_is_never_used_for_another(
    elsewhere: RemoteServer, zoe: RemotePerson, yan: RemotePerson, alice: Account
) -> None:
    """A consent is valid for one account only; an item that uses the consent for another account becomes pending again."""
    follow(alice, met(zoe))
    xia = elsewhere.person("xia")
    one = item(zoe, yan.uri, stamp(yan, birds(zoe)))
    deal(zoe, added(zoe, birds(zoe, [one])))
    assert members(remote(zoe)) == [["yan"]]
    other = json.loads(json.dumps(one)) | {"featuredObject": xia.uri}
    deal(zoe, zoe.activity("Update", birds(zoe, [other])))
    assert members(remote(zoe)) == [[]]
    assert CollectionItem.objects.get().state == ItemState.PENDING


def test_fetching_an_outdated_list_removes_neither_new_collections_nor_local_members(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """Mastodon's list may be some minutes old, because it is cached (contract, federation section 1)."""
    follow(alice, met(zoe))
    now = clock.iso(clock.now())
    deal(zoe, added(zoe, birds(zoe, published=now, updated=now)))
    deal(zoe, added(zoe, birds(zoe, number=2)))
    deal(zoe, added(zoe, birds(zoe, number=3)))
    agreed = Collection.objects.get(uri=f"{zoe.uri}/collections/3")
    CollectionItem.objects.create(collection=agreed, account=alice)
    listed(zoe)
    read_collections(zoe.uri)
    assert {one["uri"][-1] for one in shown(remote(zoe))} == {"1", "3"}


def later(hours: float) -> None:
    """Pretend that the consent was checked this many hours ago."""
    CollectionItem.objects.update(checked_at=clock.now() - timedelta(hours=hours))


@pytest.mark.parametrize("status", [404, 410])
def test_an_account_without_consent_is_removed_when_the_collection_is_fetched_again(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, status: int
) -> None:
    follow(alice, met(zoe))
    with RemoteServer().running() as third:
        vic, wes = third.person("vic"), third.person("wes")
        base = birds(zoe)
        items = [item(zoe, vic.uri, stamp(vic, base)), item(zoe, wes.uri, stamp(wes, base), 2)]
        deal(zoe, added(zoe, birds(zoe, items)))
        assert members(remote(zoe)) == [["vic", "wes"]]
        third.asked.clear()
        gone = "/users/vic/feature_authorizations/1"
        third.pages[gone] = type(third.find("/"))(b"", status=503)
        versions = itertools.count(1)

        def looked_at() -> list[list[str]]:
            listed(zoe, birds(zoe, items, name=f"Name {next(versions)}"))
            read_collections(zoe.uri)
            Fetch.objects.update(due_at=clock.now())
            work()
            return members(remote(zoe))

        assert looked_at() == [["vic", "wes"]]
        assert third.asked == [], "the consent was checked a moment ago"
        later(hours=25)
        assert looked_at() == [["vic", "wes"]], "the state does not change while the server fails"
        Fetch.objects.all().delete()
        third.pages[gone] = type(third.find("/"))(b"", status=status)
        assert looked_at() == [["wes"]]
        later(hours=25)
        assert looked_at() == [["wes"]], "the withdrawn consent does not count again"
        items[0] = item(zoe, vic.uri, stamp(vic, base, 2))
        assert looked_at() == [["vic", "wes"]], "a new consent counts"
