"""Tests of the single notification about follows ended by a block or a suspension, and of downloading the lists."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.events import FollowsSevered
from accounts.models import Follow, Severance, SeveredAccount, SeveredFollow, User
from accounts.policies.staff import OPERATOR
from accounts.services import severing
from accounts.services.blocking import block_domain, unblock_domain
from accounts.services.erasing import delete_account
from accounts.services.sanctions import REVERSAL_PERIOD, erase_suspended, suspend_account, unsuspend_account
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services import domain_rules
from notifications.services import severances
from social.kernel import clock
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.statuses import follow
from tests.support.client import Api, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
SERVER = "bad.example"


def suspend_server(domain: str = SERVER) -> None:
    domain_rules.create_rule(by=OPERATOR, domain=domain, draft=DomainRuleDraft(severity="suspend"))
    work()


def notified(user: User) -> list[dict[str, Any]]:
    answer = Api(make_token(user)).get("/api/v1/notifications")
    assert answer.status_code == 200, answer.content
    body: list[dict[str, Any]] = answer.json()
    return body


def event_of(user: User) -> dict[str, Any]:
    (one,) = notified(user)
    assert (one["type"], one["account"]["id"]) == ("severed_relationships", str(user.account_id))
    event: dict[str, Any] = one["event"]
    return event


@pytest.fixture
def bob() -> User:
    return make_user("bob")


def test_the_suspension_of_a_server_notifies_each_user_of_their_lost_follows(ann: User, bob: User) -> None:
    carol = make_user("carol")
    zoe, yan = make_remote("zoe", SERVER), make_remote("yan", f"sub.{SERVER}")
    for follower, target in ((ann.account, zoe), (ann.account, yan), (zoe, ann.account), (yan, bob.account)):
        follow(follower, target)
    suspend_server()
    severed = SeveredAccount.objects.get(account=ann.account)
    assert event_of(ann) | {"created_at": ""} == {
        "id": str(severed.id),
        "type": "domain_block",
        "purged": False,
        "target_name": SERVER,
        "followers_count": 1,
        "following_count": 2,
        "created_at": "",
    }
    assert (event_of(bob)["followers_count"], event_of(bob)["following_count"]) == (1, 0)
    assert notified(carol) == []
    assert Severance.objects.count() == 1, "the action creates one severance"


def test_a_users_block_of_a_server_and_a_suspended_account_notify_of_lost_follows_too(ann: User, bob: User) -> None:
    fan, friend, other = make_remote("fan"), make_remote("friend"), make_remote("other", "other.example")
    follow(fan, ann.account)
    follow(ann.account, friend)
    follow(other, bob.account)
    follow(bob.account, other)
    block_domain(account=ann.account, domain="remote.example")
    suspend_account(by=OPERATOR, account=other)
    work()
    event = event_of(ann)
    assert (event["type"], event["target_name"]) == ("user_domain_block", "remote.example")
    assert (event["followers_count"], event["following_count"]) == (1, 1)
    event = event_of(bob)
    assert (event["type"], event["target_name"]) == ("account_suspension", "other@other.example")
    assert (event["followers_count"], event["following_count"]) == (1, 0), "the other follow remains"


def test_accounts_that_lose_no_follow_are_not_notified(ann: User) -> None:
    make_remote("zoe", SERVER)
    suspend_server()
    block_domain(account=ann.account, domain="remote.example")
    work()
    assert notified(ann) == []
    assert not Severance.objects.exists()


def test_many_follows_end_in_batches_and_each_user_is_notified_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module, size in ((severing, 3), (domain_rules, 2), (severances, 2)):
        monkeypatch.setattr(module, "BATCH_SIZE", size)
    people, strangers = [make_user() for _ in range(5)], [make_remote(domain=SERVER) for _ in range(5)]
    for person in people:
        for stranger in strangers:
            follow(person.account, stranger)
            follow(stranger, person.account)
    suspend_server()
    assert not Follow.objects.exists()
    assert [(event_of(one)["followers_count"], event_of(one)["following_count"]) for one in people] == [(5, 5)] * 5
    assert SeveredFollow.objects.count() == 50


def test_a_repeated_severance_notifies_nobody_twice(ann: User) -> None:
    follow(make_remote("zoe", SERVER), ann.account)
    suspend_server()
    before = event_of(ann)
    rule = domain_rules.DomainRule.objects.get()
    domain_rules.end_follows([domain_rules.ServerSuspended(domain=SERVER, rule_id=rule.id)])
    severances.notify_severed([FollowsSevered(cause=Severance.objects.get().cause)])
    work()
    assert event_of(ann) == before


def test_a_follow_renewed_while_others_are_ended_is_kept_and_counted_once(ann: User) -> None:
    zoe = make_remote("zoe")
    for _time in range(2):
        follow(zoe, ann.account)
        act = severing._Act(severing.SeveranceType.USER_DOMAIN_BLOCK, "user_domain_block:1", "remote.example")
        severing._sever(act, severing.Q(account_id=zoe.id), is_here=ann.account_id.__eq__)
    assert SeveredAccount.objects.get().followers_count == 1
    assert SeveredFollow.objects.count() == 1


def test_an_immediately_undone_suspension_ends_no_follows(ann: User) -> None:
    zoe = make_remote("zoe")
    follow(zoe, ann.account)
    suspend_account(by=OPERATOR, account=zoe)
    unsuspend_account(by=OPERATOR, account=zoe)
    work()
    assert Follow.objects.count() == 1
    assert notified(ann) == []


def test_the_suspension_of_a_server_also_ends_follows_of_accounts_suspended_before(ann: User) -> None:
    zoe = make_remote("zoe", SERVER)
    follow(ann.account, zoe)
    suspend_account(by=OPERATOR, account=zoe)
    work()
    assert Follow.objects.exists()
    suspend_server()
    assert not Follow.objects.exists()
    assert event_of(ann)["following_count"] == 1


def test_blocking_a_server_again_notifies_again(ann: User) -> None:
    for _time in range(2):
        follow(make_remote(), ann.account)
        block_domain(account=ann.account, domain="remote.example")
        work()
        unblock_domain(account=ann.account, domain="remote.example")
        work()
    assert [one["event"]["followers_count"] for one in notified(ann)] == [1, 1]


def test_ending_twenty_follows_costs_as_many_statements_as_ending_five(ann: User) -> None:
    def cost(count: int) -> int:
        domain = f"d{count}.example"
        for number in range(count):
            stranger = make_remote(domain=domain)
            follow(stranger, ann.account)
            if number % 2:
                follow(ann.account, stranger)
        block_domain(account=ann.account, domain=domain)
        block = ann.account.domain_blocks.get(domain=domain)
        with CaptureQueriesContext(connection) as caught:
            severing.sever_blocked_domains(
                [severing.DomainBlocked(account_id=ann.account_id, domain=domain, block_id=block.id)]
            )
        assert not Follow.objects.filter(account__domain=domain).exists()
        return len(caught)

    cost(3)  # the first query of a connection prepares the statement
    assert cost(5) == cost(20)


def test_lists_of_lost_follows_are_kept_until_the_account_is_deleted(
    ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    fan = make_remote("fan")
    follow(fan, ann.account)
    follow(ann.account, fan)
    suspend_account(by=OPERATOR, account=fan)
    work()
    assert (event_of(ann)["followers_count"], event_of(ann)["following_count"]) == (1, 0)
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + REVERSAL_PERIOD)
    assert erase_suspended() == 1
    work()
    assert not Follow.objects.exists()
    event = event_of(ann)
    assert (event["followers_count"], event["following_count"], event["purged"]) == (1, 1, False)
    assert SeveredFollow.objects.count() == 2
    delete_account(by=OPERATOR, account=fan)
    work()
    assert not SeveredFollow.objects.exists()
    assert event_of(ann)["purged"], "a deleted list is shown as purged"
    browser = signed_in(ann)
    page = browser.get("/severed_relationships").content.decode()
    assert "The lists are gone" in page
    assert ".csv" not in page


def test_accounts_that_lose_follows_by_an_erasure_are_notified(
    ann: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(ann.account, bob.account)
    suspend_account(by=OPERATOR, account=bob.account)
    work()
    assert notified(ann) == []
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + REVERSAL_PERIOD)
    assert erase_suspended() == 1
    work()
    event = event_of(ann)
    assert (event["type"], event["target_name"], event["following_count"]) == ("account_suspension", "bob", 1)


def test_row_20_lost_follows_are_shown_to_their_owner_only(ann: User, bob: User) -> None:
    fan = make_remote("fan", SERVER)
    follow(fan, ann.account)
    follow(fan, bob.account)
    suspend_server()
    other, one = Api(make_token(make_user("other"))), notified(ann)[0]
    assert other.get(f"/api/v1/notifications/{one['id']}").status_code == 404
    browser = signed_in(bob)
    for name in ("severed_following", "severed_followers"):
        path = reverse(name, args=[one["event"]["id"]])
        assert browser.get(path).status_code == 404
    ann_browser = signed_in(ann)
    answer: Any = ann_browser.get(reverse("severed_followers", args=[one["event"]["id"]]))
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines == ["Account address", f"fan@{SERVER}"], (
        "the id of the notification's event leads to the user's own list"
    )
