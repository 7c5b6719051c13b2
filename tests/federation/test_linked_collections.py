"""Tests of collections linked in posts that are sent or received (contract, federation section 5 `tag`; FEP-7aa9)."""

from typing import Any

import pytest

from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.models import Account
from federation.documents.notes import load_notes, note_document
from federation.models import Fetch, FetchKind
from federation.remote.actors import fetch_actor
from social.kernel import clock
from statuses.models import LinkedCollection, Status
from statuses.models.status import COLLECTIONS_LIMIT
from statuses.queries.posts import load_posts
from tests.factories.accounts import make_user
from tests.factories.statuses import follow, make_status
from tests.federation.activities import deal
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.federation.test_featured_elsewhere import birds
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def collection_of(owner: Account, **values: Any) -> Collection:
    said = {"name": "Trees", "sensitive": False, "discoverable": True} | values
    return Collection.objects.create(account=owner, **said)


def shown(status: Status) -> list[tuple[str, bool]]:
    """Return the names of a post's collections, and whether they are local."""
    found = Api().get(f"/api/v1/statuses/{status.id}").json()["tagged_collections"]
    return [(one["name"], one["local"]) for one in found]


def received(zoe: RemotePerson, *tags: dict[str, Any], number: int = 1, **note: Any) -> Status:
    document = zoe.note(number=number, tag=list(tags), **note)
    assert deal(zoe, zoe.activity("Create", document)) == "done"
    return Status.objects.get(uri=document["id"])


def named(uri: Any, **more: Any) -> dict[str, Any]:
    return {"type": "FeaturedCollection", "id": uri} | more


def test_a_linked_local_collection_is_sent_in_full_and_a_remote_one_by_reference(
    alice: Account, zoe: RemotePerson
) -> None:
    member = make_user("member").account
    mine = collection_of(alice, description="Tall ones")
    CollectionItem.objects.create(collection=mine, account=member)
    CollectionItem.objects.create(collection=mine, account=make_user("shy").account, state=ItemState.PENDING)
    far = collection_of(fetch_actor(zoe.uri), uri=f"{zoe.uri}/collections/7", url=zoe.home.uri("collections/7"))
    status = make_status(alice, f"#trees [here]({mine.page_url}) and [there]({far.url})", content_type="text/markdown")
    (document,) = load_notes(load_posts([status.id])).values()
    hashtag, whole, reference = document["tag"]
    assert hashtag["type"] == "Hashtag"
    served = Api().get(f"/users/alice/collections/{mine.id}", headers={"Accept": "application/activity+json"}).json()
    assert whole == {name: value for name, value in served.items() if name != "@context"}
    assert [item["featuredObject"] for item in whole["orderedItems"]] == [member.uri]
    assert reference == named(far.uri, name="Trees", attributedTo=zoe.uri, url=far.url)
    terms = note_document(document)["@context"][-1]
    assert {"FeaturedCollection", "FeaturedItem", "featuredObject", "topic", "Hashtag"} <= set(terms)


def test_a_received_post_shows_the_known_collections_in_its_tags(zoe: RemotePerson, alice: Account) -> None:
    author = fetch_actor(zoe.uri)
    follow(alice, author)
    mine = collection_of(alice)
    collection_of(author, name="Birds", uri=f"{zoe.uri}/collections/1")
    own = f"http://social.localhost/ap/users/{alice.id}/collections/{mine.id}"
    status = received(zoe, named(own, name="what zoe says of it"), named(f"{zoe.uri}/collections/1"), named(f"{own}0"))
    assert shown(status) == [("Trees", True), ("Birds", False)]
    assert zoe.home.gets().count(f"/users/{zoe.name}/collections/1") == 0, "a known collection is not fetched"


def test_an_unknown_linked_collection_is_fetched_from_its_server_and_then_shown(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    follow(alice, fetch_actor(zoe.uri))
    yan = elsewhere.person("yan")
    document = birds(yan, name="Said by yan")
    elsewhere.serve(document)
    status = received(zoe, document | {"name": "said by zoe"})
    assert shown(status) == [("Said by yan", False)]
    later = received(zoe, named(zoe.home.uri("users/zoe/collections/9")), number=2)
    assert (shown(later), Fetch.objects.get(kind=FetchKind.COLLECTION).dead_at is not None) == ([], True)
    collection_of(fetch_actor(zoe.uri), uri=f"{zoe.uri}/collections/9")
    assert shown(later) == [("Trees", False)], "the collection is shown however it became known"


def test_a_remote_edit_replaces_the_linked_collections(zoe: RemotePerson, alice: Account) -> None:
    author = fetch_actor(zoe.uri)
    follow(alice, author)
    for number, name in ((1, "Birds"), (2, "Ducks")):
        collection_of(author, name=name, uri=f"{zoe.uri}/collections/{number}")
    status = received(zoe, named(f"{zoe.uri}/collections/1"))
    edited = zoe.note("<p>other</p>", tag=[named(f"{zoe.uri}/collections/2")], updated=clock.iso(clock.now()))
    assert deal(zoe, zoe.activity("Update", edited)) == "done"
    assert shown(status) == [("Ducks", False)]


def test_links_to_collections_are_limited_and_invalid_ones_ignored(zoe: RemotePerson, alice: Account) -> None:
    follow(alice, fetch_actor(zoe.uri))
    odd = [named(uri) for uri in (None, 7, "", "mailto:a@b", "javascript:1", {"id": 1}, ["x"], "https://" + "x" * 3000)]
    many = [named(f"{zoe.uri}/collections/{number}") for number in range(50)]
    status = received(zoe, *odd, *many, {"type": ["FeaturedCollection", "Object"], "id": "https://a.example/1"})
    assert LinkedCollection.objects.filter(status=status).count() == COLLECTIONS_LIMIT
    assert shown(status) == []
