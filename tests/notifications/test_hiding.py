"""Tests that notifications from hidden accounts or about unreadable posts are not shown (contract, behaviours 13 and 14)."""

import pytest

from accounts.models import Account, AccountDomainBlock
from notifications.models import Notification
from statuses.models import Mention
from tests.factories.accounts import make_remote
from tests.factories.statuses import follow, make_favourite, make_remote_status, make_status
from tests.notifications.people import Person
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("blocker", ["alice", "bob"])
def test_a_block_removes_the_notifications_of_both_about_each_other(
    alice: Person, bob: Person, carol: Person, blocker: str
) -> None:
    alice.post("@bob hello")
    bob.post("@alice hello")
    carol.post("@alice @bob hello")
    assert (alice.types(), bob.types()) == (["mention", "mention"], ["mention", "mention"])
    one, other = (alice, bob) if blocker == "alice" else (bob, alice)
    one.do(f"accounts/{other.id}/block")
    assert [note["account"]["acct"] for note in alice.notifications()] == ["carol"]
    assert [note["account"]["acct"] for note in bob.notifications()] == ["carol"]
    assert Notification.objects.count() == 2


def test_notifications_about_posts_that_became_unreadable_are_left_out(alice: Person, bob: Person) -> None:
    alice.do(f"accounts/{bob.id}/follow", {"notify": True})
    work()
    post = bob.post("for followers", visibility="private")
    (notified,) = alice.notifications()
    assert notified["status"]["id"] == post["id"]
    alice.do(f"accounts/{bob.id}/unfollow")
    assert alice.notifications() == []
    assert alice.api.get(f"/api/v1/notifications/{notified['id']}").status_code == 404
    assert Notification.objects.filter(account_id=alice.id).count() == 1


@pytest.mark.parametrize(("followed", "types"), [(False, []), (True, ["favourite", "mention"])])
def test_accounts_of_a_blocked_server_notify_only_their_followers(followed: bool, types: list[str]) -> None:
    alice = Person("alice")
    account = Account.objects.get(id=alice.id)
    eve = make_remote("eve", "loud.example")
    AccountDomainBlock.objects.create(account=account, domain="loud.example")
    if followed:
        follow(account, eve)
    make_remote_status(eve, "<p>@alice</p>", mentions=[account])
    make_favourite(eve, make_status(account))
    assert alice.types() == types
    assert Mention.objects.filter(account=account).count() == 1
