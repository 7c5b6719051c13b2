"""Tests of following, unfollowing and following again quickly: both servers agree in the end, whatever the order of arrival."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account, Follow, FollowRequest
from accounts.services.following import FollowChange, follow_account, unfollow_account
from federation.inbound import relationships
from federation.models import Delivery
from federation.outbound.delivering import DELIVERIES
from federation.remote.actors import fetch_actor
from social.kernel import clock
from social.kernel.locks import lock
from tests.federation.activities import deal
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.work import work

pytestmark = pytest.mark.django_db
Row = type[Follow] | type[FollowRequest]


@pytest.mark.parametrize(
    ("order", "last"),
    [
        ("F1 U1 F2", 2),
        ("F1 F2 U1", 2),
        ("U1 F1 F2", 2),
        ("U1 F2 F1", 2),
        ("F1 U1 F2 U2 F3", 3),
        ("F1 F2 U1 F3 U2", 3),
        ("F1 U1", None),
        ("U1 F1", None),
        ("F1 F2 U2", None),
        ("F1 F2 U1 U2", None),
        ("F1 U1 U2 F2", None),
    ],
)
@pytest.mark.parametrize("row", [Follow, FollowRequest])
def test_the_last_follow_or_undo_of_another_server_wins_in_any_order(
    zoe: RemotePerson, alice: Account, row: Row, order: str, last: int | None
) -> None:
    """Most servers deliver from several processes at the same time; therefore activities can arrive in any order."""
    Account.objects.filter(id=alice.id).update(locked=row is FollowRequest)
    follows = {number: zoe.activity("Follow", alice.uri) for number in (1, 2, 3)}
    for name in order.split():
        activity = follows[int(name[1])]
        deal(zoe, activity if name[0] == "F" else zoe.activity("Undo", activity))
    found = list(row._default_manager.values_list("uri", flat=True))
    assert found == ([follows[last]["id"]] if last is not None else [])


def test_an_undo_with_another_id_of_the_follow_ends_the_follow(zoe: RemotePerson, alice: Account) -> None:
    """Some servers give the Follow inside an Undo a new id each time; the follow must end anyway."""
    deal(zoe, zoe.activity("Follow", alice.uri))
    assert deal(zoe, zoe.activity("Undo", zoe.activity("Follow", alice.uri))) == "done"
    assert not Follow.objects.exists()


@pytest.fixture
def target(zoe: RemotePerson, alice: Account) -> Account:
    return fetch_actor(zoe.uri)


def delivered(elsewhere: RemoteServer) -> list[dict[str, Any]]:
    """Make all deliveries due, run them, and return the delivered activities."""
    while Delivery.objects.exists():
        Delivery.objects.update(due_at=clock.now() - timedelta(seconds=1))
        DELIVERIES.run()
    return elsewhere.delivered()


@pytest.mark.parametrize("worked", [True, False])
def test_the_last_follow_is_sent_last_and_after_a_delay(
    elsewhere: RemoteServer, alice: Account, target: Account, worked: bool
) -> None:
    """Other servers process activities in any order, so the last one is sent after a delay."""
    follow_account(account=alice, target=target, change=FollowChange())
    if worked:
        work()
    unfollow_account(account=alice, target=target)
    if worked:
        work()
    follow_account(account=alice, target=target, change=FollowChange())
    work()
    due = list(Delivery.objects.order_by("id").values_list("due_at", flat=True))
    assert len(due) == 2
    assert due[1] - due[0] >= timedelta(seconds=2)
    sent = delivered(elsewhere)
    assert [item["type"] for item in sent] == (["Follow"] if worked else []) + ["Undo", "Follow"]
    assert sent[-1]["id"] == FollowRequest.objects.get().uri != sent[-2]["object"]["id"]


def test_an_answer_to_an_undone_follow_does_not_answer_the_next_follow(
    zoe: RemotePerson, elsewhere: RemoteServer, alice: Account, target: Account
) -> None:
    """Security row 16: the target may not have decided on the second request yet."""
    follow_account(account=alice, target=target, change=FollowChange())
    work()
    (first,) = elsewhere.delivered()
    unfollow_account(account=alice, target=target)
    follow_account(account=alice, target=target, change=FollowChange())
    work()
    second = delivered(elsewhere)[-1]
    for kind in ("Accept", "Reject"):
        for named in (first, first["id"]):
            assert deal(zoe, zoe.activity(kind, named)).startswith("rejected")
    assert (FollowRequest.objects.count(), Follow.objects.count()) == (1, 0)
    assert deal(zoe, zoe.activity("Accept", second)) == "done"
    assert Follow.objects.get().uri == second["id"]
    assert deal(zoe, zoe.activity("Reject", first)).startswith("rejected")
    assert Follow.objects.exists()
    assert deal(zoe, zoe.activity("Reject", second["id"])) == "done"
    assert not Follow.objects.exists()


@pytest.mark.parametrize("kind", ["Accept", "Reject"])
def test_an_answer_does_not_apply_to_a_follow_that_replaces_the_answered_one_meanwhile(
    zoe: RemotePerson,
    elsewhere: RemoteServer,
    alice: Account,
    target: Account,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    follow_account(account=alice, target=target, change=FollowChange())
    work()
    (first,) = elsewhere.delivered()

    def lock_late(name: str) -> None:
        unfollow_account(account=alice, target=target)
        follow_account(account=alice, target=target, change=FollowChange())
        lock(name)

    monkeypatch.setattr(relationships, "lock", lock_late)
    assert deal(zoe, zoe.activity(kind, first["id"])) == "done"
    assert FollowRequest.objects.get().uri != first["id"]
    assert not Follow.objects.exists()


def test_an_accept_without_the_id_of_the_follow_is_matched_by_its_accounts(
    zoe: RemotePerson, elsewhere: RemoteServer, alice: Account, target: Account
) -> None:
    follow_account(account=alice, target=target, change=FollowChange())
    embedded = {"type": "Follow", "actor": alice.uri, "object": zoe.uri}
    assert deal(zoe, zoe.activity("Accept", embedded)) == "done"
    assert Follow.objects.get().target == target
