"""Tests of imported lists with unknown accounts, which are looked up on their servers in the background."""

from dataclasses import replace
from urllib.parse import unquote

import pytest
from django.db.models import F

from accounts.models import Account, FollowRequest, User
from accounts.transfers.models import Import
from accounts.transfers.policies import Problem
from accounts.transfers.services import importing
from accounts.transfers.services.importing import read_import, start_import
from accounts.transfers.services.portable_lists import find_list
from federation.models import Lookup
from federation.remote import requests
from social.kernel.outbox import OutboxRow, drain
from social.kernel.runner import TERMS, Host
from tests.factories.accounts import make_user
from tests.federation.remote_server import RemoteServer
from tests.support.work import work

pytestmark = pytest.mark.django_db


def bring(user: User, addresses: list[str]) -> Import:
    data = "".join(f"{address}\n" for address in addresses).encode()
    made = read_import(
        account=user.account, portable=find_list("follows"), data=data, file_name="x.csv", overwrite=False
    )
    start_import(account=user.account, import_id=made.id)
    return made


def go_on() -> None:
    """Make all queued jobs due, as if time had passed."""
    OutboxRow.objects.filter(event__in=("ImportDue", "LookupsDue")).update(due_at="2020-01-01T00:00:00Z")
    Lookup.objects.filter(dead_at=None).update(due_at="2020-01-01T00:00:00Z")
    Host.objects.update(asked_at="2020-01-01T00:00:00Z", retry_at="2020-01-01T00:00:00Z")
    work()


@pytest.fixture
def unpaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the pause between two requests to a server."""
    monkeypatch.setitem(TERMS, "lookups", replace(TERMS["lookups"], pace=0.0))


@pytest.fixture
def hourly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow one request to a server per hour; tests move the clock."""
    monkeypatch.setitem(TERMS, "lookups", replace(TERMS["lookups"], pace=3600.0))


def looked_up(server: RemoteServer) -> list[str]:
    return [path.partition("acct:")[2] for path in map(unquote, server.gets()) if "webfinger" in path]


@pytest.mark.usefixtures("unpaced")
def test_unknown_accounts_are_found_and_followed_and_missing_ones_reported(elsewhere: RemoteServer) -> None:
    ada = make_user("ada")
    for name in ("zoe", "yan"):
        elsewhere.person(name)
    made = bring(ada, [f"{name}@{elsewhere.domain}" for name in ("zoe", "nobody", "yan")])
    work()
    for _turn in range(3):
        go_on()
    made.refresh_from_db()
    assert (made.state, made.done, made.failed) == ("finished", 2, 1)
    assert {item["type"] for item in elsewhere.delivered()} == {"Follow"}
    assert FollowRequest.objects.filter(account=ada.account).count() == 2
    assert list(made.rows.values_list("cells__0", "error")) == [(f"nobody@{elsewhere.domain}", Problem.UNKNOWN)]
    assert Account.objects.filter(domain=elsewhere.domain).count() == 2


@pytest.mark.usefixtures("unpaced")
def test_one_server_gets_few_requests_at_a_time(elsewhere: RemoteServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "SOUGHT_PER_SERVER", 3)
    made = bring(make_user("ada"), [f"p{number}@{elsewhere.domain}" for number in range(8)])
    drain("transfers")
    assert Lookup.objects.count() == 3
    for _turn in range(10):
        go_on()
    made.refresh_from_db()
    assert (made.state, made.failed) == ("finished", 8)


@pytest.mark.usefixtures("unpaced")
def test_a_server_that_does_not_answer_delays_no_other_lookups(elsewhere: RemoteServer) -> None:
    """The server delays neither the lines after its own, even if it has many lines, nor the imports of other users."""
    elsewhere.person("zoe")
    ada, bob = make_user("ada"), make_user("bob")
    dead = [f"p{number}@localhost:1" for number in range(300)]
    first = bring(ada, [*dead, f"zoe@{elsewhere.domain}", "dead@no..domain"])
    second = bring(bob, ["q@localhost:1", f"zoe@{elsewhere.domain}"])
    work()
    go_on()
    for made, settled in ((first, (1, 1)), (second, (1, 0))):
        made.refresh_from_db()
        assert (made.state, (made.done, made.failed)) == ("running", settled)
    waiting = list(Lookup.objects.order_by("due_at", "id").values_list("address", flat=True))
    assert "q@localhost:1" in waiting[: importing.SOUGHT_PER_SERVER + 1]
    Lookup.objects.filter(address="q@localhost:1").update(dead_at="2020-01-01T00:00:00Z")
    go_on()
    second.refresh_from_db()
    assert (second.state, second.failed) == ("finished", 1)


@pytest.mark.verify
def test_an_import_ends_though_a_server_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    made = bring(make_user("ada"), ["p1@localhost:1", "p2@localhost:1"])
    work()
    Lookup.objects.update(created_at=F("created_at") - TERMS["lookups"].lifetime)
    go_on()
    go_on()
    made.refresh_from_db()
    assert (made.state, made.failed) == ("finished", 2)


@pytest.mark.usefixtures("unpaced")
def test_an_import_continues_after_its_lookups_were_lost(elsewhere: RemoteServer) -> None:
    elsewhere.person("zoe")
    made = bring(make_user("ada"), [f"zoe@{elsewhere.domain}"])
    drain("transfers")
    assert Lookup.objects.all().delete()[0] == 1
    go_on()
    go_on()
    made.refresh_from_db()
    assert (made.state, made.done) == ("finished", 1)


@pytest.mark.usefixtures("unpaced")
def test_a_line_with_an_alias_of_an_account_fails_and_is_not_retried(elsewhere: RemoteServer) -> None:
    zoe = elsewhere.person("zoe")
    elsewhere.finger("zed", zoe.uri, subject=f"acct:zoe@{elsewhere.domain}")
    made = bring(make_user("ada"), [f"zed@{elsewhere.domain}"])
    for _turn in range(3):
        go_on()
    made.refresh_from_db()
    assert (made.state, made.failed) == ("finished", 1)
    assert looked_up(elsewhere).count(f"zed@{elsewhere.domain}") == 1


@pytest.mark.usefixtures("hourly")
def test_row_71_lookups_for_imports_on_one_server_have_a_pace_however_many_are_due(
    elsewhere: RemoteServer,
) -> None:
    ada, bob = make_user("ada"), make_user("bob")
    for user, first in ((ada, 0), (bob, 1000)):
        bring(user, [f"p{number}@{elsewhere.domain}" for number in range(first, first + 300)])
    work()
    assert len(looked_up(elsewhere)) == 1
    # After an outage all lookups and events have been due for a long time.
    Lookup.objects.update(due_at="2020-01-01T00:00:00Z")
    assert Lookup.objects.count() > 30
    for _turn in range(3):
        OutboxRow.objects.update(due_at="2020-01-01T00:00:00Z")
        work()
    assert len(looked_up(elsewhere)) == 1
    go_on()
    assert len(set(looked_up(elsewhere))) == 2


@pytest.mark.usefixtures("hourly")
def test_row_71_the_pace_of_imports_delays_no_other_requests_to_the_server(elsewhere: RemoteServer) -> None:
    bring(make_user("ada"), [f"p{number}@{elsewhere.domain}" for number in range(30)])
    work()
    asked = len(elsewhere.gets())
    requests.request_posts([f"{elsewhere.url}/notes/1"], named_by=elsewhere.url, remaining=0)
    work()
    assert elsewhere.gets()[asked:] == ["/notes/1"]


def test_row_71_lookups_for_imports_on_one_server_are_at_least_a_second_apart() -> None:
    assert TERMS["lookups"].pace >= 1
