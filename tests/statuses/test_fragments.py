"""Tests of encoded bodies in the cache: every change is visible immediately. There is one test for each kind of change. The
bodies of posts and accounts are cached for ten minutes, with the version of the row in the key.
"""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.identity.services.staff import find_role, set_role
from accounts.models import Account
from accounts.policies.staff import OPERATOR
from accounts.services.changing import change_account
from accounts.services.profiles import ProfileChange, update_profile
from accounts.services.remote_accounts import RemoteProfile, store_remote_account
from social.kernel import clock
from statuses.models import Status
from statuses.serializers.presenting import present_statuses
from statuses.services.changing import change_statuses
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import follow, make_favourite, make_reblog, make_status
from tests.support.work import work

pytestmark = pytest.mark.django_db


def _shown(status: Status, viewer_id: int | None = None) -> dict[str, Any]:
    (entity,) = orjson.loads(orjson.dumps(present_statuses([status.id], viewer_id)))
    return entity


def _warm(status: Status) -> dict[str, Any]:
    """Load the post twice, and check by the number of queries that the second body is from the cache."""
    first = _shown(status)
    with CaptureQueriesContext(connection) as captured:
        assert _shown(status) == first
    assert len(captured.captured_queries) == 1
    return first


def _changes(status: Status, change: Callable[[], Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    before = _warm(status)
    change()
    after = _shown(status)
    assert after != before
    return before, after


def test_a_cached_post_equals_the_uncached_one(alice: Account) -> None:
    status = make_status(alice, '"quoted" \\ <b> & 日本語 🎉 #tag')
    assert _warm(status)["content"] == Status.objects.get(id=status.id).content


def test_boosts_show_the_cached_body_of_the_boosted_post(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    _warm(status)
    reblog = make_reblog(bob, status)
    shown = _shown(reblog)
    assert shown["reblog"] == _shown(status)


def test_counts_are_never_cached(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    _before, after = _changes(status, lambda: make_favourite(bob, status))
    assert after["favourites_count"] == 1
    _before, after = _changes(status, lambda: make_status(alice))
    assert after["account"]["statuses_count"] == 2


def test_marks_are_never_cached(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    make_favourite(bob, status)
    assert _shown(status, bob.id)["favourited"] is True
    assert _shown(status, alice.id)["favourited"] is False
    assert "favourited" not in _shown(status)


def test_a_changed_post_is_visible_immediately(alice: Account) -> None:
    status = make_status(alice)
    after = _changes(status, lambda: change_statuses([status.id], content="<p>changed</p>"))[1]
    assert after["content"] == "<p>changed</p>"


def test_a_changed_profile_is_visible_with_every_post() -> None:
    user = make_user("dora")
    status = make_status(user.account)
    after = _changes(status, lambda: update_profile(user=user, change=ProfileChange(display_name="New")))[1]
    assert after["account"]["display_name"] == "New"


def test_a_changed_role_is_visible_with_every_post() -> None:
    user = make_user("dora")
    status = make_status(user.account)
    before, after = _changes(status, lambda: set_role(by=OPERATOR, user=user, role=find_role("Moderator")))
    assert ([role["name"] for role in before["account"]["roles"]], len(after["account"]["roles"])) == ([], 1)
    assert _changes(status, lambda: set_role(by=OPERATOR, user=user, role=None))[1]["account"]["roles"] == []


def test_a_mentioned_account_that_is_renamed_elsewhere_is_shown_by_its_new_name(
    alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("statuses.services.changing.BATCH_SIZE", 2)
    eve = make_remote("eve")
    posts = [make_status(alice, f"@eve@remote.example {number}") for number in range(5)]
    profile = RemoteProfile(
        uri=eve.uri,
        username="evelyn",
        domain="remote.example",
        url="https://remote.example/@evelyn",
        actor_type="Person",
        inbox_url=eve.inbox_url,
    )
    for status in posts:
        _warm(status)
    store_remote_account(profile=profile, keys=[])
    work()
    for status in posts:
        (mention,) = _shown(status)["mentions"]
        assert (mention["acct"], mention["url"]) == ("evelyn@remote.example", "https://remote.example/@evelyn")


def test_limiting_or_sensitizing_an_account_is_visible_immediately(alice: Account) -> None:
    status = make_status(alice)
    moment = clock.now()
    after = _changes(status, lambda: change_account(alice.id, limited_at=moment, sensitized_at=moment))[1]
    assert (after["account"]["limited"], after["sensitive"]) == (True, True)


def test_suspension_and_deletion_hide_what_is_cached(alice: Account) -> None:
    status = make_status(alice)
    _warm(status)
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    assert present_statuses([status.id], None) == []
    Account.objects.filter(id=alice.id).update(suspended_at=None)
    Status.objects.filter(id=status.id).update(deleted_at=clock.now())
    assert present_statuses([status.id], alice.id) == []


def test_an_account_that_moved_is_not_cached_because_it_shows_another(alice: Account) -> None:
    target = make_account("target")
    Account.objects.filter(id=alice.id).update(moved_to=target, version=2)
    status = make_status(alice)
    assert _shown(status)["account"]["moved"]["acct"] == "target"
    follower = make_account()
    follow(follower, target)
    from accounts.models import AccountStat

    AccountStat.objects.update_or_create(account=target, defaults={"followers_count": 7})
    assert _shown(status)["account"]["moved"]["followers_count"] == 7
