"""Tests that admin lists read few rows of large tables."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from accounts.identity.queries.sign_up import load_email_findings
from accounts.identity.queries.tokens import find_email_of
from accounts.models import Account, Domain, User
from accounts.queries.accounts import find_by_address, has_address
from federation.models import InboundActivity
from federation.remote import signers
from federation.remote.references import find_account_by_uri
from moderation.queries.instance import load_instance
from social.api import staff
from social.api.staff_columns import COUNT_LIMIT
from social.kernel import links
from tests.factories.accounts import make_many_remote, make_remote
from tests.support.client import signed_in
from tests.timelines.plans import looked_at

pytestmark = pytest.mark.django_db
ACCOUNTS = 3_000


@pytest.fixture
def client(boss: User) -> Client:
    return signed_in(boss)


@pytest.fixture
def many_accounts(db: None) -> None:
    make_many_remote(ACCOUNTS)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_account")


def found(model: type[Any], term: str) -> list[str]:
    page: Any = admin.site.get_model_admin(model)
    rows, _doubles = page.get_search_results(RequestFactory().get("/"), model._default_manager.all(), term)
    return [str(row) for row in rows]


@pytest.mark.usefixtures("many_accounts")
def test_accounts_are_sorted_by_address_with_an_index(client: Client) -> None:
    with CaptureQueriesContext(connection) as queries:
        rows = client.get("/admin/accounts/account/", {"o": "1.-6"}).context["cl"].result_list
    assert [row.username for row in rows][:3] == ["boss", "m0", "m1"]
    (page,) = (
        query["sql"] for query in queries if 'FROM "accounts_account"' in query["sql"] and "note_html" in query["sql"]
    )
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + page.replace("%", "%%"))
        plan = " ".join(row[0] for row in cursor.fetchall())
    assert "accounts_account_prefix" in plan, plan


@pytest.mark.parametrize("place", ["accounts/account/?o=-4", "federation/inboundactivity/?o=1"])
def test_a_column_without_an_index_cannot_be_sorted(client: Client, place: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/admin/{place}")
    assert not [one["sql"] for one in queries if 'statuses_count" DESC' in one["sql"] or '"type" ASC' in one["sql"]]


@pytest.mark.usefixtures("many_accounts", "boss")
def test_accounts_are_found_by_the_start_of_the_name_the_server_or_part_of_a_recent_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Domain.objects.create(name="garden.example")
    anna = make_remote("anna", "Garden.example", display_name="Rosa Blume")
    for term in ("ann", "@anna@garden.example", "@an@garden", "nna", "garden.exam", "blu", "rosa"):
        assert found(Account, term) == [str(anna)], term
    assert found(Account, "@boss") == found(Account, "oss") == ["boss"]
    assert found(Account, "nobody") == found(Account, "@nobody@garden.example") == []
    monkeypatch.setattr(staff.newest, "__defaults__", (50,))
    assert looked_at(lambda: found(Account, "nobody")) < 400


@pytest.mark.usefixtures("many_accounts", "boss")
def test_an_address_is_found_with_the_index_of_addresses() -> None:
    anna = make_remote("Anna", "garden.example")
    named: dict[str, Callable[[], object]] = {
        "by address": lambda: find_by_address("anna@Garden.example"),
        "somebody here": lambda: Account.objects.filter(has_address("BOSS", None)).first(),
        "to sign in": lambda: find_email_of("@BOSS"),
        "by e-mail address": lambda: load_email_findings("BOSS@example.com"),
        "of a key": lambda: signers._known_key("acct:anna@garden.example"),
        "of a page": lambda: find_account_by_uri(links.web_url("/@Boss")),
        "contact": load_instance,
    }
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_account, accounts_user")
    assert find_by_address("anna@Garden.example") == anna
    assert find_email_of("@BOSS") is not None
    assert {name: rows for name, call in named.items() if (rows := looked_at(call)) > 100} == {}


def test_activities_are_searched_only_among_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    actor = make_remote("anna")
    for number in range(4):
        InboundActivity.objects.create(
            fingerprint=str(number), actor=actor, type="Like", uri=f"https://a.example/{number}"
        )
    monkeypatch.setattr(staff.newest, "__defaults__", (2,))
    for term in ("a.example", "@anna@remote.example", "ann"):
        assert found(InboundActivity, term) == ["Like https://a.example/2", "Like https://a.example/3"], term


@pytest.mark.usefixtures("many_accounts")
def test_an_admin_list_counts_no_further_than_the_limit(client: Client) -> None:
    page = client.get("/admin/accounts/account/", {"home": "elsewhere"}).context["cl"]
    assert page.result_count == COUNT_LIMIT < ACCOUNTS
