"""Tests of pinned posts and featured hashtags across servers (contract, federation sections 7 and 8)."""

from collections.abc import Iterable
from typing import Any

import pytest

from accounts.models import Account, User
from accounts.services.blocking import block_account
from federation.models import OutboundActivity
from federation.remote.actors import fetch_actor, refresh
from statuses.models import Status
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_token
from tests.factories.statuses import make_status
from tests.federation.activities import deal, introduced
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
FEATURED = "/users/alice/collections/featured"


@pytest.fixture
def api(alice: Account) -> Api:
    return Api(make_token(User.objects.get(account=alice)))


def _shown(account: Account, api: Api) -> tuple[list[str], set[str]]:
    """Return the ids of the pinned posts and the names of the hashtags on a profile, as a client gets them."""
    base = f"/api/v1/accounts/{account.id}"
    pinned = api.get(f"{base}/statuses", {"pinned": "true"}).json()
    return [post["uri"] for post in pinned], {tag["name"] for tag in api.get(f"{base}/featured_tags").json()}


def _collection(person: RemotePerson, name: str, items: Iterable[Any], **more: Any) -> str:
    uri = f"{person.uri}/collections/{name}"
    document = {"id": uri, "type": "OrderedCollection", "orderedItems": list(items)} | more
    person.home.serve(document)
    return uri


def _hashtag(name: str) -> dict[str, str]:
    return {"type": "Hashtag", "name": f"#{name}", "href": f"https://far.example/tagged/{name}"}


def test_pinned_posts_and_featured_hashtags_of_local_users_can_be_fetched(
    alice: Account, api: Api, zoe_here: Account
) -> None:
    open_post, private = make_status(alice, "look #birds"), make_status(alice, "friends", visibility="private")
    make_status(alice, "not pinned")
    for post in (private, open_post):
        assert api.post(f"/api/v1/statuses/{post.id}/pin").status_code == 200
    assert api.post("/api/v1/featured_tags", {"name": "Birds"}).status_code == 200
    stranger = Api()
    featured = stranger.get(FEATURED, headers={"Accept": ACTIVITY}).json()
    assert (featured["type"], featured["totalItems"]) == ("OrderedCollection", 2)
    first, second = featured["orderedItems"]
    assert (first["id"], first["type"], "@context" in first) == (f"{alice.uri}/statuses/{open_post.id}", "Note", False)
    assert second == f"{alice.uri}/statuses/{private.id}", "a private post is listed by its id only"
    assert featured["@context"][1]["Hashtag"] == "as:Hashtag"
    tags = stranger.get("/users/alice/collections/tags", headers={"Accept": ACTIVITY}).json()
    assert (tags["type"], tags["totalItems"]) == ("Collection", 1)
    href = "http://social.localhost/@alice/tagged/birds"
    assert tags["items"] == [{"type": "Hashtag", "href": href, "name": "#Birds"}]


def test_a_blocked_account_gets_no_pinned_posts(alice: Account, api: Api, zoe: RemotePerson, zoe_here: Account) -> None:
    api.post(f"/api/v1/statuses/{make_status(alice, 'look').id}/pin")
    assert zoe.get(FEATURED).json()["totalItems"] == 1
    block_account(account=alice, target=zoe_here)
    assert zoe.get(FEATURED).json()["orderedItems"] == []


def test_remote_followers_are_notified_of_pins_and_featured_hashtags_and_of_their_removal(
    elsewhere: RemoteServer, alice: Account, api: Api, zoe_here: Account
) -> None:
    post = make_status(alice, "look")
    work()
    elsewhere.asked.clear()
    target = {"actor": alice.uri, "target": f"{alice.uri}/collections/featured"}
    activity_streams = "https://www.w3.org/ns/activitystreams"
    uri = f"{alice.uri}/statuses/{post.id}"
    birds = {"type": "Hashtag", "href": "http://social.localhost/@alice/tagged/birds", "name": "#birds"}
    tagged = [activity_streams, {"Hashtag": "as:Hashtag"}]
    expected: list[dict[str, Any]] = []
    for kind, action in (("Add", "pin"), ("Remove", "unpin")):
        api.post(f"/api/v1/statuses/{post.id}/{action}")
        work()
        expected.append({"@context": activity_streams, "type": kind, "object": uri} | target)
    number = api.post("/api/v1/featured_tags", {"name": "birds"}).json()["id"]
    work()
    api.delete(f"/api/v1/featured_tags/{number}")
    work()
    expected += [{"@context": tagged, "type": kind, "object": birds} | target for kind in ("Add", "Remove")]
    assert elsewhere.delivered() == expected
    api.post(f"/api/v1/statuses/{post.id}/unpin")
    api.post(f"/api/v1/statuses/{post.id}/pin")
    api.post(f"/api/v1/statuses/{post.id}/unpin")
    work()
    assert {document["type"] for document in elsewhere.delivered()[4:]} == {"Remove"}, "the latest activity counts"
    assert not OutboundActivity.objects.exists()


def test_for_a_deleted_pinned_post_only_the_delete_is_sent(
    elsewhere: RemoteServer, alice: Account, api: Api, zoe_here: Account
) -> None:
    post = make_status(alice, "look")
    api.post(f"/api/v1/statuses/{post.id}/pin")
    work()
    elsewhere.asked.clear()
    delete_status(status_id=post.id)
    work()
    assert [document["type"] for document in elsewhere.delivered()] == ["Delete"]


def test_pinned_posts_and_featured_hashtags_of_a_new_account_are_fetched(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, api: Api
) -> None:
    mallory = elsewhere.person("mallory", key=2)
    named = elsewhere.serve(zoe.note("<p>by its id</p>", 1))
    forged = zoe.note("<p>forged</p>", 2, attributedTo=mallory.uri, id=f"{mallory.uri}/statuses/2")
    foreign = {**zoe.note(number=3), "id": "https://far.example/3", "attributedTo": "https://far.example/users/x"}
    embedded = [zoe.note("<p>embedded</p>", number) for number in range(4, 9)]
    featured = _collection(zoe, "featured", [embedded[0], named["id"], forged, foreign, 7, *embedded[1:]])
    tags = _collection(zoe, "tags", [*map(_hashtag, ("Birds", "tea", "not a tag")), 7, {"type": "Note"}])
    elsewhere.serve(zoe.document() | {"featured": featured, "featuredTags": tags})
    account = fetch_actor(zoe.uri)
    work()
    assert _shown(account, api) == ([embedded[0]["id"], named["id"]], {"Birds", "tea"}), (
        "only the first five items are read"
    )
    assert not Status.objects.exclude(account=account).exists()
    signed = [asked for asked in elsewhere.asked if asked.path.startswith("/users/zoe/collections/")]
    assert [("signature" in asked.headers) for asked in signed] == [True, True]
    assert len(elsewhere.gets()) < 10, "the number of fetches for one profile is limited"


def test_a_followers_only_pinned_post_is_fetched_in_the_name_of_a_follower(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, api: Api
) -> None:
    private = elsewhere.serve(zoe.note(to=[f"{zoe.uri}/followers"], cc=[]))
    elsewhere.serve(zoe.document() | {"featured": _collection(zoe, "featured", [private["id"]])})
    account = introduced(zoe, alice)
    work()
    assert _shown(account, api) == ([private["id"]], set())
    (asked,) = [one for one in elsewhere.asked if one.path == private["id"].removeprefix(elsewhere.url)]
    assert f'keyId="{alice.uri}#main-key"' in asked.headers["signature"]


def test_a_followers_only_pinned_post_is_fetched_when_there_is_a_follower(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, api: Api
) -> None:
    private = zoe.note(to=[f"{zoe.uri}/followers"], cc=[])
    elsewhere.serve(zoe.document() | {"featured": _collection(zoe, "featured", [private["id"]])})
    account = fetch_actor(zoe.uri)
    work()
    assert _shown(account, api) == ([], set())
    # From now on Zoe's server serves the post, which is for followers only.
    elsewhere.serve(private)
    assert api.post(f"/api/v1/accounts/{account.id}/follow").status_code == 200
    work()
    assert deal(zoe, zoe.activity("Accept", elsewhere.delivered()[-1])) == "done"
    assert _shown(account, api) == ([private["id"]], set())


def test_a_profile_that_is_fetched_again_shows_its_current_pins_and_hashtags(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, api: Api
) -> None:
    posts = [zoe.note(f"<p>{number}</p>", number) for number in range(1, 4)]
    changes = {
        "featured": _collection(zoe, "featured", posts[:2]),
        "featuredTags": _collection(zoe, "tags", [_hashtag("birds"), _hashtag("tea")]),
    }
    elsewhere.serve(zoe.document() | changes)
    account = fetch_actor(zoe.uri)
    work()
    assert _shown(account, api) == ([posts[0]["id"], posts[1]["id"]], {"birds", "tea"})
    page = {"type": "OrderedCollectionPage", "orderedItems": [posts[2], posts[0]]}
    _collection(zoe, "featured", [], first=page)
    _collection(zoe, "tags", [_hashtag("tea")])
    refresh(account)
    work()
    assert _shown(account, api) == ([posts[2]["id"], posts[0]["id"]], {"tea"})
    _collection(zoe, "featured", [])
    elsewhere.pages.pop("/users/zoe/collections/tags")
    refresh(account)
    work()
    assert _shown(account, api) == ([], {"tea"}), "collections that cannot be fetched stay unchanged"


def test_add_and_remove_activities_of_an_actor_change_its_profile(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, api: Api
) -> None:
    featured = f"{zoe.uri}/collections/featured"
    elsewhere.serve(zoe.document() | {"featured": featured})
    account = introduced(zoe, alice)
    work()
    assert deal(zoe, zoe.activity("Create", zoe.note(number=1))) == "done"
    unknown = elsewhere.serve(zoe.note("<p>never sent</p>", 2, published="2020-01-01T00:00:00Z"))["id"]
    known = zoe.note(number=1)["id"]
    for item in (known, unknown, known, _hashtag("birds")):
        assert deal(zoe, zoe.activity("Add", item, target=featured)) == "done"
    assert _shown(account, api) == ([unknown, known], {"birds"})
    home = api.get("/api/v1/timelines/home").json()
    assert [post["uri"] for post in home] == [known, unknown], "pinned posts are sorted by their own time"
    for item in (known, known, _hashtag("birds"), _hashtag("never")):
        assert deal(zoe, zoe.activity("Remove", item, target=featured)) == "done"
    assert _shown(account, api) == ([unknown], set())


def test_row_08_an_actor_cannot_change_the_pins_of_another(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, api: Api
) -> None:
    featured = {name: f"{elsewhere.uri(f'users/{name}')}/collections/featured" for name in ("zoe", "mallory")}
    elsewhere.serve(zoe.document() | {"featured": featured["zoe"]})
    mallory = elsewhere.person("mallory", key=2, featured=featured["mallory"])
    account, other = introduced(zoe, alice), fetch_actor(mallory.uri)
    assert deal(zoe, zoe.activity("Create", zoe.note())) == "done"
    post, own = zoe.note()["id"], make_status(alice, "mine")
    assert deal(zoe, zoe.activity("Add", post, target=featured["zoe"])) == "done"
    for kind, item, target in (
        ("Add", post, featured["mallory"]),
        ("Add", f"{alice.uri}/statuses/{own.id}", featured["mallory"]),
        ("Add", post, featured["zoe"]),
        ("Add", _hashtag("spam"), featured["zoe"]),
        ("Remove", post, featured["zoe"]),
        ("Add", post, None),
    ):
        assert deal(mallory, mallory.activity(kind, item, target=target)).startswith("rejected")
    assert deal(mallory, mallory.activity("Remove", post, target=featured["mallory"])) == "done"
    assert _shown(account, api) == ([post], set())
    assert _shown(other, api) == _shown(alice, api) == ([], set())
