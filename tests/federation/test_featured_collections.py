"""Tests of how collections of local accounts are federated to other servers (FEP-7aa9; contract, federation sections 2, 7 and
8).
"""

from typing import Any, Final

import pytest

from accounts.collections.models import CollectionItem, ItemState
from accounts.models import Account, User
from accounts.services.blocking import block_account
from federation.models import OutboundActivity
from social.kernel import clock, links
from tests.factories.accounts import make_token, make_user
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.wire import FILES, compare
from tests.support.work import work

pytestmark = pytest.mark.django_db
LIST: Final = "/users/alice/featured_collections"
BIRDS: Final = {
    "name": "Bird people",
    "description": "They know birds",
    "language": "en",
    "tag_name": "birds",
    "sensitive": False,
    "discoverable": True,
}


@pytest.fixture
def bob(db: None) -> Account:
    return make_user("bob", discoverable=True).account


@pytest.fixture
def api(alice: Account) -> Api:
    return Api(make_token(User.objects.get(account=alice)))


def _fetched(path: str, status: int = 200) -> dict[str, Any]:
    answer = Api().get(path, headers={"Accept": ACTIVITY})
    assert answer.status_code == status
    found: dict[str, Any] = answer.json()
    return found


def _made(api: Api, **more: Any) -> str:
    answer = api.post("/api/v1/collections", BIRDS | more)
    assert answer.status_code == 200, answer.content
    number: str = answer.json()["collection"]["id"]
    return number


def _add(api: Api, collection: str, account: Account) -> str:
    answer = api.post(f"/api/v1/collections/{collection}/items", {"account_id": str(account.id)})
    assert answer.status_code == 200, answer.content
    number: str = answer.json()["collection_item"]["id"]
    return number


def test_lists_of_collections_single_collections_and_items_can_be_fetched(
    api: Api, alice: Account, bob: Account
) -> None:
    hidden, shown = _made(api, discoverable=False), _made(api)
    item = _add(api, shown, bob)
    listed = _fetched(LIST)
    assert (listed["type"], listed["totalItems"]) == ("Collection", 1), "the other collection is not listed"
    page = _fetched(f"{LIST}?page=1")
    assert listed["first"] == page["id"]
    assert [one["id"] for one in page["items"]] == [links.collection_uri(alice.id, int(shown))]
    found = _fetched(f"/users/alice/collections/{shown}")
    assert page["items"][0] == {name: value for name, value in found.items() if name != "@context"}
    assert found["topic"] == {"type": "Hashtag", "href": "http://social.localhost/tags/birds", "name": "#birds"}
    (member,) = found["orderedItems"]
    assert member["featuredObject"] == bob.uri
    consent = _fetched(f"/users/bob/feature_authorizations/{item}")
    assert consent["id"] == member["featureAuthorization"]
    assert (consent["interactingObject"], consent["interactionTarget"]) == (found["id"], bob.uri)
    assert _fetched(f"/users/alice/collection_items/{item}")["id"] == member["id"]
    assert _fetched(f"/users/alice/collections/{hidden}")["discoverable"] is False
    _fetched(f"/users/bob/collections/{shown}", 404)
    _fetched(f"/users/bob/collection_items/{item}", 404)
    _fetched(f"/users/alice/feature_authorizations/{item}", 404)
    assert _fetched(f"/collections/{shown}") == _fetched(f"/users/alice/collections/{shown}"), (
        "the address of the page leads to the same document"
    )
    page = Api().get(f"/collections/{shown}", headers={"Accept": "text/html"})
    assert (page.status_code, "Accept" in page.headers["Vary"]) == (200, True)
    answer = Api().get(f"/users/alice/collections/{shown}", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["Location"]) == (301, f"http://social.localhost/collections/{shown}")


def test_only_consenting_unsuspended_accounts_are_in_the_document_of_a_collection(api: Api, bob: Account) -> None:
    number = _made(api)
    item = _add(api, number, bob)
    for state in (ItemState.PENDING, ItemState.REVOKED, ItemState.REJECTED):
        CollectionItem.objects.update(state=state)
        assert _fetched(f"/users/alice/collections/{number}")["orderedItems"] == []
        _fetched(f"/users/alice/collection_items/{item}", 404)
        _fetched(f"/users/bob/feature_authorizations/{item}", 404)
    CollectionItem.objects.update(state=ItemState.ACCEPTED)
    Account.objects.filter(id=bob.id).update(suspended_at=clock.now())
    assert _fetched(f"/users/alice/collections/{number}")["totalItems"] == 0
    _fetched(f"/users/alice/collection_items/{item}", 404)


def test_a_blocked_account_gets_no_collections(
    api: Api, alice: Account, bob: Account, zoe: RemotePerson, zoe_here: Account
) -> None:
    number = _made(api)
    paths = [f"/users/alice/collections/{number}", f"/users/alice/collection_items/{_add(api, number, bob)}"]
    assert [zoe.get(path).status_code for path in paths] == [200, 200]
    block_account(account=alice, target=zoe_here)
    assert [zoe.get(path).status_code for path in paths] == [404, 404]
    assert zoe.get(LIST).json()["totalItems"] == 0


def test_remote_followers_get_collections_with_their_changes_and_members(
    elsewhere: RemoteServer, api: Api, alice: Account, bob: Account, zoe_here: Account
) -> None:
    work()
    elsewhere.asked.clear()

    def sent() -> list[tuple[str, str, Any]]:
        work()
        found = [(one["type"], one.get("target", ""), one["object"]) for one in elsewhere.delivered()]
        elsewhere.asked.clear()
        return found

    number = _made(api)
    uri, place = (links.numbered_uri(alice.id, end) for end in (f"collections/{number}", "featured_collections"))
    whole = _fetched(f"/users/alice/collections/{number}")
    whole.pop("@context")
    assert sent() == [("Add", place, whole)]
    item = _add(api, number, bob)
    member = _fetched(f"/users/alice/collection_items/{item}")
    member.pop("@context")
    assert sent() == [("Add", uri, member)]
    api.patch(f"/api/v1/collections/{number}", {"sensitive": True})
    ((kind, _target, changed),) = sent()
    assert (kind, changed["sensitive"], changed["orderedItems"]) == ("Update", True, [member])
    Api(make_token(User.objects.get(account=bob))).post(f"/api/v1/collections/{number}/items/{item}/revoke")
    assert sent() == [("Remove", uri, member["id"])]
    api.delete(f"/api/v1/collections/{number}")
    assert sent() == [("Remove", place, uri)]
    hidden = _made(api, discoverable=False)
    _add(api, hidden, bob)
    api.patch(f"/api/v1/collections/{hidden}", {"name": "Others"})
    assert sent() == [], "an unlisted collection is not announced"
    api.patch(f"/api/v1/collections/{hidden}", {"discoverable": True})
    assert [kind for kind, _target, _object in sent()] == ["Add", "Update"]
    block_account(account=bob, target=alice)
    assert [kind for kind, _target, _object in sent()] == ["Remove"]
    api.patch(f"/api/v1/collections/{hidden}", {"discoverable": False})
    assert [kind for kind, _target, _object in sent()] == ["Remove"]


@pytest.mark.skipif(not FILES, reason="the recorded documents are not here")
def test_documents_and_activities_of_collections_have_the_members_that_mastodons_have(
    elsewhere: RemoteServer, api: Api, bob: Account, zoe_here: Account
) -> None:
    number = _made(api)
    work()
    item = _add(api, number, bob)
    work()
    api.patch(f"/api/v1/collections/{number}", {"name": "Bird people and others"})
    work()
    bodies = elsewhere.delivered("Add", "Update")
    names = ("add_featured_collection", "add_featured_item", "update_featured_collection")
    documents = dict(zip(names, bodies, strict=True)) | {
        "get_featured_collection": _fetched(f"/users/alice/collections/{number}"),
        "get_featured_collections": _fetched(LIST),
        "get_feature_authorization": _fetched(f"/users/bob/feature_authorizations/{item}"),
        "get_featured_collections_page": _fetched(f"{LIST}?page=1"),
    }
    api.delete(f"/api/v1/collections/{number}")
    work()
    documents["remove_featured_collection"] = elsewhere.delivered()[-1]
    for name, ours in documents.items():
        compare(name, ours)
    assert not OutboundActivity.objects.filter(type="Add").exists(), "all deliveries have arrived"
