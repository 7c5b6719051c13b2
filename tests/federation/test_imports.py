"""A list that somebody brings along names people who are unknown here: their servers are asked in the background."""

from __future__ import annotations

import pytest

from accounts.models import Account, FollowRequest, Import, User
from accounts.policies.transfers import Problem
from accounts.services.importing import read_import, start_import
from accounts.services.portable_lists import find_list
from federation.models import Fetch, FetchKind
from federation.remote import requests
from social.kernel.outbox import OutboxRow, drain
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
    """As if a while had passed."""
    OutboxRow.objects.filter(event="ImportDue").update(due_at="2020-01-01T00:00:00Z")
    work()


def test_unknown_people_are_found_and_followed_and_the_others_named(elsewhere: RemoteServer) -> None:
    ada = make_user("ada")
    for name in ("zoe", "yan"):
        elsewhere.person(name)
    made = bring(ada, [f"{name}@{elsewhere.domain}" for name in ("zoe", "nobody", "yan")])
    work()
    go_on()
    made.refresh_from_db()
    assert (made.state, made.done, made.failed) == ("finished", 2, 1)
    assert {item["type"] for item in elsewhere.delivered()} == {"Follow"}
    assert FollowRequest.objects.filter(account=ada.account).count() == 2
    assert list(made.rows.values_list("cells__0", "error")) == [(f"nobody@{elsewhere.domain}", Problem.UNKNOWN)]
    assert Account.objects.filter(domain=elsewhere.domain).count() == 2


def test_one_server_is_asked_little_at_a_time(elsewhere: RemoteServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "ADDRESSES_PER_HOST", 3)
    made = bring(make_user("ada"), [f"p{number}@{elsewhere.domain}" for number in range(8)])
    drain("transfers")
    assert Fetch.objects.filter(kind=FetchKind.ADDRESS).count() == 3
    for _turn in range(10):
        go_on()
    made.refresh_from_db()
    assert (made.state, made.failed) == ("finished", 8)


def test_a_server_that_does_not_answer_holds_up_nobody_else(elsewhere: RemoteServer) -> None:
    elsewhere.person("zoe")
    made = bring(make_user("ada"), ["dead@localhost:1", f"zoe@{elsewhere.domain}", "dead@no..domain"])
    work()
    go_on()
    made.refresh_from_db()
    assert (made.state, made.done, made.failed) == ("running", 1, 1)
    Fetch.objects.filter(host="localhost:1").update(dead_at="2020-01-01T00:00:00Z")
    go_on()
    made.refresh_from_db()
    assert (made.state, made.failed) == ("finished", 2)
