"""Tests of compiled queries: they return the same rows as the queryset, with any number of values and threads."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import close_old_connections, connection, transaction
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, User
from social.kernel import statements
from social.kernel.fast import is_plain
from social.kernel.plans import IDS, Plan, Slot
from tests.factories.accounts import make_account, make_user

pytestmark = pytest.mark.django_db
compiles = pytest.mark.skipif(is_plain("plans"), reason="a query is built and compiled each time")


def test_a_plan_returns_the_rows_of_its_query_set() -> None:
    people = [make_account(name, display_name=name.upper()) for name in ("anna", "ben", "cleo")]
    plan = Plan(lambda: Account.objects.filter(id__one_of=IDS).order_by("username"))
    found = plan.run(ids=[people[2].id, people[0].id])
    assert found == [people[0], people[2]]
    assert [account.display_name for account in found] == ["ANNA", "CLEO"]
    assert found[0].created_at == Account.objects.get(id=people[0].id).created_at
    assert plan.run(ids=[]) == []
    assert plan.first(ids=[]) is None


def test_a_plan_loads_related_rows() -> None:
    user = make_user("anna")
    plan = Plan(lambda: User.objects.select_related("account", "role").filter(id=Slot("id", User._meta.pk)))
    with CaptureQueriesContext(connection) as queries:
        found = plan.first(id=user.id)
        assert found is not None
        assert (found.account.username, found.role_id, found.role.id) == ("anna", user.role_id, user.role_id)
        assert found.preferences == user.preferences
    assert len(queries) == 1


def test_a_plan_converts_values_like_the_orm() -> None:
    account = make_account("anna")
    Account.objects.filter(id=account.id).update(fields=[{"name": "a"}])
    plan = Plan(lambda: Account.objects.filter(id=Slot("id", Account._meta.pk)).values_list("username", "fields"))
    assert plan.run(id=account.id) == [("anna", [{"name": "a"}])]


@compiles
def test_the_query_of_a_plan_is_built_once() -> None:
    built = []

    def build() -> QuerySet[Account]:
        built.append(1)
        return Account.objects.filter(id=Slot("id", Account._meta.pk))

    plan = Plan(build)
    accounts = [make_account() for _number in range(3)]
    assert [plan.first(id=account.id) for account in accounts] == accounts
    assert built == [1]


def test_a_missing_value_is_an_error() -> None:
    plan = Plan(lambda: Account.objects.filter(id=Slot("id", Account._meta.pk)))
    with pytest.raises(KeyError):
        plan.run()


@compiles
def test_prefetching_in_a_plan_is_an_error() -> None:
    with pytest.raises(ValueError, match="prefetch"):
        Plan(lambda: Account.objects.prefetch_related("moved_to")).run()


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_a_plan_returns_the_same_rows_without_a_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    people = [make_user(name).account for name in ("dora", "emil")]
    plans = (
        Plan(lambda: Account.objects.select_related("user__role", "stat").filter(id__one_of=IDS).order_by("username")),
        Plan(lambda: Account.objects.filter(id__one_of=IDS, username__contains="%m").order_by("-id")),
        Plan(
            lambda: (
                Account.objects.filter(id__one_of=IDS, domain=None).order_by("id").values_list("username", "created_at")
            )
        ),
    )
    ids = [account.id for account in people]
    with transaction.atomic():
        expected: list[list[Any]] = [plan.run(ids=ids) for plan in plans]
    with monkeypatch.context() as patch:
        if not is_plain("statements"):
            patch.setattr(statements, "_by_cursor", None)
        for plan, rows in zip(plans, expected, strict=True):
            found: list[Any] = plan.run(ids=ids)
            assert found == rows
            assert list(map(_members, found)) == list(map(_members, rows))
    assert [account.user.role_id for account in expected[0]] == [account.user.role_id for account in people]
    Account.objects.filter(id__one_of=ids).delete()


def _members(row: Any) -> Any:
    if isinstance(row, tuple):
        return row
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.mark.django_db(transaction=True)
def test_several_threads_can_run_a_plan_concurrently() -> None:
    accounts = [make_account() for _number in range(20)]
    plan = Plan(lambda: Account.objects.filter(id=Slot("id", Account._meta.pk)))

    def ask(account: Account) -> Account | None:
        try:
            return plan.first(id=account.id)
        finally:
            close_old_connections()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, accounts * 5)) == accounts * 5
        list(pool.map(lambda _number: connection.close(), range(8)))
