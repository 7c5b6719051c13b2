"""Tests of consent to appear in collections across servers (FEP-7aa9; contract, federation section 7; security row 36)."""

from typing import Any

import pytest

from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.models import Account, User
from accounts.services.blocking import block_account, block_domain
from federation.remote.actors import fetch_actor
from notifications.models import Notification
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import follow
from tests.federation.activities import PUBLIC, deal, remote
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer
from tests.federation.test_featured_collections import BIRDS
from tests.federation.test_featured_elsewhere import added, birds, item
from tests.support.client import Api
from tests.support.wire import FILES, compare
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(db: None) -> Account:
    return make_user("alice", discoverable=True).account


@pytest.fixture
def api(alice: Account) -> Api:
    return Api(make_token(User.objects.get(account=alice)))


@pytest.fixture
def yan(elsewhere: RemoteServer) -> RemotePerson:
    """A remote user whom everyone may add to collections."""
    return _open(elsewhere, "yan")


def _open(home: RemoteServer, name: str, *groups: str, way: str = "automaticApproval") -> RemotePerson:
    policy = {"canFeature": {way: list(groups or [PUBLIC])}}
    return home.person(
        name, interactionPolicy=policy, featuredCollections=home.uri(f"users/{name}/featured_collections")
    )


def _asked(api: Api, elsewhere: RemoteServer, yan: RemotePerson) -> tuple[str, dict[str, Any]]:
    """Create a collection as Alice with Yan as a member, and return its id and the request that was sent."""
    yan_here = fetch_actor(yan.uri)
    made = api.post("/api/v1/collections", BIRDS | {"account_ids": [str(yan_here.id)]})
    assert made.status_code == 200, made.content
    (one,) = made.json()["collection"]["items"]
    assert one["state"] == "pending"
    work()
    return made.json()["collection"]["id"], elsewhere.delivered("FeatureRequest")[-1]


def _seen(number: str, api: Api | None = None) -> list[str]:
    found = (api or Api()).get(f"/api/v1/collections/{number}").json()
    return [one["state"] for one in found["collection"]["items"]]


def _request(someone: RemotePerson, account: Account, **more: Any) -> dict[str, Any]:
    """Return a FeatureRequest without an actor, as Mastodon sends it."""
    activity = someone.activity("FeatureRequest", account.uri, instrument=birds(someone)["id"]) | more
    return {name: value for name, value in activity.items() if name != "actor"}


def test_a_remote_account_is_shown_in_a_collection_only_after_it_consents(
    elsewhere: RemoteServer, alice: Account, api: Api, yan: RemotePerson
) -> None:
    follow(fetch_actor(elsewhere.person("zoe").uri), alice, uri="http://x.example/1")
    number, request = _asked(api, elsewhere, yan)
    uri = f"http://social.localhost/ap/users/{alice.id}/collections/{number}"
    assert (request["object"], request["instrument"], "actor" in request) == (yan.uri, uri, False)
    assert request["id"].startswith(f"{alice.uri}/feature_requests/")
    assert [one.path for one in elsewhere.asked if b"FeatureRequest" in one.body and b"Add" not in one.body] == [
        "/users/yan/inbox"
    ]
    assert (_seen(number), _seen(number, api)) == ([], ["pending"])
    stamp = f"{yan.uri}/feature_authorizations/7"
    assert deal(yan, yan.activity("Accept", request["id"], result=stamp)) == "done"
    assert deal(yan, yan.activity("Accept", {"id": request["id"], "type": "FeatureRequest"}, result=stamp)) == "done"
    assert _seen(number) == ["accepted"]
    (listing,) = [one for one in elsewhere.delivered("Add") if one["target"] == uri]
    assert (listing["object"]["featuredObject"], listing["object"]["featureAuthorization"]) == (yan.uri, stamp)
    document = Api().get(f"/users/alice/collections/{number}", headers={"Accept": ACTIVITY}).json()
    assert document["orderedItems"] == [listing["object"]]
    # Only Yan can withdraw the consent; other servers are then notified, and Alice cannot add Yan again.
    zoe = remote_person(elsewhere, "zoe")
    deal(zoe, zoe.activity("Delete", stamp))
    assert _seen(number) == ["accepted"]
    gone = {"id": stamp, "type": "FeatureAuthorization", "interactingObject": uri, "interactionTarget": yan.uri}
    assert deal(yan, yan.activity("Delete", gone)) == "done"
    assert (_seen(number, api), [one["object"] for one in elsewhere.delivered("Remove")]) == (
        [],
        [listing["object"]["id"]],
    )
    again = api.post(f"/api/v1/collections/{number}/items", {"account_id": str(remote(yan).id)})
    assert again.status_code == 422


def remote_person(home: RemoteServer, name: str) -> RemotePerson:
    """Return the user of this name, whose document the server serves already."""
    return RemotePerson(home, name)


def test_row_36_only_the_requested_account_can_answer_a_feature_request(
    elsewhere: RemoteServer, api: Api, yan: RemotePerson, alice: Account
) -> None:
    number, request = _asked(api, elsewhere, yan)
    xia, stamp = elsewhere.person("xia"), f"{yan.uri}/feature_authorizations/7"
    assert "not by the featured account" in deal(xia, xia.activity("Accept", request["id"], result=stamp))
    assert "not by the featured account" in deal(xia, xia.activity("Reject", request["id"]))
    for result in ("https://other.example/1", None, 7, {}):
        assert "no authorization" in deal(yan, yan.activity("Accept", request["id"], result=result))
    assert _seen(number, api) == ["pending"]
    assert deal(yan, yan.activity("Reject", request["id"])) == "done"
    assert deal(yan, yan.activity("Accept", request["id"], result=stamp)) == "done"
    assert _seen(number, api) == [], "a refused request stays refused"
    assert CollectionItem.objects.get().state == ItemState.REJECTED


def test_an_account_that_cannot_be_featured_gets_no_feature_request(
    elsewhere: RemoteServer, alice: Account, api: Api
) -> None:
    number = api.post("/api/v1/collections", BIRDS).json()["collection"]["id"]

    def approval(person: RemotePerson) -> tuple[int, Any]:
        account = fetch_actor(person.uri)
        entity = api.get(f"/api/v1/accounts/{account.id}").json()["feature_approval"]
        answer = api.post(f"/api/v1/collections/{number}/items", {"account_id": str(account.id)})
        return answer.status_code, entity

    empty: dict[str, Any] = {"automatic": [], "manual": []}
    assert approval(elsewhere.person("old", discoverable=True)) == (403, empty | {"current_user": "missing"})
    assert approval(_open(elsewhere, "shy", elsewhere.uri("users/shy"))) == (403, empty | {"current_user": "denied"})
    careful = _open(elsewhere, "careful", way="manualApproval")
    assert approval(careful) == (200, {"automatic": [], "manual": ["public"], "current_user": "manual"})
    near = _open(elsewhere, "near", elsewhere.uri("users/near/followers"))
    followers: dict[str, Any] = {"automatic": ["followers"], "manual": []}
    assert approval(near) == (403, followers | {"current_user": "denied"})
    follow(alice, remote(near))
    assert approval(near) == (200, followers | {"current_user": "automatic"})
    work()
    asked = [one["object"] for one in elsewhere.delivered("FeatureRequest")]
    assert asked == [careful.uri, near.uri]
    gone = CollectionItem.objects.get(account=remote(near))
    api.delete(f"/api/v1/collections/{number}/items/{gone.id}")
    late = near.activity("Accept", gone.request_uri, result=f"{near.uri}/feature_authorizations/1")
    assert deal(near, late).startswith("rejected"), "the owner has withdrawn the request"


def test_a_request_for_a_local_user_is_answered_by_policy_and_the_user_can_leave(
    elsewhere: RemoteServer, alice: Account, api: Api, yan: RemotePerson
) -> None:
    elsewhere.serve(birds(yan))
    request = _request(yan, alice)
    assert deal(yan, request, "/users/alice/inbox") == "done"
    (accept,) = elsewhere.delivered("Accept")
    stamp = accept["result"]
    assert (accept["actor"], accept["to"], accept["object"]) == (alice.uri, yan.uri, request["id"])
    consent = Api().get(stamp.removeprefix("http://social.localhost"), headers={"Accept": ACTIVITY}).json()
    assert (consent["id"], consent["interactingObject"]) == (stamp, birds(yan)["id"])
    (entity,) = api.get(f"/api/v1/accounts/{alice.id}/in_collections").json()["collections"]
    assert (entity["uri"], entity["local"], entity["item_count"]) == (birds(yan)["id"], False, 1)
    assert [one["type"] for one in api.get("/api/v1/notifications").json()] == ["added_to_collection"]
    # A second request is also accepted.
    again = request | {"name": "again"}
    assert deal(yan, again) == "done"
    assert [one["result"] for one in elsewhere.delivered("Accept")] == [stamp, stamp]
    # Yan's server is notified of changes even if no local account follows Yan.
    listed = item(yan, alice.uri, stamp)
    newer = birds(yan, [listed], name="Renamed", updated="2026-01-02T12:00:00Z")
    assert deal(yan, yan.activity("Update", newer)) == "done"
    kinds = [one["type"] for one in api.get("/api/v1/notifications").json()]
    assert kinds == ["collection_update", "added_to_collection"]
    number, one = entity["id"], entity["items"][0]["id"]
    assert api.post(f"/api/v1/collections/{number}/items/{one}/revoke").status_code == 200
    work()
    (gone,) = elsewhere.delivered("Delete")
    assert (gone["actor"], gone["object"]) == (alice.uri, {k: v for k, v in consent.items() if k != "@context"})
    assert [asked.path for asked in elsewhere.asked if b"#delete" in asked.body] == ["/users/yan/inbox"]
    assert Api().get(stamp.removeprefix("http://social.localhost"), headers={"Accept": ACTIVITY}).status_code == 404
    assert not Notification.objects.exists()
    # A collection that still lists Yan does not show Yan, and a new request is refused.
    deal(yan, yan.activity("Update", newer | {"name": "Still", "updated": "2026-01-03T12:00:00Z"}))
    assert _seen(number) == []
    assert deal(yan, _request(yan, alice)) == "done"
    assert len(elsewhere.delivered("Reject")) == 1


def test_a_local_account_is_in_no_remote_collection_without_its_consent(
    elsewhere: RemoteServer, alice: Account, yan: RemotePerson
) -> None:
    bob = make_user("bob").account
    follow(bob, fetch_actor(yan.uri))
    stamps = [f"{alice.uri}/feature_authorizations/{n}" for n in (1, 2)]
    listed = [item(yan, alice.uri, stamps[0]), item(yan, bob.uri, stamps[1], 2)]
    assert deal(yan, added(yan, birds(yan, listed))) == "done"
    assert not CollectionItem.objects.exists()
    elsewhere.serve(birds(yan))
    assert deal(yan, _request(yan, alice)) == "done"
    assert deal(yan, yan.activity("Update", birds(yan))) == "done"
    here = CollectionItem.objects.get()
    assert here.state == ItemState.ACCEPTED, "the consent has not been fetched with her in the collection yet"
    deal(yan, added(yan, listed[0], birds(yan)["id"]))
    deal(yan, yan.activity("Update", birds(yan, name="Without her")))
    assert not CollectionItem.objects.exists()
    assert elsewhere.delivered("Delete") == [], "the owner knows this already"


@pytest.mark.parametrize("reason", ["not discoverable", "blocked", "server blocked", "of a stranger"])
def test_a_request_that_is_not_allowed_is_rejected(
    elsewhere: RemoteServer, alice: Account, yan: RemotePerson, reason: str
) -> None:
    yan_here = fetch_actor(yan.uri)
    if reason == "blocked":
        block_account(account=alice, target=yan_here)
    elif reason == "server blocked":
        block_domain(account=alice, domain=str(yan_here.domain))
    else:
        Account.objects.filter(id=alice.id).update(locked=True, discoverable=reason == "of a stranger")
    elsewhere.serve(birds(yan))
    assert deal(yan, _request(yan, alice)) == "done"
    (reject,) = elsewhere.delivered("Reject")
    assert reject["id"] == f"{alice.uri}#rejects/feature_requests/"
    assert not Collection.objects.exists()
    if reason == "of a stranger":
        follow(yan_here, alice, uri=f"{yan.uri}#follows/1")
        assert deal(yan, _request(yan, alice)) == "done"
        assert len(elsewhere.delivered("Accept")) == 1


def test_a_request_that_its_signer_may_not_make_is_refused(
    elsewhere: RemoteServer, alice: Account, yan: RemotePerson
) -> None:
    xia = elsewhere.person("xia")
    elsewhere.serve(birds(yan))
    for wrong in (
        {"instrument": "https://other.example/collections/1"},
        {"instrument": None},
        {"object": "http://social.localhost/users/nobody"},
        {"object": xia.uri},
        {"id": "https://other.example/1"},
        {"actor": yan.uri},
    ):
        assert deal(xia, _request(xia, alice) | wrong).startswith("rejected"), wrong
    assert deal(xia, _request(xia, alice, instrument=birds(yan)["id"])).startswith("rejected"), (
        "the collection belongs to another owner"
    )
    assert deal(xia, _request(xia, alice)).startswith("rejected"), "the collection does not exist"
    assert not CollectionItem.objects.exists()
    bob, request = make_user("bob", discoverable=True).account, _request(yan, alice)
    assert deal(yan, request) == "done"
    assert deal(yan, request | {"object": bob.uri}) == "done", "the id now belongs to the newer request"
    assert CollectionItem.objects.get(request_uri=request["id"]).account == bob
    assert CollectionItem.objects.count() == 2


def test_a_request_with_the_id_of_another_accounts_request_is_refused(
    elsewhere: RemoteServer, alice: Account, yan: RemotePerson
) -> None:
    xia, request = _open(elsewhere, "xia"), _request(yan, alice)
    for someone in (yan, xia):
        elsewhere.serve(birds(someone))
    assert deal(yan, request) == "done"
    assert "belongs to another request" in deal(xia, _request(xia, alice) | {"id": request["id"]})
    assert CollectionItem.objects.get().collection.account.uri == yan.uri


def test_a_block_withdraws_consent_to_be_featured_and_notifies_the_other_server(
    elsewhere: RemoteServer, alice: Account, yan: RemotePerson
) -> None:
    elsewhere.serve(birds(yan))
    deal(yan, _request(yan, alice))
    block_account(account=alice, target=remote(yan))
    work()
    assert [one["object"]["type"] for one in elsewhere.delivered("Delete")] == ["FeatureAuthorization"]
    assert not CollectionItem.objects.exists()


@pytest.mark.skipif(not FILES, reason="the recorded documents are not here")
def test_requests_and_answers_are_sent_as_mastodon_sends_them(
    elsewhere: RemoteServer, alice: Account, api: Api, yan: RemotePerson
) -> None:
    _number, request = _asked(api, elsewhere, yan)
    elsewhere.serve(birds(yan))
    deal(yan, _request(yan, alice))
    one = CollectionItem.objects.get(account=alice)
    api.post(f"/api/v1/collections/{one.collection_id}/items/{one.id}/revoke")
    work()
    deal(yan, _request(yan, alice))
    documents = {
        "feature_request": request,
        "accept_feature_request": elsewhere.delivered("Accept")[0],
        "reject_feature_request": elsewhere.delivered("Reject")[0],
        "delete_feature_authorization": elsewhere.delivered("Delete")[0],
    }
    for name, ours in documents.items():
        compare(name, ours)
