"""Tests of quote policies, and of changing them."""

from typing import Any

import pytest

from accounts.models import Account, User
from statuses.models import Status
from statuses.policies.quotes import NO_GROUP, Group, encode_policy
from tests.factories.accounts import make_remote
from tests.factories.statuses import follow, make_reblog, make_remote_status, make_status
from tests.statuses.conftest import api_of
from tests.support.client import Api
from tests.support.entities import check

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
STATUSES = "/api/v1/statuses"
PUBLIC, FOLLOWERS, NOBODY = ["public"], ["followers"], []


def _approval(reader: Account | None, status: Any) -> tuple[list[str], list[str], str]:
    body = (Api() if reader is None else api_of(reader)).get(f"{STATUSES}/{status}").json()
    shown = body["quote_approval"]
    return shown["automatic"], shown["manual"], shown["current_user"]


def _posted(author: Account, **values: Any) -> str:
    response = api_of(author).post(STATUSES, {"status": "hello", **values})
    assert response.status_code == 200, response.content
    return str(response.json()["id"])


@pytest.mark.parametrize(
    ("values", "automatic", "author", "follower", "stranger"),
    [
        ({}, PUBLIC, "automatic", "automatic", "automatic"),
        ({"quote_approval_policy": "public"}, PUBLIC, "automatic", "automatic", "automatic"),
        ({"quote_approval_policy": ""}, PUBLIC, "automatic", "automatic", "automatic"),
        ({"visibility": "unlisted"}, PUBLIC, "automatic", "automatic", "automatic"),
        ({"quote_approval_policy": "followers"}, FOLLOWERS, "automatic", "automatic", "denied"),
        ({"quote_approval_policy": "nobody"}, NOBODY, "automatic", "denied", "denied"),
        ({"visibility": "private", "quote_approval_policy": "public"}, NOBODY, "automatic", "denied", None),
        ({"visibility": "direct", "status": "@bob"}, NOBODY, "denied", "denied", None),
        ({"visibility": "limited", "status": "@bob"}, NOBODY, "automatic", "denied", None),
    ],
)
def test_the_quote_approval_depends_on_policy_visibility_and_viewer(
    alice: Account,
    bob: Account,
    carol: Account,
    values: dict[str, Any],
    automatic: list[str],
    author: str,
    follower: str,
    stranger: str | None,
) -> None:
    follow(bob, alice)
    number = _posted(alice, **values)
    assert _approval(alice, number) == (automatic, [], author)
    assert _approval(bob, number) == (automatic, [], follower)
    if stranger is not None:
        assert _approval(carol, number) == (automatic, [], stranger)
        assert _approval(None, number) == (automatic, [], "denied")


def test_without_a_chosen_policy_the_authors_setting_is_used(alice: Account) -> None:
    assert (
        api_of(alice)
        .patch("/api/v1/accounts/update_credentials", {"source": {"quote_policy": "followers"}})
        .json()["source"]["quote_policy"]
        == "followers"
    )
    assert api_of(alice).get("/api/v1/preferences").json()["posting:default:quote_policy"] == "followers"
    assert _approval(alice, _posted(alice))[0] == FOLLOWERS
    assert _approval(alice, _posted(alice, quote_approval_policy="nobody"))[0] == NOBODY


@pytest.mark.parametrize("word", ["odd", "Public", "following", "x" * 5000])
def test_an_unknown_quote_policy_is_refused_and_nothing_is_written(alice: Account, word: str) -> None:
    number = _posted(alice)
    for response in (
        api_of(alice).post(STATUSES, {"status": "x", "quote_approval_policy": word}),
        api_of(alice).put(f"{STATUSES}/{number}/interaction_policy", {"quote_approval_policy": word}),
    ):
        assert (response.status_code, response.json()) == (422, {"error": "Record invalid"})
    assert Status.objects.count() == 1
    assert _approval(alice, number)[0] == PUBLIC


def test_a_boost_shows_who_may_quote_the_boosted_post(alice: Account, bob: Account) -> None:
    number = _posted(alice, quote_approval_policy="nobody")
    boost = make_reblog(bob, Status.objects.get(id=number))
    body = api_of(bob).get(f"{STATUSES}/{boost.id}").json()
    assert body["quote_approval"] == body["reblog"]["quote_approval"]
    assert body["quote_approval"] == {"automatic": [], "manual": [], "current_user": "denied"}


def test_the_author_changes_who_may_quote_a_post(alice: Account, bob: Account) -> None:
    number = _posted(alice)
    api = api_of(alice)
    path = f"{STATUSES}/{number}/interaction_policy"
    body = api.put(path, {"quote_approval_policy": "followers"}).json()
    check("StatusOfUser", body)
    assert body["quote_approval"] == {"automatic": FOLLOWERS, "manual": [], "current_user": "automatic"}
    assert _approval(bob, number) == (FOLLOWERS, [], "denied")
    User.objects.filter(account=alice).update(default_quote_policy="nobody")
    assert api.put(path).json()["quote_approval"]["automatic"] == NOBODY
    assert body["edited_at"] is None


def test_a_private_post_cannot_be_quoted_whatever_policy_is_requested(alice: Account) -> None:
    number = _posted(alice, visibility="private")
    response = api_of(alice).put(f"{STATUSES}/{number}/interaction_policy", {"quote_approval_policy": "public"})
    assert (response.status_code, response.json()["quote_approval"]["automatic"]) == (200, NOBODY)


def test_only_the_author_changes_who_may_quote_a_post(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    hidden = make_status(alice, visibility="private")
    sent = {"quote_approval_policy": "nobody"}
    answers = [
        (api_of(bob).put(f"{STATUSES}/{status.id}/interaction_policy", sent), 403, "This action is not allowed"),
        (api_of(bob).put(f"{STATUSES}/{make_reblog(bob, status).id}/interaction_policy", sent), 403, None),
        (api_of(bob).put(f"{STATUSES}/{hidden.id}/interaction_policy", sent), 404, "Record not found"),
        (api_of(bob).put(f"{STATUSES}/1/interaction_policy", sent), 404, "Record not found"),
    ]
    for response, code, error in answers:
        assert response.status_code == code
        assert error is None or response.json() == {"error": error}
    assert _approval(bob, status.id)[0] == PUBLIC


def test_remote_policies_show_the_groups_that_need_manual_approval(alice: Account) -> None:
    eve = make_remote()
    number = make_remote_status(eve).id

    def shown(automatic: Group, manual: Group) -> tuple[list[str], list[str], str]:
        Status.objects.filter(id=number).update(quote_policy=encode_policy(automatic, manual))
        return _approval(alice, number)

    none = NO_GROUP
    assert shown(none, none) == ([], [], "denied")
    assert shown(none, Group.PUBLIC) == ([], ["public"], "manual")
    assert shown(Group.FOLLOWERS | Group.FOLLOWING, none) == (["followers", "following"], [], "denied")
    assert shown(Group.UNSUPPORTED_POLICY, none) == (["unsupported_policy"], [], "unknown")
    assert shown(Group.FOLLOWERS, Group.PUBLIC) == (["followers"], ["public"], "manual")
    follow(eve, alice)
    assert shown(Group.FOLLOWERS | Group.FOLLOWING, none)[2] == "automatic"
    assert shown(Group.FOLLOWERS, Group.FOLLOWING)[2] == "manual"
    follow(alice, eve)
    assert shown(Group.FOLLOWERS, Group.FOLLOWING)[2] == "automatic"
