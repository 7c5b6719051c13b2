"""Tests of moving to another account: when it is allowed, its immediate effects, and which relations of local users are moved
to the new account.
"""

from datetime import timedelta
from typing import Any

import pytest
import time_machine

from accounts.models import Account, AccountNote, AccountStat, Block, Follow, FollowRequest, Mute, User
from accounts.ports import remote_accounts
from accounts.services.blocking import block_account, mute_account
from accounts.services.following import FollowChange, follow_account
from accounts.services.private import write_note
from accounts.transfers.models import Move
from accounts.transfers.services import moving
from accounts.transfers.services.moving import add_alias, cancel_move, move_account, next_move_at, remove_alias
from social.kernel import clock
from social.kernel.errors import Forbidden, Invalid, Unavailable
from social.kernel.outbox import OutboxRow, drain
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.support.at_once import at_once
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def old() -> User:
    return make_user("old")


@pytest.fixture
def new(old: User) -> Account:
    """Create the account to move to, which has the old one as an alias."""
    account = make_account("new")
    add_alias(account=account, alias=old.account)
    return Account.objects.get(id=account.id)


def code_of(refused: Any) -> str:
    (found,) = refused.value.extra["details"].values()
    return str(found[0]["error"])


def test_a_user_can_list_other_accounts_as_aliases(old: User) -> None:
    account, other = make_account("new"), make_remote("far")
    for alias in (old.account, other, old.account):
        add_alias(account=account, alias=alias)
    account.refresh_from_db()
    assert account.also_known_as == [old.account.uri, other.uri]
    assert OutboxRow.objects.filter(event="ProfileUpdated").exists()
    remove_alias(account=account, uri=other.uri)
    remove_alias(account=account, uri=other.uri)
    account.refresh_from_db()
    assert account.also_known_as == [old.account.uri]
    with pytest.raises(Invalid) as refused:
        add_alias(account=account, alias=account)
    assert code_of(refused) == "ERR_SELF"


def test_row_33_the_number_of_aliases_is_limited() -> None:
    account = make_account()
    for _ in range(moving.ALIASES_LIMIT):
        add_alias(account=account, alias=make_remote())
    with pytest.raises(Invalid) as refused:
        add_alias(account=account, alias=make_remote())
    assert code_of(refused) == "ERR_TOO_MANY"


def test_a_moved_account_shows_its_new_account_and_cannot_be_followed(old: User, new: Account) -> None:
    token = make_token(old)
    assert Api(token).get("/api/v1/timelines/home").status_code == 200
    move = move_account(user=old, target=new)
    assert (move.target_address, move.followers_count) == ("new", 0)
    shown = Api().get(f"/api/v1/accounts/{old.account_id}").json()
    assert shown["moved"]["acct"] == "new"
    assert "moved" not in shown["moved"]
    with pytest.raises(Forbidden):
        follow_account(account=make_account(), target=Account.objects.get(id=old.account_id), change=FollowChange())


@pytest.mark.django_db(transaction=True)
def test_tokens_of_a_moved_account_are_refused_where_a_user_is_needed(old: User, new: Account) -> None:
    token = make_token(old)
    assert Api(token).get("/api/v1/timelines/home").status_code == 200
    move_account(user=old, target=new)
    assert Api(token).get("/api/v1/timelines/home").status_code == 403
    cancel_move(user=old)
    assert Api(token).get("/api/v1/timelines/home").status_code == 200


def test_a_cached_body_shows_the_move_and_its_end(old: User, new: Account) -> None:
    path = f"/api/v1/accounts/{old.account_id}"
    Api().get(path)
    move_account(user=old, target=new)
    assert Api().get(path).json()["moved"]["id"] == str(new.id)
    cancel_move(user=old)
    assert "moved" not in Api().get(path).json()


def test_a_move_is_refused_without_an_alias_to_unusable_accounts_and_a_second_time(old: User, new: Account) -> None:
    strange, gone = make_account("strange"), make_account("gone", suspended_at=clock.now())
    away = make_account("away", moved_to=new, also_known_as=[old.account.uri])
    for target, code in (
        (strange, "ERR_NO_ALIAS"),
        (gone, "ERR_NOT_FOUND"),
        (away, "ERR_MOVED"),
        (old.account, "ERR_SELF"),
    ):
        with pytest.raises(Invalid) as refused:
            move_account(user=old, target=target)
        assert code_of(refused) == code
    assert not Move.objects.exists()
    move_account(user=old, target=new)
    with pytest.raises(Invalid) as refused:
        move_account(user=old, target=new)
    assert code_of(refused) == "ERR_MOVED"
    cancel_move(user=old)
    with pytest.raises(Invalid) as refused:
        move_account(user=old, target=new)
    assert code_of(refused) == "ERR_TOO_SOON"
    moment = next_move_at(old.account)
    assert moment is not None
    with time_machine.travel(moment + timedelta(seconds=1)):
        move_account(user=old, target=new)


def test_two_accounts_cannot_move_to_each_other(old: User, new: Account) -> None:
    add_alias(account=old.account, alias=new)
    move_account(user=old, target=new)
    with pytest.raises(Invalid) as refused:
        move_account(user=User.objects.get(account=new), target=Account.objects.get(id=old.account_id))
    assert code_of(refused) == "ERR_MOVED"


@pytest.mark.django_db(transaction=True)
def test_only_one_of_two_simultaneous_moves_succeeds(old: User, new: Account) -> None:
    other = make_account("other", also_known_as=[old.account.uri])
    answers = at_once(2, lambda place: move_account(user=old, target=(new, other)[place]))
    assert sum(isinstance(answer, Invalid) for answer in answers) == 1
    assert Move.objects.count() == 1


class Elsewhere:
    """The remote server of the account to move to."""

    def __init__(self, names: list[str] | None) -> None:
        self.names = names

    def refresh(self, account: Account) -> Account:
        if self.names is None:
            raise Unavailable
        Account.objects.filter(id=account.id).update(also_known_as=self.names)
        return Account.objects.get(id=account.id)


@pytest.mark.parametrize("known", [True, False])
def test_the_alias_is_confirmed_by_the_other_server(old: User, known: bool) -> None:
    target = make_remote("new", also_known_as=[] if known else [old.account.uri])
    with remote_accounts.replaced(Elsewhere([old.account.uri] if known else [])):
        if known:
            move_account(user=old, target=target)
            assert Account.objects.get(id=old.account_id).moved_to == target
        else:
            with pytest.raises(Invalid) as refused:
                move_account(user=old, target=target)
            assert code_of(refused) == "ERR_NO_ALIAS"
    with remote_accounts.replaced(Elsewhere(None)), pytest.raises(Unavailable):
        move_account(user=make_user(), target=target)


def test_local_followers_follow_the_new_account_with_their_options(old: User, new: Account) -> None:
    fan, asker = make_account("fan"), make_account("asker")
    change = FollowChange(reblogs=False, notify=True, languages=["de"])
    for person in (fan, asker):
        follow_account(account=person, target=old.account, change=change)
    follow_account(account=new, target=old.account, change=FollowChange())
    Account.objects.filter(id=new.id).update(locked=True)
    follow_account(account=asker, target=new, change=FollowChange())
    move_account(user=old, target=new)
    work()
    request = FollowRequest.objects.get(account=fan, target=new)
    assert (request.show_reblogs, request.notify, request.languages) == (False, True, ["de"])
    assert FollowRequest.objects.get(account=asker, target=new).show_reblogs, (
        "the earlier request with other options is replaced"
    )
    assert list(Follow.objects.filter(target=old.account).values_list("account", flat=True)) == [new.id]
    assert AccountStat.objects.get(account=old.account).followers_count == 1


def test_a_move_updates_the_counts_and_ignores_the_follow_limit(
    old: User, new: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    fan = make_account("fan")
    follow_account(account=fan, target=old.account, change=FollowChange())
    monkeypatch.setattr("accounts.services.following.follow_limit", lambda count: 1)
    move_account(user=old, target=new)
    work()
    for account, counts in ((fan, (0, 1)), (old.account, (0, 0)), (new, (1, 0))):
        stat = AccountStat.objects.get(account=account)
        assert (stat.followers_count, stat.following_count) == counts


def test_followers_that_may_not_follow_the_new_account_are_kept_unchanged(old: User, new: Account) -> None:
    blocked, gone = make_account("blocked"), make_account("gone")
    for person in (blocked, gone):
        follow_account(account=person, target=old.account, change=FollowChange())
    block_account(account=new, target=blocked)
    Account.objects.filter(id=gone.id).update(suspended_at=clock.now())
    move_account(user=old, target=new)
    work()
    assert not Follow.objects.filter(target=new).exists()
    assert Follow.objects.filter(target=old.account).count() == 2


def test_blocks_mutes_and_notes_are_copied_to_the_new_account(old: User, new: Account) -> None:
    blocker, muter, friend, writer = (make_account(name) for name in ("blocker", "muter", "friend", "writer"))
    block_account(account=blocker, target=old.account)
    mute_account(account=muter, target=old.account, hide_notifications=False, duration=3600)
    write_note(account=writer, target=old.account, comment="from the old days")
    write_note(account=muter, target=old.account, comment="noisy")
    write_note(account=muter, target=new, comment="quiet")
    for act in (block_account, mute_account):
        act(account=friend, target=old.account)
    Follow.objects.create(account=friend, target=new)
    move_account(user=old, target=new)
    work()
    assert Block.objects.filter(account=blocker, target=new).exists()
    mute = Mute.objects.get(account=muter, target=new)
    assert mute.hide_notifications is False
    assert mute.expires_at is not None
    assert timedelta(minutes=50) < mute.expires_at - clock.now() <= timedelta(hours=1)
    notes = dict(AccountNote.objects.filter(target=new).values_list("account__username", "comment"))
    assert notes == {"writer": "from the old days", "muter": "quiet\nnoisy"}
    assert not Block.objects.filter(account=friend, target=new).exists(), (
        "followers of the new account need no copied block"
    )
    assert not Mute.objects.filter(account=friend, target=new).exists()


def test_followers_are_moved_in_steps_that_can_be_repeated(
    old: User, new: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "BATCH_SIZE", 2)
    fans = [make_account(f"fan{number}") for number in range(5)]
    for fan in fans:
        follow_account(account=fan, target=old.account, change=FollowChange())
    block_account(account=new, target=fans[0])
    work()
    move_account(user=old, target=new)
    turns = 0
    while OutboxRow.objects.filter(event__in=["AccountMoved", "CarryOverDue"]).exists():
        assert drain("default", 1)
        turns += 1
        assert turns < 60
    assert set(Follow.objects.filter(target=new).values_list("account", flat=True)) == {fan.id for fan in fans[1:]}
    assert list(Follow.objects.filter(target=old.account).values_list("account", flat=True)) == [fans[0].id]


def test_a_cancelled_move_moves_no_further_followers(old: User, new: Account) -> None:
    follow_account(account=make_account("fan"), target=old.account, change=FollowChange())
    move_account(user=old, target=new)
    cancel_move(user=old)
    work()
    assert Follow.objects.filter(target=old.account).count() == 1
    cancel_move(user=old)
