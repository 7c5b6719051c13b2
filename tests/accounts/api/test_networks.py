"""Tests of lists of accounts, follow requests, endorsements, notes (contract, endpoints "accounts"; SEED-010 to SEED-014)."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AccountStat, Block, Follow, FollowRequest, Mute, User
from social.kernel import clock
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def followed_by(target: User, *names: str) -> list[User]:
    people = [make_user(name) for name in names]
    for person in people:
        assert act(Api(make_token(person)), target.account, "follow")["following"]
    return people


def act(api: Api, target: Account, verb: str, data: object = None) -> dict[str, Any]:
    answer = api.post(f"/api/v1/accounts/{target.id}/{verb}", data)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def names(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [account["acct"] for account in answer.json()]


def next_page(answer: Any) -> str | None:
    link = next((part for part in answer.headers.get("Link", "").split(", ") if 'rel="next"' in part), None)
    return None if link is None else link[1:].partition(">")[0].removeprefix("http://social.localhost")


def test_followers_and_followed_are_listed_newest_first_in_pages(ann: User, api: Api) -> None:
    bea, _cat, dot = followed_by(ann, "bea", "cat", "dot")
    for person in (dot, bea):
        act(api, person.account, "follow")
    path = f"/api/v1/accounts/{ann.account_id}"
    assert names(Api().get(f"{path}/followers")) == ["dot", "cat", "bea"]
    assert names(Api().get(f"{path}/following")) == ["bea", "dot"]
    first = Api().get(f"{path}/followers", {"limit": 2})
    assert names(first) == ["dot", "cat"]
    newest = Follow.objects.get(account=dot.account, target=ann.account).id
    assert f'{path}/followers?limit=2&since_id={newest}>; rel="prev"' in first["Link"]
    following = next_page(first)
    assert following is not None
    assert names(Api().get(following)) == ["bea"]
    assert next_page(Api().get(following)) is None


def test_a_hidden_network_is_shown_to_its_owner_alone(ann: User, api: Api) -> None:
    (bea,) = followed_by(ann, "bea")
    Account.objects.filter(id=ann.account_id).update(hide_collections=True)
    path = f"/api/v1/accounts/{ann.account_id}/followers"
    assert (names(Api().get(path)), names(Api(make_token(bea)).get(path)), names(api.get(path))) == ([], [], ["bea"])


def test_lists_leave_out_accounts_that_the_viewer_hides_or_that_block_the_viewer(ann: User, api: Api) -> None:
    bea, cat, dot, eve = followed_by(ann, "bea", "cat", "dot", "eve")
    act(Api(make_token(bea)), dot.account, "block")
    act(Api(make_token(bea)), eve.account, "mute")
    path = f"/api/v1/accounts/{ann.account_id}/followers"
    assert names(Api(make_token(bea)).get(path)) == ["cat", "bea"]
    assert names(Api(make_token(dot)).get(path)) == ["eve", "dot", "cat"]
    assert names(Api(make_token(cat)).get(path)) == ["eve", "dot", "cat", "bea"]
    act(api, eve.account, "block")
    assert names(Api(make_token(eve)).get(path)) == []
    assert names(api.get(path)) == ["dot", "cat", "bea"]


@pytest.mark.parametrize("name", ["followers", "following", "endorsements"])
def test_networks_of_suspended_accounts_are_empty(ann: User, api: Api, name: str) -> None:
    (bea,) = followed_by(ann, "bea")
    act(api, bea.account, "follow")
    act(api, bea.account, "endorse")
    Account.objects.filter(id=ann.account_id).update(suspended_at=clock.now())
    assert names(Api().get(f"/api/v1/accounts/{ann.account_id}/{name}")) == []
    assert Api().get(f"/api/v1/accounts/1/{name}").status_code == 404


def test_seed_011_muted_people_are_listed_with_the_end_of_the_mute(ann: User, api: Api) -> None:
    bea, cat, dot = (make_account(name) for name in ("bea", "cat", "dot"))
    for target in (bea, cat):
        act(api, target, "block")
        act(api, target, "mute", {"duration": 3600} if target == cat else None)
    act(api, dot, "mute")
    Mute.objects.filter(target=dot).update(expires_at=clock.now())
    assert names(api.get("/api/v1/blocks")) == ["cat", "bea"]
    muted = api.get("/api/v1/mutes").json()
    assert [account["acct"] for account in muted] == ["cat", "bea"]
    expires_at = Mute.objects.get(target=cat).expires_at
    assert [account["mute_expires_at"] for account in muted] == [clock.iso_or_none(expires_at), None]
    Account.objects.filter(id=cat.id).update(suspended_at=clock.now())
    assert names(api.get("/api/v1/blocks")) == names(api.get("/api/v1/mutes")) == ["bea"]
    assert names(Api(make_token(make_user())).get("/api/v1/blocks")) == []


def test_seed_010_requests_are_listed_and_answered(ann: User, api: Api) -> None:
    Account.objects.filter(id=ann.account_id).update(locked=True)
    bea, cat = make_user("bea"), make_user("cat")
    options = {"reblogs": False, "notify": True, "languages": ["en"]}
    for person in (bea, cat):
        assert act(Api(make_token(person)), ann.account, "follow", options)["requested"]
    assert names(api.get("/api/v1/follow_requests")) == ["cat", "bea"]
    authorize = f"/api/v1/follow_requests/{bea.account_id}/authorize"
    answer = api.post(authorize)
    assert (answer.status_code, answer.json()["followed_by"], answer.json()["requested_by"]) == (200, True, False)
    follow = Follow.objects.get(account=bea.account)
    assert (follow.show_reblogs, follow.notify, follow.languages) == (False, True, ["en"])
    reject = f"/api/v1/follow_requests/{cat.account_id}/reject"
    answer = api.post(reject)
    assert (answer.status_code, answer.json()["followed_by"], answer.json()["requested_by"]) == (200, False, False)
    assert not FollowRequest.objects.exists()
    assert AccountStat.objects.get(account=ann.account).followers_count == 1
    for path in (authorize, reject, "/api/v1/follow_requests/1/authorize", "/api/v1/follow_requests/x/reject"):
        assert api.post(path).status_code == 404


def test_follow_requests_of_other_accounts_cannot_be_accepted(ann: User) -> None:
    Account.objects.filter(id=ann.account_id).update(locked=True)
    bea = make_user("bea")
    act(Api(make_token(bea)), ann.account, "follow")
    stranger = Api(make_token(make_user()))
    assert stranger.post(f"/api/v1/follow_requests/{bea.account_id}/authorize").status_code == 404
    assert FollowRequest.objects.count() == 1


def test_a_remote_request_is_accepted_and_rejected(ann: User, api: Api) -> None:
    for verb, left in (("authorize", 1), ("reject", 0)):
        stranger = make_remote()
        FollowRequest.objects.create(account=stranger, target=ann.account, uri=f"{stranger.uri}#follow")
        assert api.post(f"/api/v1/follow_requests/{stranger.id}/{verb}").status_code == 200
        assert Follow.objects.filter(account=stranger).count() == left


def test_removing_a_follower_leaves_follow_requests_pending(ann: User, api: Api) -> None:
    (bea,) = followed_by(ann, "bea")
    cat = make_user("cat")
    Account.objects.filter(id=ann.account_id).update(locked=True)
    act(Api(make_token(cat)), ann.account, "follow")
    assert not act(api, bea.account, "remove_from_followers")["followed_by"]
    assert act(api, bea.account, "remove_from_followers")["followed_by"] is False
    assert act(api, cat.account, "remove_from_followers")["requested_by"]
    assert AccountStat.objects.get(account=ann.account).followers_count == 0


@pytest.mark.parametrize(("add", "remove"), [("endorse", "unendorse"), ("pin", "unpin")])
def test_seed_013_followed_accounts_are_endorsed_through_the_old_and_the_new_path(
    ann: User, api: Api, add: str, remove: str
) -> None:
    bea, cat = make_account("bea"), make_account("cat")
    for target in (bea, cat):
        act(api, target, "follow")
        assert act(api, target, add)["endorsed"]
        assert act(api, target, add)["endorsed"]
    assert names(api.get("/api/v1/endorsements")) == ["cat", "bea"]
    path = f"/api/v1/accounts/{ann.account_id}/endorsements"
    first = Api().get(path, {"limit": 1})
    assert names(first) == ["cat"]
    assert f'{path}?limit=1&max_id={cat.id}>; rel="next"' in first["Link"]
    assert names(Api().get(next_page(first) or "")) == ["bea"]
    assert names(api.get("/api/v1/endorsements", {"limit": 0})) == ["bea", "cat"]
    answer = api.post(f"/api/v1/accounts/{bea.id}/{add}")
    assert answer.headers.get("Deprecation") == ("@1751932800" if add == "pin" else None)
    assert not act(api, cat, remove)["endorsed"]
    assert not act(api, cat, remove)["endorsed"]
    act(api, bea, "unfollow")
    assert names(api.get("/api/v1/endorsements")) == []
    act(api, bea, "follow")
    assert names(api.get("/api/v1/endorsements")) == []


def test_only_followed_accounts_can_be_endorsed(ann: User, api: Api) -> None:
    sentence = "Validation failed: You must be already following the person you want to endorse"
    for target in (make_account().id, ann.account_id):
        answer = api.post(f"/api/v1/accounts/{target}/endorse")
        assert (answer.status_code, answer.json()) == (422, {"error": sentence})
    assert api.post("/api/v1/accounts/1/endorse").status_code == 404


def test_a_block_ends_an_endorsement(ann: User, api: Api) -> None:
    bea = make_user("bea")
    act(api, bea.account, "follow")
    act(api, bea.account, "endorse")
    act(Api(make_token(bea)), ann.account, "block")
    assert names(api.get("/api/v1/endorsements")) == []


def test_seed_014_notes_are_shown_only_to_their_author(ann: User, api: Api) -> None:
    bea = make_user("bea")
    assert act(api, bea.account, "note", {"comment": "Met at <b>a fair</b>\nin May"})["note"] == (
        "Met at <b>a fair</b>\nin May"
    )
    found = api.get("/api/v1/accounts/relationships", {"id[]": [str(bea.account_id)]}).json()
    assert found[0]["note"] == "Met at <b>a fair</b>\nin May"
    theirs = Api(make_token(bea)).get("/api/v1/accounts/relationships", {"id": str(ann.account_id)}).json()
    assert theirs[0]["note"] == ""
    assert act(api, bea.account, "note", {"comment": "n" * 2000})["note"] == "n" * 2000
    answer = api.post(f"/api/v1/accounts/{bea.account_id}/note", {"comment": "n" * 2001})
    sentence = "Validation failed: Comment is too long (maximum is 2000 characters)"
    assert (answer.status_code, answer.json()) == (422, {"error": sentence})
    assert act(api, bea.account, "note", {"comment": "  "})["note"] == ""
    assert act(api, bea.account, "note")["note"] == ""
    assert act(api, ann.account, "note", {"comment": "Me"})["note"] == "Me"
    assert api.post("/api/v1/accounts/1/note", {"comment": "x"}).status_code == 404


def test_familiar_followers_are_followers_that_the_viewer_follows(ann: User, api: Api) -> None:
    dot = make_user("dot")
    bea, cat, hidden, unknown = followed_by(dot, "bea", "cat", "hid", "who")
    for person in (bea, cat, hidden):
        act(api, person.account, "follow")
    Account.objects.filter(id=hidden.account_id).update(hide_collections=True)
    path = "/api/v1/accounts/familiar_followers"
    found = api.get(path, {"id[]": [str(dot.account_id), str(unknown.account_id), "1", "x"]}).json()
    assert [(item["id"], [account["acct"] for account in item["accounts"]]) for item in found] == [
        (str(dot.account_id), ["cat", "bea"]),
        (str(unknown.account_id), []),
    ]
    assert api.get(path, {"id": str(dot.account_id)}).json() == found[:1]
    Account.objects.filter(id=dot.account_id).update(hide_collections=True)
    assert api.get(path, {"id": str(dot.account_id)}).json()[0]["accounts"] == []
    assert api.get(path).json() == []


LISTS = [
    ("blocks", "read:blocks"),
    ("mutes", "read:mutes"),
    ("follow_requests", "read:follows"),
    ("endorsements", "read:accounts"),
]


@pytest.mark.parametrize(("path", "scope"), LISTS)
def test_private_lists_need_a_user_and_the_scope(ann: User, path: str, scope: str) -> None:
    assert Api().get(f"/api/v1/{path}").status_code == 401
    assert Api(make_token(None)).get(f"/api/v1/{path}").status_code == 422
    assert Api(make_token(ann, "write read:search")).get(f"/api/v1/{path}").status_code == 403
    assert Api(make_token(ann, scope)).get(f"/api/v1/{path}").status_code == 200
    follow = Api(make_token(ann, "follow")).get(f"/api/v1/{path}").status_code
    assert follow == (403 if path == "endorsements" else 200)


@pytest.mark.parametrize("name", ["followers", "blocks", "mutes", "follow_requests", "familiar"])
def test_a_page_costs_the_same_for_few_and_for_many(ann: User, api: Api, name: str) -> None:
    people = [make_remote() for _ in range(12)]
    Follow.objects.bulk_create(Follow(account=person, target=ann.account) for person in people)
    Follow.objects.bulk_create(Follow(account=ann.account, target=person) for person in people)
    Block.objects.bulk_create(Block(account=ann.account, target=person) for person in people)
    Mute.objects.bulk_create(Mute(account=ann.account, target=person) for person in people)
    FollowRequest.objects.bulk_create(FollowRequest(account=person, target=ann.account) for person in people)
    followed = make_account()
    Follow.objects.bulk_create(Follow(account=person, target=followed) for person in people)
    reader = Api(make_token(make_user()))

    def queries(count: int) -> int:
        with CaptureQueriesContext(connection) as seen:
            if name == "followers":
                answer = reader.get(f"/api/v1/accounts/{ann.account_id}/followers", {"limit": count})
            elif name == "familiar":
                ids = [str(person.id) for person in people[: count - 1]] + [str(followed.id)]
                answer = api.get("/api/v1/accounts/familiar_followers", {"id[]": ids})
            else:
                answer = api.get(f"/api/v1/{name}", {"limit": count})
        assert len(answer.json()) == count
        return len(seen)

    queries(12)
    assert queries(2) == queries(12)


def queries_of(api: Api, path: str, params: dict[str, Any], *, shown: int) -> int:
    with CaptureQueriesContext(connection) as seen:
        answer = api.get(path, params)
    assert len(answer.json()) == shown
    return len(seen)


def test_relationships_to_forty_people_take_three_queries_at_most(ann: User, api: Api) -> None:
    people = [make_remote() for _ in range(40)]
    Follow.objects.bulk_create(Follow(account=ann.account, target=person) for person in people[::2])
    Block.objects.bulk_create(Block(account=person, target=ann.account) for person in people[1::2])
    path, ids = "/api/v1/accounts/relationships", [str(person.id) for person in people]
    # The token is cached after the first request.
    assert queries_of(api, path, {"id[]": ids[:2]}, shown=2) >= 1
    found = queries_of(api, path, {"id[]": ids}, shown=40)
    assert found <= 3
    assert found == queries_of(api, path, {"id[]": ids[:2]}, shown=2)


@pytest.mark.parametrize("name", ["followers", "following"])
def test_a_page_of_eighty_people_takes_as_many_queries_as_one_of_two(ann: User, api: Api, name: str) -> None:
    people = [make_remote(locked=bool(number % 2), discoverable=True) for number in range(80)]
    Follow.objects.bulk_create(Follow(account=person, target=ann.account) for person in people)
    Follow.objects.bulk_create(Follow(account=ann.account, target=person) for person in people)
    reader, path = Api(make_token(make_user())), f"/api/v1/accounts/{ann.account_id}/{name}"
    queries_of(reader, path, {"limit": 2}, shown=2)
    # The JSON of accounts is cached: the first request loads the accounts that are missing from the cache in one query.
    first = queries_of(reader, path, {"limit": 80}, shown=80)
    again = [queries_of(reader, path, {"limit": count}, shown=count) for count in (2, 80)]
    assert first == again[0] + 1 == again[1] + 1


def test_identity_proofs_are_empty_and_their_endpoint_is_marked_as_deprecated() -> None:
    me, other = make_user(), make_account()
    answer = Api(make_token(me, "read:follows")).get(f"/api/v1/accounts/{other.id}/identity_proofs")
    assert (answer.status_code, answer.json(), answer["Deprecation"]) == (200, [], "@1648598400")
