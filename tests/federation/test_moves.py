"""Tests of accounts that move between servers, with their followers (contract, federation sections 7 and 15)."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine

from accounts.models import Account, Block, Follow, FollowRequest, User
from accounts.services.blocking import block_account
from accounts.transfers.models import Move
from accounts.transfers.services.moving import cancel_move, move_account
from federation.models import InboundActivity
from federation.remote.actors import fetch_actor, refresh
from social.kernel import clock
from social.kernel.outbox import OutboxRow
from tests.factories.accounts import make_account
from tests.federation.activities import deal, introduced, remote
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work
from timelines.models import List, ListMember

pytestmark = pytest.mark.django_db


@pytest.fixture
def zora(elsewhere: RemoteServer, zoe: RemotePerson) -> RemotePerson:
    """Zoe's new account, which has the old one as an alias."""
    return elsewhere.person("zora", key=2, alsoKnownAs=[zoe.uri])


def move(someone: RemotePerson, target: str) -> dict[str, Any]:
    return someone.activity("Move", someone.uri, target=target)


def shown(account: Account) -> Any:
    entity = Api().get(f"/api/v1/accounts/{account.id}").json()
    return entity["moved"]["uri"] if "moved" in entity else None


def test_the_move_of_a_local_account_is_sent_to_every_follower(
    elsewhere: RemoteServer, alice: Account, zoe: RemotePerson, zoe_here: Account
) -> None:
    user = User.objects.get(account=alice)
    new = elsewhere.person("alicia", key=2, alsoKnownAs=[alice.uri])
    target = fetch_actor(new.uri)
    work()
    elsewhere.asked.clear()
    made = move_account(user=user, target=target)
    work()
    sent = {activity["type"]: activity for activity in elsewhere.delivered()}
    assert sent["Move"] == {
        "@context": "https://www.w3.org/ns/activitystreams",
        "id": f"{alice.uri}#moves/{made.id}",
        "type": "Move",
        "actor": alice.uri,
        "object": alice.uri,
        "target": new.uri,
    }
    assert sent["Update"]["object"]["movedTo"] == new.uri
    document = Api().get("/users/alice", headers={"Accept": ACTIVITY}).json()
    assert document["movedTo"] == new.uri
    assert document["@context"][-1]["movedTo"] == {"@id": "as:movedTo", "@type": "@id"}
    yan = elsewhere.person("yan", key=2)
    answer = yan.send(yan.activity("Follow", alice.uri))
    work()
    assert (answer.status_code, elsewhere.delivered()[-1]["type"]) == (202, "Reject"), (
        "an account that has moved cannot be followed"
    )
    cancel_move(user=user)
    work()
    assert "movedTo" not in elsewhere.delivered()[-1]["object"]


def test_local_followers_of_a_moved_remote_account_follow_its_new_account(
    elsewhere: RemoteServer, zoe: RemotePerson, zora: RemotePerson, alice: Account
) -> None:
    account, carol = introduced(zoe, alice), make_account("carol")
    Follow.objects.update(uri="http://social.localhost/follows/1")
    block_account(account=carol, target=account)
    friends = List.objects.create(account=alice, title="Friends")
    ListMember.objects.create(list=friends, account=account)
    work()
    elsewhere.asked.clear()
    assert deal(zoe, move(zoe, zora.uri)) == "done"
    work()
    assert shown(account) == zora.uri
    new = remote(zora)
    assert FollowRequest.objects.get(account=alice).target == new
    assert Block.objects.filter(account=carol, target=new).exists()
    assert set(ListMember.objects.values_list("account", flat=True)) == {new.id}
    sent = [(item["type"], item["actor"]) for item in elsewhere.delivered() if item["actor"] == alice.uri]
    assert ("Follow", alice.uri) in sent
    assert not Follow.objects.filter(target=account).exists()
    follow = elsewhere.delivered("Follow")[0]
    assert deal(zora, zora.activity("Accept", follow)) == "done"
    assert Follow.objects.filter(account=alice, target=new).exists()


def test_local_followers_follow_an_account_that_moves_here(zoe: RemotePerson, alice: Account) -> None:
    account = introduced(zoe, alice)
    home = make_account("newhome")
    assert deal(zoe, move(zoe, home.uri)).startswith("rejected"), "the new account does not list the old one yet"
    Account.objects.filter(id=home.id).update(also_known_as=[zoe.uri])
    assert deal(zoe, move(zoe, home.uri)) == "done"
    assert Follow.objects.get(account=alice).target == home
    assert shown(account) == home.uri


def test_row_08_a_move_by_another_actor_or_without_an_alias_is_refused(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    account = introduced(zoe, alice)
    mallory = elsewhere.person("mallory", key=2, alsoKnownAs=[zoe.uri])
    fetch_actor(mallory.uri)
    stranger = elsewhere.person("stranger", key=2)
    loop = zoe.activity("Move", zoe.uri, target=zoe.uri)
    for someone, activity in (
        (mallory, mallory.activity("Move", zoe.uri, target=mallory.uri)),
        (zoe, move(zoe, stranger.uri)),
        (zoe, move(zoe, elsewhere.uri("users/nobody"))),
        (zoe, loop),
        (zoe, zoe.activity("Move", zoe.uri)),
        (zoe, move(zoe, alice.uri)),
    ):
        assert deal(someone, activity).startswith("rejected"), activity
    assert not Move.objects.exists()
    assert shown(account) is None
    assert Follow.objects.get(account=alice).target == account


def test_an_alias_added_a_moment_ago_counts_once_the_account_can_be_fetched_again(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    account = introduced(zoe, alice)
    zora = elsewhere.person("zora", key=2)
    fetch_actor(zora.uri)
    work()
    elsewhere.serve(zora.document() | {"alsoKnownAs": [zoe.uri]})
    assert deal(zoe, move(zoe, zora.uri)) == "waiting: the new account was fetched a moment ago"
    with time_machine.travel(clock.now() + timedelta(minutes=2), tick=False):
        OutboxRow.objects.update(due_at=clock.now() - timedelta(hours=1))
        work()
        assert InboundActivity.objects.latest("id").outcome == "done"
    assert shown(account) == zora.uri


def test_a_remote_account_can_move_once_a_week(
    elsewhere: RemoteServer, zoe: RemotePerson, zora: RemotePerson, alice: Account
) -> None:
    account = introduced(zoe, alice)
    third = elsewhere.person("third", key=2, alsoKnownAs=[zoe.uri])
    assert deal(zoe, move(zoe, zora.uri)) == "done"
    assert deal(zoe, move(zoe, third.uri)).startswith("refused")
    assert shown(account) == zora.uri
    with time_machine.travel(clock.now() + timedelta(days=7, minutes=1), tick=False):
        assert deal(zoe, move(zoe, third.uri)) == "done"
    assert shown(account) == third.uri


def test_a_profile_shows_its_new_account_if_both_accounts_confirm_the_move(
    elsewhere: RemoteServer, zoe: RemotePerson, zora: RemotePerson, alice: Account
) -> None:
    stranger = elsewhere.person("stranger", key=2)
    for target, expected in (
        (stranger.uri, None),
        (elsewhere.uri("users/nobody"), None),
        (7, None),
        (zoe.uri, None),
        (zora.uri, zora.uri),
        (None, None),
    ):
        elsewhere.serve(zoe.document() | {"movedTo": target})
        account = fetch_actor(zoe.uri)
        assert shown(account) == expected, target
    # The two accounts claim to have moved to each other; fetching them must not loop.
    elsewhere.serve(zora.document() | {"alsoKnownAs": [zoe.uri], "movedTo": zoe.uri})
    Account.objects.filter(uri=zora.uri).delete()
    elsewhere.asked.clear()
    elsewhere.serve(zoe.document() | {"movedTo": zora.uri, "alsoKnownAs": [zora.uri]})
    assert shown(refresh(account)) == zora.uri
    assert len(elsewhere.gets()) < 6


def test_an_update_sets_and_clears_moved_to_but_a_cached_document_does_not_clear_it(
    elsewhere: RemoteServer, zoe: RemotePerson, zora: RemotePerson, alice: Account
) -> None:
    account = introduced(zoe, alice)
    assert deal(zoe, zoe.activity("Update", zoe.document() | {"movedTo": zora.uri})) == "done"
    assert shown(account) == zora.uri
    assert Follow.objects.get(account=alice).target == account, "only a Move moves followers"
    assert deal(zoe, zoe.activity("Update", zoe.document())) == "done"
    assert shown(account) is None
    assert deal(zoe, move(zoe, zora.uri)) == "done"
    assert shown(refresh(account)) == zora.uri, "the server may return a cached document that is three minutes old"
    with time_machine.travel(clock.now() + timedelta(minutes=4), tick=False):
        assert shown(refresh(account)) is None
