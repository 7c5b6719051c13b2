"""Tests that the entity of a user's own account is up to date although each process caches its encoded form."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils.timezone import now

from accounts.emojis.models import CustomEmoji
from accounts.models import Account, AccountStat, FollowRequest, Role, User
from tests.factories.accounts import make_account
from tests.support.client import Api
from tests.support.entities import check

pytestmark = pytest.mark.django_db
Change = Callable[[User], Any]


def shown(api: Api) -> dict[str, Any]:
    answer = api.get("/api/v1/accounts/verify_credentials")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    check("CredentialAccount", found)
    return found


def _account(**values: Any) -> Change:
    return lambda user: Account.objects.filter(id=user.account_id).update(**values)


def _user(**values: Any) -> Change:
    return lambda user: User.objects.filter(id=user.id).update(**values)


def _counters(**values: Any) -> Change:
    return lambda user: AccountStat.objects.update_or_create(account_id=user.account_id, defaults=values)


@pytest.mark.parametrize(
    ("change", "place", "value"),
    [
        (_account(display_name="Ann B."), ("display_name",), "Ann B."),
        (_account(note="typed", note_html="<p>typed</p>"), ("source", "note"), "typed"),
        (_account(limited_at=now()), ("limited",), True),
        (_user(default_privacy="private"), ("source", "privacy"), "private"),
        (_user(default_sensitive=True), ("source", "sensitive"), True),
        (_user(preferences={"noindex": True}), ("noindex",), True),
        (_user(role=3), ("role", "id"), "3"),
        (lambda user: Role.objects.filter(id=user.role_id).update(name="Folk"), ("role", "name"), "Folk"),
        (_counters(followers_count=7), ("followers_count",), 7),
        (_counters(statuses_count=8, last_status_at=now()), ("statuses_count",), 8),
    ],
)
def test_a_change_of_any_row_is_visible_in_the_next_response(
    api: Api, ann: User, change: Change, place: Any, value: Any
) -> None:
    before = shown(api)
    assert shown(api) == before
    change(ann)
    found: Any = shown(api)
    for step in place:
        found, before = found[step], before.get(step)
    assert found == value != before


def test_new_follow_requests_are_counted_immediately(api: Api, ann: User) -> None:
    assert shown(api)["source"]["follow_requests_count"] == 0
    FollowRequest.objects.create(account=make_account(), target=ann.account, uri="https://remote.example/1")
    again = shown(api)
    assert (again["source"]["follow_requests_count"], again["username"]) == (1, "ann")


def test_counters_are_never_below_zero(api: Api, ann: User) -> None:
    _counters(followers_count=-1, following_count=-1, statuses_count=-1)(ann)
    account = shown(api)
    assert [account[f"{name}_count"] for name in ("followers", "following", "statuses")] == [0, 0, 0]


def test_a_disabled_custom_emoji_disappears_immediately(api: Api, ann: User) -> None:
    emoji = CustomEmoji.objects.create(shortcode="cat", image="cat.png")
    _account(display_name="Ann :cat:")(ann)
    assert [found["shortcode"] for found in shown(api)["emojis"]] == ["cat"]
    CustomEmoji.objects.filter(id=emoji.id).update(disabled=True)
    assert shown(api)["emojis"] == []


def test_every_request_for_ones_own_account_takes_one_query(
    api: Api, ann: User, django_assert_num_queries: Any
) -> None:
    shown(api)
    for _number in range(2):
        with django_assert_num_queries(1):
            shown(api)
