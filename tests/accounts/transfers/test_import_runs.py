"""Tests of imports as background jobs: steps may be interrupted, and each line is imported exactly once."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.identity.services.staff import disable
from accounts.models import Account, Follow, FollowRequest, User
from accounts.policies.staff import OPERATOR
from accounts.ports import remote_accounts
from accounts.services.erasing import delete_user
from accounts.transfers.models import Import, ImportRow
from accounts.transfers.services import importing
from accounts.transfers.services.importing import drop_import, forget_imports, start_import
from accounts.transfers.services.portable_lists import find_list
from social.kernel import clock
from social.kernel.errors import Conflict, NotFound
from social.kernel.outbox import OutboxRow, drain
from tests.accounts.transfers.importing import bring, read
from tests.factories.accounts import make_account, make_many_remote, make_remote
from tests.support.at_once import at_once
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_other_servers")]

HEADER = "Account address,Show boosts,Notify on new posts,Languages\n"


class Elsewhere:
    """Remote servers that respond only when the test lets them."""

    def __init__(self) -> None:
        self.open: set[Any] = set()
        self.dead: set[Any] = set()
        self.most = 0

    def find_by_address(self, addresses: Any) -> Any:
        raise AssertionError("imports must not wait for the network")

    def seek(self, addresses: Collection[Any], *, wanted_by: str) -> Collection[Any]:
        self.open |= set(addresses) - self.dead
        self.most = max(self.most, len(self.open))
        return self.dead & set(addresses)

    def refresh(self, account: Account) -> Account:
        raise AssertionError("imports refresh no account")


def test_unknown_accounts_are_looked_up_in_the_background_a_few_at_a_time(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "SOUGHT_PER_SERVER", 3)
    elsewhere = Elsewhere()
    elsewhere.dead = {("dead", "x.example")}
    names = ["dead", *(f"a{number}" for number in range(5))]
    with remote_accounts.replaced(elsewhere):
        made = read(ada, "follows", "".join(f"{name}@x.example\n" for name in names))
        start_import(account=ada.account, import_id=made.id)
        with time_machine.travel(datetime(2026, 1, 1, tzinfo=UTC)):
            for _turn in range(40):
                work(rounds=3)
                made.refresh_from_db()
                if made.state == "finished":
                    break
                assert OutboxRow.objects.get(event="ImportDue").due_at > clock.now() - timedelta(days=1)
                OutboxRow.objects.filter(event="ImportDue").update(due_at=datetime(2020, 1, 1, tzinfo=UTC))
                # One server has responded, and another refuses.
                for username, domain in sorted(elsewhere.open)[:1]:
                    if username != "a3":
                        make_remote(username, domain)
                    else:
                        elsewhere.dead.add((username, domain))
                    elsewhere.open.discard((username, domain))
    assert made.state == "finished"
    assert elsewhere.most == 3
    assert (made.done, made.failed) == (4, 2)
    assert set(made.rows.values_list("cells__0", flat=True)) == {"dead@x.example", "a3@x.example"}
    assert FollowRequest.objects.filter(account=ada.account).count() == 4


def test_an_interrupted_import_is_resumed_and_counts_each_line_once(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH_SIZE", 2)
    monkeypatch.setattr(importing, "TURN_SECONDS", 0.0)
    people = [make_account(f"p{number}") for number in range(7)]
    Follow.objects.create(account=ada.account, target=make_account("old"))
    made = read(ada, "follows", "".join(f"{each.username}@social.localhost\n" for each in people), overwrite=True)
    start_import(account=ada.account, import_id=made.id)
    add = find_list("follows").add
    failures = iter([False, False, True, False, True])

    def dying(*arguments: Any) -> None:
        add(*arguments)
        if next(failures, False):
            raise MemoryError

    object.__setattr__(find_list("follows"), "add", dying)
    try:
        for _turn in range(30):
            OutboxRow.objects.filter(event="ImportDue").update(due_at=datetime(2020, 1, 1, tzinfo=UTC))
            drain("transfers", 1)
    finally:
        object.__setattr__(find_list("follows"), "add", add)
    made.refresh_from_db()
    assert (made.state, made.done, made.failed, made.removed) == ("finished", 7, 0, 1)
    assert Follow.objects.filter(account=ada.account).count() == 7


def test_an_uploaded_file_waits_for_confirmation_and_is_replaced_by_a_later_one(ada: User) -> None:
    make_account("bob")
    first = read(ada, "follows", "bob@social.localhost")
    work()
    assert not Follow.objects.exists()
    second = read(ada, "follows", "eva@social.localhost\nkim@social.localhost")
    read(ada, "mutes", "eva@social.localhost")
    assert list(Import.objects.filter(kind="follows")) == [second]
    with pytest.raises(NotFound):
        start_import(account=ada.account, import_id=first.id)


def test_row_20_users_cannot_start_or_drop_imports_of_others(ada: User) -> None:
    made = read(ada, "follows", "bob@social.localhost")
    other = make_account()
    for act in (start_import, drop_import):
        with pytest.raises(NotFound):
            act(account=other, import_id=made.id)
    assert Import.objects.get(id=made.id).state == "waiting"


def test_only_one_import_of_a_list_runs_at_a_time(ada: User) -> None:
    first = read(ada, "follows", "a@x.example")
    start_import(account=ada.account, import_id=first.id)
    second = read(ada, "follows", "b@x.example")
    with pytest.raises(Conflict):
        start_import(account=ada.account, import_id=second.id)
    start_import(account=ada.account, import_id=first.id)
    assert OutboxRow.objects.filter(event="ImportDue").count() == 1
    work()
    start_import(account=ada.account, import_id=second.id)


@pytest.mark.django_db(transaction=True)
def test_starting_an_import_twice_at_the_same_time_starts_it_once(ada: User) -> None:
    made = read(ada, "follows", "a@x.example")
    answers = at_once(2, lambda _place: start_import(account=ada.account, import_id=made.id))
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert OutboxRow.objects.filter(event="ImportDue").count() == 1


@pytest.mark.parametrize("ends", ["dropped", "disabled", "suspended", "deleted"])
def test_an_import_ends_when_it_is_dropped_or_its_owner_cannot_continue(ada: User, ends: str) -> None:
    make_account("bob")
    made = read(ada, "follows", "bob@social.localhost")
    start_import(account=ada.account, import_id=made.id)
    if ends == "dropped":
        drop_import(account=ada.account, import_id=made.id)
    elif ends == "disabled":
        disable(by=OPERATOR, user=ada)
    elif ends == "suspended":
        Account.objects.filter(id=ada.account_id).update(suspended_at=clock.now())
    else:
        delete_user(user=ada)
    work()
    assert not Follow.objects.exists()
    assert not Import.objects.exclude(state="finished").exists()


def test_a_step_costs_the_same_however_long_the_list_is(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "TURN_SECONDS", 0.0)
    costs = []
    people = make_many_remote(660)
    for some in (people[:60], people[60:]):
        made = read(ada, "mutes", "".join(f"{each.username}@many.example\n" for each in some))
        start_import(account=ada.account, import_id=made.id)
        with CaptureQueriesContext(connection) as queries:
            drain("transfers", 1)
        costs.append(len(queries))
        drop_import(account=ada.account, import_id=made.id)
        OutboxRow.objects.filter(event="ImportDue").delete()
    assert costs[0] == costs[1]


def test_the_progress_of_many_lines_is_stored_with_as_many_statements_as_of_few(ada: User) -> None:
    people = make_many_remote(20)
    costs = []
    for some in (people[:5], people[5:]):
        with CaptureQueriesContext(connection) as queries:
            made = bring(ada, "follows", "".join(f"{each.username}@many.example\n" for each in some))
        assert (made.state, made.done) == ("finished", len(some))
        costs.append(sum("accounts_import" in query["sql"] for query in queries))
    assert costs[0] == costs[1]


def test_old_imports_are_deleted(ada: User) -> None:
    make_account("bob")
    old = bring(ada, "follows", "bob@social.localhost\nx\n")
    read(ada, "mutes", "bob@social.localhost")
    assert forget_imports() == 0
    with time_machine.travel(clock.now() + timedelta(days=2)):
        forget_imports()
        assert list(Import.objects.all()) == [old]
    with time_machine.travel(clock.now() + timedelta(days=8)):
        forget_imports()
    assert not Import.objects.exists()
    assert not ImportRow.objects.exists()
