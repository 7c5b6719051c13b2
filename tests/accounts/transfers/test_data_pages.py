"""Tests of the pages for imports, exports, moves and invitations."""

import io
import tarfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Account, AuditEntry, Follow, Invite, Role, User
from accounts.models.user import EVERYONE_ROLE_ID
from accounts.ports import remote_accounts
from accounts.transfers.models import Archive, Import
from accounts.transfers.pages import files
from accounts.transfers.policies import FILE_LIMIT
from accounts.transfers.services.archive_files import remove_folder
from accounts.transfers.services.archives import find_archive_file
from accounts.transfers.services.moving import move_account
from social.kernel import clock
from social.kernel.errors import Unavailable
from tests.accounts.conftest import PASSWORD
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.support.client import Api, signed_in
from tests.support.federation_server import needs_federation
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_other_servers")]
IMPORTS, EXPORT, MOVE, ALIASES, INVITES = (
    *("/settings/imports", "/settings/export", "/settings/migration"),
    *("/settings/aliases", "/invites"),
)


@pytest.fixture
def stranger() -> Client:
    browser = signed_in(make_user("stranger"))
    return browser


def body(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def send(browser: Client, text: str | bytes, kind: str = "follows", mode: str = "merge") -> Any:
    data = text if isinstance(text, bytes) else text.encode()
    return browser.post(IMPORTS, {"kind": kind, "mode": mode, "file": SimpleUploadedFile("my <list>.csv", data)})


# --- import -----------------------------------------------------------------------------------------------------------


def test_a_list_is_uploaded_previewed_and_imported(browser: Client, person: User) -> None:
    make_account("bob")
    answer = send(browser, "bob@social.localhost\nnobody@social.localhost\nnonsense\n")
    (made,) = Import.objects.all()
    assert answer["Location"] == f"{IMPORTS}/{made.id}"
    page = browser.get(answer["Location"]).content.decode()
    assert "2 lines of this file can be imported." in page
    assert "my &lt;list&gt;.csv" in page
    assert "nonsense" in page
    assert "This is not an account address" in page
    assert "Waiting for confirmation" in browser.get(IMPORTS).content.decode()
    assert browser.post(f"{answer['Location']}/start")["Location"] == answer["Location"]
    page = browser.get(answer["Location"]).content.decode()
    assert "1 of 3 lines are done" in page
    assert '<progress max="3" value="1"' in page
    assert browser.post(f"{answer['Location']}/start").status_code == 303
    work()
    page = browser.get(answer["Location"]).content.decode()
    assert "Finished: 1 of 3 lines were imported" in page
    assert "This account or post could not be found." in page
    assert Follow.objects.filter(account=person.account).count() == 1
    failed = body(browser.get(f"{answer['Location']}/failures.csv")).decode().splitlines()
    assert failed[0] == "Account address,Show boosts,Notify on new posts,Languages,Error"
    assert [line.partition(",")[0] for line in failed[1:]] == ["nobody@social.localhost", "nonsense"]
    assert send(browser, "\n".join(failed)).status_code == 303, "failed lines can be imported again"


def test_replacing_a_list_first_shows_what_will_be_lost(browser: Client, person: User) -> None:
    for name in ("bob", "eva"):
        Follow.objects.create(account=person.account, target=make_account(name))
    answer = send(browser, "bob@social.localhost\n", mode="overwrite")
    page = browser.get(answer["Location"]).content.decode()
    assert "Your 2 existing entries are removed unless they are in the file." in page
    browser.post(f"{answer['Location']}/start")
    work()
    assert "1 entry was removed" in browser.get(answer["Location"]).content.decode()
    assert Follow.objects.count() == 1


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "This file is empty."),
        (b"\xff\xfe\x00", "Line 1: This is not a text in UTF-8."),
        (b"nonsense\nmore\n", "Line 1: This file has no line that fits this kind of list."),
        (b'a@x.example\n"b', "Line 2: This is not a table of comma-separated values."),
        (b"Account address,Hide notifications\na@x.example,true", "This file is a different kind of list."),
        (b"a" * (FILE_LIMIT + 1), "This file is too large. At most 4 MB are allowed."),
        (b"a@x.example\n" * 20_001, "There are too many lines in this file. At most 20,000 lines are allowed."),
    ],
)
def test_errors_of_an_uploaded_file_are_shown_at_the_field(browser: Client, data: bytes, sentence: str) -> None:
    page = send(browser, data)
    assert page.status_code == 422
    assert page.context["form"].errors == {"file": [sentence]}
    assert not Import.objects.exists()


@pytest.mark.parametrize(
    "sent", [{}, {"kind": "follows"}, {"kind": "x", "mode": "merge"}, {"kind": "follows", "mode": "x"}]
)
def test_an_import_without_a_file_or_a_kind_is_refused_at_the_field(browser: Client, sent: dict[str, str]) -> None:
    page = browser.post(IMPORTS, sent)
    assert page.status_code == 422
    assert "file" in page.context["form"].errors


def test_row_20_users_cannot_see_start_or_drop_imports_of_others(browser: Client, stranger: Client) -> None:
    path = send(browser, "bob@social.localhost\n")["Location"]
    answers = [stranger.get(path), stranger.get(f"{path}/failures.csv")]
    answers += [stranger.post(f"{path}/start"), stranger.post(f"{path}/drop")]
    answers += [browser.get(f"{IMPORTS}/{number}") for number in (1, 99999999999999999999)]
    for answer in answers:
        assert answer.status_code == 404
    assert Import.objects.get().state == "waiting"
    assert browser.post(f"{path}/drop")["Location"] == IMPORTS
    assert browser.post(f"{path}/drop").status_code == 404


def test_a_second_import_of_a_kind_cannot_start_before_the_first_ends(browser: Client) -> None:
    first = send(browser, "a@social.localhost\n")["Location"]
    browser.post(f"{first}/start")
    second = send(browser, "b@social.localhost\n")["Location"]
    browser.post(f"{second}/start")
    assert "Another file of this kind is being imported." in browser.get(second).content.decode()


def test_row_25_imports_are_rate_limited(browser: Client, counted: None) -> None:
    answers = [send(browser, "a@social.localhost\n").status_code for _ in range(21)]
    assert answers == [303] * 20 + [429]


# --- export -----------------------------------------------------------------------------------------------------------


def test_lists_are_downloaded_as_tables(browser: Client, person: User) -> None:
    Follow.objects.create(account=person.account, target=make_account("bob"), languages=["de", "en"])
    page = browser.get(EXPORT).content.decode()
    assert "/settings/exports/follows.csv" in page
    answer = browser.get("/settings/exports/follows.csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="following_accounts.csv"'
    assert answer["Cache-Control"] == "private, no-store"
    data = body(answer)
    assert data.decode().splitlines()[1] == 'bob@social.localhost,true,false,"de, en"'
    assert int(answer["Content-Length"]) == len(data)
    for name, file_name in (
        ("blocks", "blocked_accounts"),
        ("mutes", "muted_accounts"),
        ("domain_blocks", "blocked_domains"),
    ):
        answer = browser.get(f"/settings/exports/{name}.csv")
        assert f'filename="{file_name}.csv"' in answer["Content-Disposition"]
        body(answer)
    assert browser.get("/settings/exports/nothing.csv").status_code == 404


def test_rows_20_and_47_only_its_owner_downloads_an_archive_until_it_expires(
    browser: Client, person: User, stranger: Client
) -> None:
    assert browser.post(f"{EXPORT}/archives")["Location"] == EXPORT
    assert "It is being prepared" in browser.get(EXPORT).content.decode()
    archive = Archive.objects.get()
    path = f"{EXPORT}/archives/{archive.id}"
    assert browser.get(path).status_code == 404
    work()
    page = browser.get(EXPORT).content.decode()
    assert f'href="{path}"' in page
    assert 'action="/settings/export/archives"' not in page
    answer = browser.get(path)
    assert answer["Content-Type"] == "application/gzip"
    assert f'filename="archive-ada-{archive.created_at:%Y%m%d}.tar.gz"' in answer["Content-Disposition"]
    assert answer["Cache-Control"] == "private, no-store"
    with tarfile.open(fileobj=io.BytesIO(body(answer))) as tar:
        assert "following_accounts.csv" in tar.getnames()
    assert stranger.get(path).status_code == 404
    assert Client().get(path).status_code == 302
    assert Api(make_token(person)).get(path).status_code == 302
    assert Client().get(f"/system/archives/{archive.id}/archive.tar.gz").status_code == 404
    browser.post(f"{EXPORT}/archives")
    assert "You can request one archive a week." in browser.get(EXPORT).content.decode()
    assert Archive.objects.count() == 1
    with time_machine.travel(clock.now() + timedelta(days=7, hours=1)):
        fresh = signed_in(person)
        assert fresh.get(path).status_code == 404
        fresh.post(f"{EXPORT}/archives")
        assert Archive.objects.get().id != archive.id


@pytest.mark.parametrize("is_file_found", [True, False])
def test_an_archive_removed_during_the_download_request_is_not_found(
    browser: Client, person: User, is_file_found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.post(f"{EXPORT}/archives")
    work()
    archive = Archive.objects.get()

    def find_and_lose(**named: Any) -> Path:
        path = find_archive_file(**named)
        Archive.objects.all().delete()
        if not is_file_found:
            remove_folder(archive.id)
        return path

    monkeypatch.setattr(files, "find_archive_file", find_and_lose)
    status = browser.get(f"{EXPORT}/archives/{archive.id}").status_code
    assert status == (200 if is_file_found else 404)


# --- moving -----------------------------------------------------------------------------------------------------------


def test_an_alias_is_added_and_removed_by_its_address(browser: Client, person: User) -> None:
    old = make_account("old")
    for address in ("@old@social.localhost", "old"):
        assert browser.post(ALIASES, {"acct": address})["Location"] == ALIASES
    person.account.refresh_from_db()
    assert person.account.also_known_as == [old.uri]
    assert "@old@social.localhost" in browser.get(ALIASES).content.decode()
    assert browser.post(f"{ALIASES}/remove", {"uri": old.uri})["Location"] == ALIASES
    assert browser.post(f"{ALIASES}/remove", {}).status_code == 303
    person.account.refresh_from_db()
    assert person.account.also_known_as == []


@pytest.mark.parametrize("address", ["", "nobody", "a b", "x@unknown.example", "\0", "@@", "ada", "x" * 3000])
def test_an_alias_must_be_another_existing_account(browser: Client, address: str) -> None:
    page = browser.post(ALIASES, {"acct": address})
    assert page.status_code == 422
    assert page.context["form"].errors["acct"]


def test_row_25_looking_up_accounts_is_rate_limited(browser: Client, counted: None) -> None:
    answers = [browser.post(ALIASES, {"acct": "nobody"}).status_code for _ in range(21)]
    assert answers == [422] * 20 + [429]


@needs_federation
def test_moving_an_account_requires_the_password_and_can_be_cancelled(browser: Client, person: User) -> None:
    new = make_account("new", also_known_as=[person.account.uri])
    fan = make_account("fan")
    Follow.objects.create(account=fan, target=person.account)
    wrong = browser.post(MOVE, {"acct": "new", "password": "wrong"})
    assert wrong.context["form"].errors == {"password": ["This password is wrong."]}
    assert browser.post(MOVE, {"acct": "@new@social.localhost", "password": PASSWORD})["Location"] == MOVE
    page = browser.get(MOVE).content.decode()
    assert "@new@social.localhost" in page
    assert "Cancel the move" in page
    work()
    assert Follow.objects.filter(account=fan, target=new).exists()
    assert "has moved to" in Client().get("/@ada").content.decode()
    assert browser.post(f"{MOVE}/cancel")["Location"] == MOVE
    assert browser.post(f"{MOVE}/cancel")["Location"] == MOVE
    page = browser.get(MOVE).content.decode()
    assert "You have moved recently." in page
    assert 'name="acct"' not in page


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("nobody", "There is no such account, or its server does not answer."),
        ("ada", "Cannot be this account"),
        ("stays", "Does not name this account as one of its other accounts"),
    ],
)
def test_a_move_to_an_unsuitable_account_is_refused_at_its_field(browser: Client, address: str, sentence: str) -> None:
    make_account("stays")
    page = browser.post(MOVE, {"acct": address, "password": PASSWORD})
    assert page.status_code == 422
    assert page.context["form"].errors == {"acct": [sentence]}


def test_a_server_that_does_not_answer_stops_a_move(browser: Client, person: User) -> None:
    class Silent:
        def refresh(self, account: Account) -> Account:
            raise Unavailable

    make_remote("new", "remote.example", also_known_as=[person.account.uri])
    with remote_accounts.replaced(Silent()):
        page = browser.post(MOVE, {"acct": "new@remote.example", "password": PASSWORD})
    assert page.context["form"].errors["acct"] == [
        "The server of this account does not answer. Please try again later."
    ]


def test_a_moved_account_is_not_offered_to_move_again(browser: Client, person: User) -> None:
    new = make_account("new", also_known_as=[person.account.uri])
    move_account(user=person, target=new)
    page = browser.post(MOVE, {"acct": "new", "password": PASSWORD})
    assert page.context["form"].errors == {"acct": ["Cannot be chosen: this account has moved already"]}


# --- deletion ---------------------------------------------------------------------------------------------------------


# --- invitations ------------------------------------------------------------------------------------------------------


def test_an_invitation_is_created_used_and_ended(browser: Client, person: User) -> None:
    sent = {"max_uses": "5", "expires_in": "3600", "autofollow": "on", "comment": "For <the> choir"}
    assert browser.post(INVITES, sent)["Location"] == INVITES
    invite = Invite.objects.get()
    assert (invite.inviter, invite.max_uses, invite.autofollow) == (person, 5, True)
    assert invite.expires_at is not None
    assert timedelta(minutes=59) < invite.expires_at - clock.now() <= timedelta(hours=1)
    page = browser.get(INVITES).content.decode()
    assert f"http://social.localhost/invite/{invite.code}" in page
    assert "For &lt;the&gt; choir" in page
    assert "used 0 of 5 times" in page
    assert Client().get(f"/invite/{invite.code}").status_code == 302
    assert browser.post(f"{INVITES}/{invite.pk}/expire")["Location"] == INVITES
    assert browser.post(f"{INVITES}/{invite.pk}/expire")["Location"] == INVITES
    assert "Ended" in browser.get(INVITES).content.decode()
    answer = Client().get(f"/invite/{invite.code}", headers={"Accept": "application/json"})
    assert answer.status_code == 401
    assert list(AuditEntry.objects.values_list("action", flat=True)) == ["create", "expire"]


def test_an_invitation_has_no_limits_by_default(browser: Client) -> None:
    browser.post(INVITES, {})
    invite = Invite.objects.get()
    assert (invite.max_uses, invite.expires_at, invite.autofollow) == (None, None, False)


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_uses", "0"), ("max_uses", "-1"), ("max_uses", "x"), ("expires_in", "7"), ("comment", "x" * 421)],
)
def test_an_invalid_invitation_is_refused_at_its_field(browser: Client, field: str, value: str) -> None:
    page = browser.post(INVITES, {field: value})
    assert page.status_code == 422
    assert page.context["form"].errors[field]
    assert not Invite.objects.exists()


def test_row_20_invitations_of_others_are_neither_shown_nor_ended(browser: Client, stranger: Client) -> None:
    browser.post(INVITES, {})
    invite = Invite.objects.get()
    assert invite.code not in stranger.get(INVITES).content.decode()
    assert stranger.post(f"{INVITES}/{invite.pk}/expire").status_code == 404
    assert browser.post(f"{INVITES}/999999/expire").status_code == 404


def test_users_who_may_not_invite_see_no_link_to_invitations(browser: Client, person: User) -> None:
    assert f'href="{INVITES}"' in browser.get("/settings/profile").content.decode()
    Role.objects.filter(id=EVERYONE_ROLE_ID).update(permissions=0)
    role = Role.objects.create(name="quiet", permissions=0)
    User.objects.filter(pk=person.pk).update(role=role)
    assert f'href="{INVITES}"' not in browser.get("/settings/profile").content.decode()
    assert browser.get(INVITES).status_code == 403
    assert browser.post(INVITES, {}).status_code == 403
    assert not Invite.objects.exists()


def test_row_25_creating_invitations_is_rate_limited(browser: Client, counted: None) -> None:
    answers = [browser.post(INVITES, {}).status_code for _ in range(31)]
    assert answers == [303] * 30 + [429]


def test_invitations_are_shown_in_pages_at_the_same_cost(
    browser: Client, person: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(25):
        Invite.objects.create(code=f"code{number}", inviter=person)
    browser.get(INVITES)  # the first visit sets the browser's cookie
    with django_assert_max_num_queries(8):
        first = browser.get(INVITES).content.decode()
    assert "code24" in first
    assert "code4<" not in first
    assert "code4<" in browser.get(f"{INVITES}?page=2").content.decode()
    assert browser.get(f"{INVITES}?page=x").status_code == 200
    assert browser.get(f"{INVITES}?page=99").status_code == 200
