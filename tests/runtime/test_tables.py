"""Tests that the doctor, the setup and a start find tables which differ from the models, and that the remedy works."""

from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client

from social.runtime import database, doctor, health, machine_checks, tables
from social.runtime.failures import OperatorError
from tests.factories.accounts import make_account

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.conf.settings.DATA_DIR", tmp_path)
    monkeypatch.setattr("django.conf.settings.STATIC_ROOT", str(tmp_path / "static"))


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(statement)


def found_by_doctor() -> machine_checks.Check:
    return next(check for check in doctor._migrations() if check.name == "tables")


LOST = {
    "ALTER TABLE accounts_tag DROP COLUMN private": "accounts_tag.private is missing",
    "ALTER TABLE accounts_account DROP COLUMN held_at": "accounts_account.held_at is missing",
    "DROP INDEX timelines_list_active": "timelines_list_active on timelines_list is missing",
    "ALTER TABLE accounts_tagfollow DROP CONSTRAINT accounts_tagfollow_pair": "accounts_tagfollow_pair on",
}


@pytest.mark.parametrize(("statement", "words"), LOST.items())
def test_missing_parts_of_tables_are_named_and_the_remedy_adds_them(statement: str, words: str) -> None:
    call_command("setup", verbosity=0)
    make_account("alice")
    execute(statement)
    check = found_by_doctor()
    assert check.state == "failed"
    assert words in check.detail
    assert "setup --add-missing" in check.remedy
    with connection.cursor() as cursor:
        assert not database.is_schema_current(cursor, settings.DATA_DIR, settings.INSTALLED_APPS)
    with pytest.raises(OperatorError, match=r"recorded as applied.*is missing.*setup --add-missing"):
        call_command("setup", verbosity=0)
    call_command("setup", add_missing=True, verbosity=0)
    assert found_by_doctor().state == "ok"
    with connection.cursor() as cursor:
        assert database.is_schema_current(cursor, settings.DATA_DIR, settings.INSTALLED_APPS)


FOREIGN = {
    "DROP TABLE timelines_listmember": "the table timelines_listmember is missing",
    "ALTER TABLE accounts_tag ADD COLUMN colour text NOT NULL": "accounts_tag.colour is required by another release",
    "ALTER TABLE accounts_tag ALTER COLUMN display_name DROP NOT NULL": "accounts_tag.display_name may be null",
    "ALTER TABLE accounts_tag ALTER COLUMN trendable TYPE text": "accounts_tag.trendable is text instead of boolean",
}


@pytest.mark.parametrize(("statement", "words"), FOREIGN.items())
def test_setup_refuses_to_add_what_cannot_be_added(statement: str, words: str) -> None:
    execute(statement)
    check = found_by_doctor()
    assert words in check.detail
    assert "Start the release that this database belongs to" in check.remedy
    with pytest.raises(OperatorError, match="Start the release"):
        call_command("setup", add_missing=True, verbosity=0)


def test_nothing_is_added_if_existing_rows_lack_a_required_value() -> None:
    make_account("alice")
    execute("ALTER TABLE accounts_account DROP COLUMN username CASCADE")
    execute("DROP INDEX timelines_list_active")
    with pytest.raises(OperatorError, match="cannot be added"):
        tables.add_missing()
    assert {"timelines_list_active on timelines_list is missing"} < {one.what for one in tables.differences()}


def test_columns_that_an_operator_has_added_and_that_need_no_value_are_not_reported() -> None:
    execute("ALTER TABLE accounts_tag ADD COLUMN colour text, ADD COLUMN size int NOT NULL DEFAULT 1")
    assert tables.differences() == []


def test_a_process_whose_tables_lack_a_column_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_migrated", False)
    execute("ALTER TABLE accounts_tag DROP COLUMN private")
    answer = Client().get("/health/ready")
    assert answer.status_code == 503
    assert answer.json()["checks"]["migrations"] == "failed"
