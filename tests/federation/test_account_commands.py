"""Tests of commands that refresh remote accounts, and remove accounts that no longer exist."""

import io
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.models import Account, AuditEntry, Follow
from accounts.models.account import SuspensionOrigin
from accounts.policies.staff import staff_of
from federation.remote.actors import fetch_actor
from federation.remote.refreshing import cull_accounts, refresh_accounts
from social.kernel import clock
from social.kernel.errors import Forbidden
from social.kernel.runner import Host
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import follow
from tests.federation.remote_server import Answer, RemotePerson, RemoteServer
from tests.support.work import work

pytestmark = pytest.mark.django_db
LONG_AGO = clock.now() - timedelta(days=30)


def said(*arguments: str) -> list[str]:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().splitlines()


def unseen(account: Account) -> None:
    Account.objects.filter(id=account.id).update(fetched_at=LONG_AGO)


@pytest.fixture
def zoe_here(zoe: RemotePerson) -> Account:
    account = fetch_actor(zoe.uri)
    unseen(account)
    return account


def vanish(elsewhere: RemoteServer, someone: RemotePerson, status: int, *, address_too: bool) -> None:
    elsewhere.pages[f"/users/{someone.name}"] = Answer(b"{}", status=status)
    if address_too:
        elsewhere.fingers.clear()


class TestRefreshing:
    def test_refresh_accounts_updates_the_display_name(
        self, elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account
    ) -> None:
        elsewhere.serve(zoe.document() | {"name": "Zoe anew"})
        assert said("refresh_accounts", zoe_here.acct, "--dry-run") == [f"@{zoe_here.acct}"]
        assert said("refresh_accounts", f"@{zoe_here.acct}") == [f"1/1 @{zoe_here.acct} there", "there 1"]
        assert Account.objects.get(id=zoe_here.id).display_name == "Zoe anew"
        entry = AuditEntry.objects.get()
        assert (entry.account_name, entry.action, entry.target_name) == ("operator", "refresh", f"@{zoe_here.acct}")

    def test_accounts_are_selected_by_server_or_all_the_longest_unseen_first(
        self, elsewhere: RemoteServer, zoe_here: Account
    ) -> None:
        lately = fetch_actor(elsewhere.person("yan").uri)
        make_remote("other", "127.0.0.2", fetched_at=None, uri="http://localhost:1/users/other")
        assert said("refresh_accounts", "--all", "--dry-run") == [
            "@other@127.0.0.2", f"@{zoe_here.acct}", f"@{lately.acct}"
        ]  # fmt: skip
        assert said("refresh_accounts", "--domain", elsewhere.domain.upper(), "--days", "7") == [
            f"1/1 @{zoe_here.acct} there",
            "there 1",
        ]
        assert said("refresh_accounts", "--all", "--limit", "1")[-1] == "silent 1"
        assert said("refresh_accounts", "--all", "--limit", "1", "--dry-run") == [f"@{lately.acct}"]

    def test_an_error_of_another_server_does_not_stop_the_command(
        self, elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account
    ) -> None:
        yan = fetch_actor(elsewhere.person("yan").uri)
        unseen(yan)
        vanish(elsewhere, zoe, 404, address_too=False)
        assert said("refresh_accounts", zoe_here.acct, yan.acct)[-1] == "there 1, unclear 1"
        assert Account.objects.filter(id=zoe_here.id, fetched_at__gt=LONG_AGO).exists()


class TestCulling:
    @pytest.mark.parametrize(
        ("status", "address_too", "gone"),
        [(410, False, True), (404, True, True), (404, False, False), (403, True, False), (500, True, False)],
    )
    def test_only_accounts_that_no_longer_exist_are_deleted(
        self, elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account, status: int,
        address_too: bool, gone: bool,
    ) -> None:  # fmt: skip
        follow(alice, zoe_here)
        vanish(elsewhere, zoe, status, address_too=address_too)
        assert (said("cull_accounts", "--all", "--dry-run")[-1] == "gone 1") is gone
        assert not Account.objects.exclude(deleted_at=None).exists()
        assert Account.objects.get(id=zoe_here.id).fetched_at == LONG_AGO
        said("cull_accounts", "--all")
        work()
        assert Account.objects.filter(id=zoe_here.id).exists() is not gone
        assert Follow.objects.exists() is not gone
        assert ("delete" in AuditEntry.objects.values_list("action", flat=True)) is gone
        assert said("cull_accounts", "--all") == ["nobody"], "the other accounts were checked already"

    def test_cull_accounts_deletes_only_accounts_that_are_gone(
        self, elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account
    ) -> None:
        assert said("cull_accounts", "--all") == ["there 1"]
        unseen(zoe_here)
        elsewhere.serve({"id": zoe.uri, "type": "Tombstone"})
        assert said("cull_accounts", "--all") == [f"1/1 @{zoe_here.acct} gone", "gone 1"]

    def test_a_silent_server_gets_one_request_per_run(self, elsewhere: RemoteServer, zoe_here: Account) -> None:
        for name in ("one", "two", "three"):
            make_remote(name, "127.0.0.2", fetched_at=LONG_AGO, uri=f"{elsewhere.url}/broken/{name}")
            elsewhere.pages[f"/broken/{name}"] = Answer(b"", status=500)
        elsewhere.asked.clear()
        assert said("cull_accounts", "--domain", "127.0.0.2") == ["silent 3"]
        assert len(elsewhere.gets()) == 1
        Host.objects.create(
            queue="deliveries", name=elsewhere.domain, failures=3, retry_at=clock.now() + timedelta(hours=1)
        )
        assert said("cull_accounts", "--all") == ["silent 1"]
        assert len(elsewhere.gets()) == 1

    def test_the_length_of_a_run_is_limited_and_the_next_one_continues(self, elsewhere: RemoteServer) -> None:
        people = [fetch_actor(elsewhere.person(f"p{number}").uri) for number in range(3)]
        for person in people:
            unseen(person)
        elsewhere.asked.clear()
        for _run in range(3):
            assert said("cull_accounts", "--all", "--limit", "1") == ["there 1"]
        assert len({path for path in elsewhere.gets() if path.startswith("/users/p")}) == 3
        assert said("cull_accounts", "--all") == ["nobody"]

    def test_accounts_suspended_by_local_staff_stay_suspended(
        self, elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account
    ) -> None:
        vanish(elsewhere, zoe, 410, address_too=True)
        Account.objects.filter(id=zoe_here.id).update(
            suspended_at=clock.now(), suspension_origin=SuspensionOrigin.LOCAL
        )
        assert said("cull_accounts", "--all") == ["nobody"]


@pytest.mark.parametrize("command", ["refresh_accounts", "cull_accounts"])
@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ("--all", "--domain", "there.example"),
        ("nobody@there.example",),
        ("alice",),
        ("--domain", "no domain"),
        ("--all", "--limit", "0"),
        ("--all", "--days", "-1"),
        ("--all", "--days", "9" * 12),
    ],
)
def test_an_invalid_choice_of_accounts_is_refused(command: str, wrong: tuple[str, ...], alice: Account) -> None:
    with pytest.raises(CommandError):
        said(command, *wrong)
    assert not AuditEntry.objects.exists()


def test_refreshing_and_culling_accounts_require_the_permission() -> None:
    by = staff_of(make_user("mod", role="Moderator"))
    for run in (refresh_accounts, cull_accounts):
        with pytest.raises(Forbidden):
            list(run(by=by, accounts=[make_remote()], about="*"))
    assert not AuditEntry.objects.exists()
