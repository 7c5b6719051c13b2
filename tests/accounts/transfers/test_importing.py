"""Tests of reading the files of an import, with clear errors, and of the effect of each kind of line."""

from contextlib import nullcontext
from typing import Any

import idna
import pytest

from accounts.models import AccountDomainBlock, Block, Follow, FollowRequest, Mute, User
from accounts.services.blocking import block_account, block_domain, mute_account
from accounts.services.following import FollowChange, follow_account
from accounts.transfers import policies as transfers
from accounts.transfers.models import Import, ImportRow
from accounts.transfers.policies import Problem, Unreadable, write_line
from accounts.transfers.services import portable_lists
from accounts.transfers.services.portable_lists import all_lists, find_list
from social.kernel import clock, links
from social.kernel.errors import NotFound
from statuses.models import Bookmark
from tests.accounts.transfers.importing import bring, problems, read
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import make_remote_status, make_status
from timelines.models import List, ListMember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_other_servers")]
HEADER = "Account address,Show boosts,Notify on new posts,Languages\n"


def table(kind: str, user: User) -> str:
    portable = find_list(kind)
    head = write_line(portable.columns) if portable.named else ""
    return head + "".join(write_line(cells) for cells in portable.rows(user.account_id))


def test_follows_are_imported_with_their_options(ada: User) -> None:
    bob, eva = make_account("bob"), make_remote("eva", "remote.example")
    lines = 'bob@social.localhost,false,true,"en, de"\neva@remote.example,true,false,\n'
    done = bring(ada, "follows", HEADER + lines)
    assert (done.state, done.total, done.done, done.failed) == ("finished", 2, 2, 0)
    follow = Follow.objects.get(account=ada.account, target=bob)
    assert (follow.show_reblogs, follow.notify, follow.languages) == (False, True, ["en", "de"])
    assert FollowRequest.objects.filter(account=ada.account, target=eva).exists(), (
        "follows of remote accounts become requests"
    )
    assert not ImportRow.objects.exists()


@pytest.mark.parametrize(
    "text",
    [
        "bob@social.localhost\n",
        "@BOB@Social.Localhost\r\n",
        "\ufeffAccount address\nbob@social.localhost",
        "Notify on new posts,Account address\nfalse,bob@social.localhost\n",
        "Account address,Favourite colour\nbob@social.localhost,red\n",
        "Account address;Show boosts;Languages\nbob@social.localhost;true;\n",
        "Show boosts\tAccount address\ntrue\tbob@social.localhost\n",
        "account ADDRESS\n\n,\n  bob@social.localhost  \n",
        '"bob@social.localhost",,,\n',
        "bob@social.localhost\nBob@social.localhost\n",
    ],
)
def test_a_file_is_read_in_all_usual_forms_of_csv(ada: User, text: str) -> None:
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


def test_row_33_the_length_of_a_file_is_limited(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unreadable) as refused:
        read(ada, "follows", b"a" * (transfers.FILE_LIMIT + 1))
    assert refused.value.problem is Problem.TOO_LARGE
    with pytest.raises(Unreadable) as refused:
        read(ada, "follows", "".join(f"a{number}@x.example\n" for number in range(transfers.LINES_LIMIT + 1)))
    assert (refused.value.problem, refused.value.line) == (Problem.TOO_MANY_LINES, transfers.LINES_LIMIT + 1)
    with pytest.raises(Unreadable) as refused:
        read(ada, "follows", "a" * 200_000 + "@x.example")
    assert refused.value.problem is Problem.NO_TABLE


def test_unreadable_lines_are_reported_and_the_others_imported(ada: User) -> None:
    make_account("bob")
    text = "bob\nbob@social.localhost,perhaps\nbob@\nbob@social.localhost\n" + "a" * 3001 + "@x.example\n"
    done = bring(ada, "follows", text)
    assert (done.total, done.done, done.failed) == (5, 1, 4)
    wanted = {1: Problem.NO_ADDRESS, 2: Problem.NO_BOOLEAN, 3: Problem.NO_ADDRESS, 5: Problem.CELL_TOO_LONG}
    assert problems(done) == wanted
    assert done.rows.get(line=2).cells[:2] == ["bob@social.localhost", "perhaps"]


def test_row_78_names_in_other_scripts_are_normalised_only_when_the_import_runs(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []

    def encode(name: str, **options: Any) -> bytes:
        encoded.append(name)
        return real(name, **options)

    real = idna.encode
    monkeypatch.setattr(idna, "encode", encode)
    lines = ["bücher.example", "xn--bcher-kva.example", "BÜCHER.example", "ü_.example", "plain.example", "é.example"]
    read(ada, "domain_blocks", "\n".join(lines))
    assert all(map(str.isascii, encoded))
    done = bring(ada, "domain_blocks", "\n".join(lines))
    assert (done.total, done.done, done.failed) == (4, 3, 1)
    assert problems(done) == {4: Problem.NO_DOMAIN}
    kept = {"plain.example", "xn--bcher-kva.example", "xn--9ca.example"}
    assert set(AccountDomainBlock.objects.values_list("domain", flat=True)) == kept


def test_blocks_mutes_and_blocked_servers_are_imported(ada: User) -> None:
    bob = make_account("bob")
    bring(ada, "blocks", "bob@social.localhost\n")
    bring(ada, "mutes", "Account address,Hide notifications\nbob@social.localhost,false\n")
    bring(ada, "domain_blocks", "#domain\nBad.Example\nbücher.example\n")
    assert Block.objects.filter(account=ada.account, target=bob).exists()
    assert Mute.objects.get(account=ada.account, target=bob).hide_notifications is False
    assert set(AccountDomainBlock.objects.values_list("domain", flat=True)) == {"bad.example", "xn--bcher-kva.example"}


@pytest.mark.parametrize("domain", ["social.localhost", "SOCIAL.localhost."])
def test_an_import_cannot_block_this_server(ada: User, domain: str) -> None:
    assert problems(bring(ada, "domain_blocks", f"x.example\n{domain}\n")) == {2: Problem.NO_DOMAIN}


def test_each_line_that_cannot_be_imported_has_its_reason(ada: User) -> None:
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


def test_an_import_beyond_the_follow_limit_reports_the_limit(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_imported_lists_are_created_and_their_members_followed(ada: User) -> None:
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
    assert Follow.objects.filter(account=ada.account).count() == 2, "the import unfollows nobody"


def test_bookmarks_are_imported_for_known_and_readable_posts(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(portable_lists, "BATCH", 2)
    assert table("bookmarks", ada).split() == written, "bookmarks of several batches are complete too"
    assert bring(ada, "bookmarks", "\n".join(written)).failed == 0
    assert Bookmark.objects.filter(account=ada.account).count() == 3


@pytest.mark.parametrize("kind", [portable.name for portable in all_lists()])
def test_an_exported_list_can_be_imported_again(ada: User, kind: str) -> None:
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


def test_a_kind_of_import_cannot_be_registered_twice() -> None:
    from dataclasses import replace

    from accounts.transfers.services.portable_lists import register

    with pytest.raises(ValueError):
        register(replace(find_list("follows")))
    with pytest.raises(NotFound):
        find_list("nothing")
    with nullcontext():
        register(find_list("follows"))
