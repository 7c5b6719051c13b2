"""Lists that people bring along: read with clear errors, worked off in steps that may stop anywhere, each line once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AccountDomainBlock, Block, Follow, FollowRequest, Import, ImportRow, Mute, User
from accounts.policies import transfers
from accounts.policies.staff import OPERATOR
from accounts.policies.transfers import Problem, Unreadable, write_line
from accounts.ports import Search, remote_accounts
from accounts.services import importing
from accounts.services.blocking import block_account, block_domain, mute_account
from accounts.services.deleting import delete_user
from accounts.services.following import FollowChange, follow_account
from accounts.services.importing import drop_import, forget_imports, read_import, start_import
from accounts.services.portable_lists import all_lists, find_list
from accounts.services.staff import disable
from social.kernel import clock, links
from social.kernel.errors import Conflict, NotFound
from social.kernel.outbox import OutboxRow, drain
from statuses.models import Bookmark
from tests.factories.accounts import make_account, make_many_remote, make_remote, make_user
from tests.factories.statuses import make_remote_status, make_status
from tests.support.at_once import at_once
from tests.support.work import work
from timelines.models import List, ListMember

pytestmark = pytest.mark.django_db
HEADER = "Account address,Show boosts,Notify on new posts,Languages\n"


@pytest.fixture
def ada() -> User:
    return make_user("ada")


@pytest.fixture(autouse=True)
def no_other_servers() -> Any:
    """Nobody is found elsewhere, unless a test says so."""
    with remote_accounts.replaced(None):
        yield


def read(user: User, kind: str, text: str | bytes, **options: Any) -> Import:
    data = text if isinstance(text, bytes) else text.encode()
    options = {"file_name": "x.csv", "overwrite": False} | options
    return read_import(account=user.account, portable=find_list(kind), data=data, **options)


def bring(user: User, kind: str, text: str, **options: Any) -> Import:
    """Read, start and work off."""
    made = read(user, kind, text, **options)
    start_import(account=user.account, import_id=made.id)
    work()
    return Import.objects.get(id=made.id)


def problems(batch: Import) -> dict[int, str]:
    return dict(batch.rows.values_list("line", "error"))


def table(kind: str, user: User) -> str:
    portable = find_list(kind)
    head = write_line(portable.columns) if portable.named else ""
    return head + "".join(write_line(cells) for cells in portable.rows(user.account_id))


def test_follows_are_brought_with_their_options(ada: User) -> None:
    bob, eva = make_account("bob"), make_remote("eva", "remote.example")
    lines = 'bob@social.localhost,false,true,"en, de"\neva@remote.example,true,false,\n'
    done = bring(ada, "follows", HEADER + lines)
    assert (done.state, done.total, done.done, done.failed) == ("finished", 2, 2, 0)
    follow = Follow.objects.get(account=ada.account, target=bob)
    assert (follow.show_reblogs, follow.notify, follow.languages) == (False, True, ["en", "de"])
    assert FollowRequest.objects.filter(account=ada.account, target=eva).exists(), "asked, as every account elsewhere"
    assert not ImportRow.objects.exists()


@pytest.mark.parametrize(
    "text",
    [
        "bob@social.localhost\n",
        "@BOB@Social.Localhost\r\n",
        "\ufeffAccount address\nbob@social.localhost",
        "Notify on new posts,Account address\nfalse,bob@social.localhost\n",
        "Account address,Favourite colour\nbob@social.localhost,red\n",
        "account ADDRESS\n\n,\n  bob@social.localhost  \n",
        '"bob@social.localhost",,,\n',
        "bob@social.localhost\nBob@social.localhost\n",
    ],
)
def test_a_file_is_understood_however_it_was_written(ada: User, text: str) -> None:
    bob = make_account("bob")
    assert bring(ada, "follows", text).done == 1
    follow = Follow.objects.get(account=ada.account, target=bob)
    assert (follow.show_reblogs, follow.notify, follow.languages) == (True, False, None)


@pytest.mark.parametrize(
    ("kind", "text", "problem", "line"),
    [
        ("follows", b"", Problem.EMPTY, 0),
        ("follows", HEADER, Problem.EMPTY, 0),
        ("follows", b"bob@x.example\n\xff\xfe", Problem.NO_TEXT, 2),
        ("follows", b"\xff\xfeb\0o\0b\0", Problem.NO_TEXT, 1),
        ("follows", "a@x.example\nb\0@x.example", Problem.NO_TEXT, 2),
        ("follows", 'a@x.example\n"b@x.example\nc', Problem.NO_TABLE, 2),
        ("follows", "x.example\ny.example", Problem.NO_USABLE_LINE, 1),
        ("follows", "Account address,Hide notifications\na@x.example,true", Problem.OTHER_LIST, 0),
        ("blocks", HEADER + "a@x.example,true", Problem.OTHER_LIST, 0),
        ("domain_blocks", "a b\n", Problem.NO_USABLE_LINE, 1),
        ("domain_blocks", "Account address\nx.example", Problem.OTHER_LIST, 0),
        ("mutes", "#domain\nx.example", Problem.OTHER_LIST, 0),
    ],
)
def test_a_file_that_is_no_such_list_is_refused_with_the_line(
    ada: User, kind: str, text: str | bytes, problem: Problem, line: int
) -> None:
    with pytest.raises(Unreadable) as refused:
        read(ada, kind, text)
    assert (refused.value.problem, refused.value.line) == (problem, line)
    assert not Import.objects.exists()


def test_row_33_a_file_has_an_end(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unreadable) as refused:
        read(ada, "follows", b"a" * (transfers.FILE_LIMIT + 1))
    assert refused.value.problem is Problem.TOO_LARGE
    with pytest.raises(Unreadable) as refused:
        read(ada, "follows", "".join(f"a{number}@x.example\n" for number in range(transfers.LINES_LIMIT + 1)))
    assert (refused.value.problem, refused.value.line) == (Problem.TOO_MANY_LINES, transfers.LINES_LIMIT + 1)
    with pytest.raises(Unreadable) as refused:
        read(ada, "follows", "a" * 200_000 + "@x.example")
    assert refused.value.problem is Problem.NO_TABLE


def test_lines_that_cannot_be_read_are_kept_and_the_others_taken(ada: User) -> None:
    make_account("bob")
    text = "bob\nbob@social.localhost,perhaps\nbob@\nbob@social.localhost\n" + "a" * 3001 + "@x.example\n"
    done = bring(ada, "follows", text)
    assert (done.total, done.done, done.failed) == (5, 1, 4)
    wanted = {1: Problem.NO_ADDRESS, 2: Problem.NO_BOOLEAN, 3: Problem.NO_ADDRESS, 5: Problem.CELL_TOO_LONG}
    assert problems(done) == wanted
    assert done.rows.get(line=2).cells[:2] == ["bob@social.localhost", "perhaps"]


def test_blocks_mutes_and_servers_are_brought(ada: User) -> None:
    bob = make_account("bob")
    bring(ada, "blocks", "bob@social.localhost\n")
    bring(ada, "mutes", "Account address,Hide notifications\nbob@social.localhost,false\n")
    bring(ada, "domain_blocks", "#domain\nBad.Example\nbücher.example\n")
    assert Block.objects.filter(account=ada.account, target=bob).exists()
    assert Mute.objects.get(account=ada.account, target=bob).hide_notifications is False
    assert set(AccountDomainBlock.objects.values_list("domain", flat=True)) == {"bad.example", "xn--bcher-kva.example"}


@pytest.mark.parametrize("domain", ["social.localhost", "SOCIAL.localhost."])
def test_nobody_blocks_this_very_server(ada: User, domain: str) -> None:
    assert problems(bring(ada, "domain_blocks", f"x.example\n{domain}\n")) == {2: Problem.NO_DOMAIN}


def test_what_cannot_be_done_is_said_for_each_line(ada: User) -> None:
    blocking, moved = make_user("blocking"), make_account("moved", moved_to=make_account("new"))
    block_account(account=blocking.account, target=ada.account)
    make_account("gone", suspended_at=clock.now())
    names = ("ada", "blocking", moved.username, "nobody", "gone")
    done = bring(ada, "follows", "".join(f"{name}@social.localhost\n" for name in names) + "a@unknown.example\n")
    assert done.done == 0
    assert problems(done) == {
        1: Problem.ONESELF,
        2: Problem.REFUSED,
        3: Problem.REFUSED,
        4: Problem.UNKNOWN,
        5: Problem.UNKNOWN,
        6: Problem.UNKNOWN,
    }


def test_more_than_one_may_follow_is_said(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.services.following.follow_limit", lambda count: 1)
    for name in ("bob", "eva"):
        make_account(name)
    done = bring(ada, "follows", "bob@social.localhost\neva@social.localhost\n")
    assert (done.done, problems(done)) == (1, {2: Problem.LIMIT})


def test_merging_keeps_what_is_there_and_replacing_does_not(ada: User) -> None:
    people = {name: make_account(name) for name in ("bob", "eva", "kim")}
    far = make_remote("far", "remote.example")
    for name in ("bob", "eva"):
        follow_account(account=ada.account, target=people[name], change=FollowChange(notify=True))
    follow_account(account=ada.account, target=far, change=FollowChange())
    Follow.objects.create(account=ada.account, target=far)
    bring(ada, "follows", "kim@social.localhost\n")
    assert Follow.objects.filter(account=ada.account).count() == 4
    done = bring(ada, "follows", "EVA@social.localhost\nkim@social.localhost\n", overwrite=True)
    assert (done.removed, done.done) == (2, 2)
    left = Follow.objects.filter(account=ada.account).order_by("target__username")
    assert [(follow.target.username, follow.notify) for follow in left] == [("eva", True), ("kim", False)]


def test_replacing_takes_away_other_blocks_mutes_and_servers(ada: User) -> None:
    bob, eva = make_account("bob"), make_account("eva")
    for person in (bob, eva):
        block_account(account=ada.account, target=person)
        mute_account(account=ada.account, target=person)
    for domain in ("a.example", "b.example"):
        block_domain(account=ada.account, domain=domain)
    bring(ada, "blocks", "eva@social.localhost", overwrite=True)
    bring(ada, "mutes", "eva@social.localhost", overwrite=True)
    bring(ada, "domain_blocks", "b.example", overwrite=True)
    assert [table(kind, ada) for kind in ("blocks", "mutes", "domain_blocks")] == [
        "eva@social.localhost\n",
        "Account address,Hide notifications\neva@social.localhost,true\n",
        "b.example\n",
    ]


def test_lists_are_made_of_their_titles_and_those_in_them_followed(ada: User) -> None:
    bob, eva = make_account("bob"), make_account("eva")
    List.objects.create(account=ada.account, title="Old")
    own = "Old,ada@social.localhost\n"
    done = bring(
        ada, "lists", f"{own}Old,bob@social.localhost\nNew,bob@social.localhost\nNew,bob\nNew,eva@social.localhost"
    )
    assert (done.done, done.failed) == (4, 1)
    assert table("lists", ada).splitlines() == [
        "Old,ada@social.localhost",
        "Old,bob@social.localhost",
        "New,bob@social.localhost",
        "New,eva@social.localhost",
    ]
    assert set(Follow.objects.filter(account=ada.account).values_list("target_id", flat=True)) == {bob.id, eva.id}
    bring(ada, "lists", "New,eva@social.localhost\n", overwrite=True)
    assert table("lists", ada) == "New,eva@social.localhost\n"
    assert Follow.objects.filter(account=ada.account).count() == 2, "nobody is unfollowed by it"


def test_bookmarks_are_addresses_of_posts_that_are_known_and_may_be_read(ada: User) -> None:
    bob = make_account("bob")
    mine, page = make_status(bob), make_status(bob)
    hidden = make_status(bob, visibility="private")
    remote = make_remote_status(make_remote())
    old = make_status(bob)
    Bookmark.objects.create(account=ada.account, status=old)
    addresses = [
        links.status_uri("bob", mine.id),
        links.status_url("bob", page.id),
        str(remote.uri),
        links.status_uri("bob", hidden.id),
        links.status_uri("bob", 1),
        "https://nowhere.example/notes/1",
        links.web_url("/about"),
        "nonsense",
    ]
    done = bring(ada, "bookmarks", "\n".join(addresses), overwrite=True)
    assert (done.done, done.failed, done.removed) == (3, 5, 1)
    kept = Bookmark.objects.filter(account=ada.account).order_by("id").values_list("status_id", flat=True)
    assert list(kept) == [mine.id, page.id, remote.id]
    assert problems(done) == {4: "unknown", 5: "unknown", 6: "unknown", 7: "unknown", 8: "no_post_address"}
    written = [str(remote.uri), links.status_uri("bob", page.id), links.status_uri("bob", mine.id)]
    assert table("bookmarks", ada).split() == written
    assert bring(ada, "bookmarks", "\n".join(written)).failed == 0
    assert Bookmark.objects.filter(account=ada.account).count() == 3


@pytest.mark.parametrize("kind", [portable.name for portable in all_lists()])
def test_what_is_taken_away_can_be_brought_back(ada: User, kind: str) -> None:
    other = make_user("other")
    kept = make_status(other.account)
    for person in (make_account("bob"), make_remote("eva", "xn--bcher-kva.example")):
        for someone in (ada, other):
            Follow.objects.create(account=someone.account, target=person, notify=True, languages=["de", "en"])
            Mute.objects.create(account=someone.account, target=person, hide_notifications=False)
            Block.objects.create(account=someone.account, target=person)
    for someone in (ada, other):
        AccountDomainBlock.objects.create(account=someone.account, domain="bad.example")
        Bookmark.objects.create(account=someone.account, status=kept)
        friends = List.objects.create(account=someone.account, title="Friends, and others")
        for follow in Follow.objects.filter(account=someone.account).order_by("id"):
            ListMember.objects.create(list=friends, account=follow.target)
    taken = table(kind, ada)
    assert taken.count("\n") >= 1
    done = bring(other, kind, taken, overwrite=True)
    assert (done.failed, done.removed) == (0, 0)
    assert table(kind, other) == taken


class Elsewhere:
    """Other servers that answer when they are asked to."""

    def __init__(self) -> None:
        self.open: set[Any] = set()
        self.dead: set[Any] = set()
        self.busy: set[Any] = set()
        self.most = 0

    def find_by_address(self, addresses: Any) -> Any:
        raise AssertionError("nobody waits for the network here")

    def seek(self, addresses: Collection[Any]) -> Mapping[Any, Search]:
        found = {}
        for address in addresses:
            if address in self.dead:
                found[address] = Search.FAILED
            elif address in self.busy:
                found[address] = Search.LATER
            else:
                found[address] = Search.UNDER_WAY
                self.open.add(address)
        self.most = max(self.most, len(self.open))
        return found

    def sought(self, addresses: Collection[Any]) -> Collection[Any]:
        return self.open & set(addresses)

    def refresh(self, account: Account) -> Account:
        raise AssertionError("nobody asks for it")


def test_people_who_are_unknown_here_are_found_in_the_background_some_at_a_time(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "SOUGHT_AT_ONCE", 3)
    elsewhere = Elsewhere()
    elsewhere.dead = {("dead", "x.example")}
    elsewhere.busy = {("a4", "x.example")}
    names = ["dead", *(f"a{number}" for number in range(8))]
    with remote_accounts.replaced(elsewhere):
        made = read(ada, "follows", "".join(f"{name}@x.example\n" for name in names))
        start_import(account=ada.account, import_id=made.id)
        with time_machine.travel(datetime(2026, 1, 1, tzinfo=UTC)):
            for _turn in range(40):
                work()
                made.refresh_from_db()
                if made.state == "finished":
                    break
                assert OutboxRow.objects.get(event="ImportDue").due_at > clock.now() - timedelta(days=1)
                OutboxRow.objects.filter(event="ImportDue").update(due_at=datetime(2020, 1, 1, tzinfo=UTC))
                # One server has answered, another says no.
                for username, domain in sorted(elsewhere.open)[:1]:
                    if username != "a3":
                        make_remote(username, domain)
                    elsewhere.open.discard((username, domain))
                elsewhere.busy.clear()
    assert made.state == "finished"
    assert elsewhere.most == 3
    assert (made.done, made.failed) == (7, 2)
    assert set(made.rows.values_list("cells__0", flat=True)) == {"dead@x.example", "a3@x.example"}
    assert FollowRequest.objects.filter(account=ada.account).count() == 7


def test_it_goes_on_where_it_was_stopped_and_counts_each_line_once(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "STEP", 2)
    monkeypatch.setattr(importing, "SLICE", 0.0)
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


def test_a_file_waits_for_its_owners_word_and_a_later_one_takes_its_place(ada: User) -> None:
    make_account("bob")
    first = read(ada, "follows", "bob@social.localhost")
    work()
    assert not Follow.objects.exists()
    second = read(ada, "follows", "eva@social.localhost\nkim@social.localhost")
    read(ada, "mutes", "eva@social.localhost")
    assert list(Import.objects.filter(kind="follows")) == [second]
    with pytest.raises(NotFound):
        start_import(account=ada.account, import_id=first.id)


def test_row_20_nobody_starts_or_drops_what_somebody_else_has_brought(ada: User) -> None:
    made = read(ada, "follows", "bob@social.localhost")
    other = make_account()
    for act in (start_import, drop_import):
        with pytest.raises(NotFound):
            act(account=other, import_id=made.id)
    assert Import.objects.get(id=made.id).state == "waiting"


def test_one_file_of_a_kind_is_worked_off_at_a_time(ada: User) -> None:
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
def test_starting_it_twice_at_once_starts_it_once(ada: User) -> None:
    made = read(ada, "follows", "a@x.example")
    answers = at_once(2, lambda _place: start_import(account=ada.account, import_id=made.id))
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert OutboxRow.objects.filter(event="ImportDue").count() == 1


@pytest.mark.parametrize("ends", ["dropped", "disabled", "suspended", "deleted"])
def test_it_ends_when_its_owner_says_so_or_is_gone(ada: User, ends: str) -> None:
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
    monkeypatch.setattr(importing, "SLICE", 0.0)
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


def test_old_imports_are_forgotten(ada: User) -> None:
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


def test_an_app_adds_lists_of_its_own_once() -> None:
    from dataclasses import replace

    from accounts.services.portable_lists import register

    with pytest.raises(ValueError):
        register(replace(find_list("follows")))
    with pytest.raises(NotFound):
        find_list("nothing")
    with nullcontext():
        register(find_list("follows"))
