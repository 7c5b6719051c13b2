"""Tests that the domain cannot change, and that a start which skips the setup detects pending migrations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from social.kernel.installation import Installation
from social.runtime import database
from social.runtime.failures import OperatorError

pytestmark = pytest.mark.django_db


@pytest.fixture
def cursor() -> Iterator[Any]:
    with connection.cursor() as found:
        yield found


def test_the_first_stored_domain_is_never_replaced(cursor: Any) -> None:
    assert database.check_domain(cursor, "first.example") is False
    database.store_domain(cursor, "first.example")
    database.store_domain(cursor, "first.example")
    assert database.check_domain(cursor, "first.example") is True
    with pytest.raises(OperatorError, match=r"first\.example for ever.*--domain first\.example"):
        database.check_domain(cursor, "second.example")
    with pytest.raises(OperatorError):
        database.store_domain(cursor, "second.example")
    assert Installation.objects.get().local_domain == "first.example"


def test_a_second_row_of_the_installation_is_refused() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Installation.objects.create(id=2, local_domain="x")


def test_a_new_database_has_no_domain(cursor: Any) -> None:
    cursor.execute("DROP TABLE social_installation")
    assert database.stored_domain(cursor) is None


def test_a_schema_is_current_only_for_the_same_code_and_the_same_applied_migrations(
    cursor: Any, tmp_path: Path
) -> None:
    apps = settings.INSTALLED_APPS
    assert not database.is_schema_current(cursor, tmp_path, apps)
    database.note_schema(cursor, tmp_path, apps)
    assert database.is_schema_current(cursor, tmp_path, apps)
    assert not database.is_schema_current(cursor, tmp_path, [app for app in apps if app != "accounts"])
    cursor.execute("DELETE FROM django_migrations WHERE app = 'accounts' AND name LIKE '0001%%'")
    assert not database.is_schema_current(cursor, tmp_path, apps)


def test_a_separate_process_does_not_start_while_a_migration_of_its_release_is_not_applied(cursor: Any) -> None:
    database.refuse_older_tables(cursor, settings.INSTALLED_APPS)
    cursor.execute("DELETE FROM django_migrations WHERE app = 'mfa' AND name LIKE '0002%%'")
    with pytest.raises(OperatorError, match=r"mfa\.0002_\w+ is not applied\. Run .*setup"):
        database.refuse_older_tables(cursor, settings.INSTALLED_APPS)


def test_a_damaged_schema_digest_counts_as_not_current(cursor: Any, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "schema.json").write_text("{")
    assert not database.is_schema_current(cursor, tmp_path, settings.INSTALLED_APPS)


def test_every_migration_file_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrations = tmp_path / "some_app" / "inner" / "migrations"
    migrations.mkdir(parents=True)
    (tmp_path / "some_app" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    names = ["some_app.inner"], ["some_app.inner.apps.InnerConfig"]
    marks = [database.code_mark(apps) for apps in names]
    (migrations / "0001_initial.py").write_text("1")
    assert all(database.code_mark(apps) != mark for apps, mark in zip(names, marks, strict=True))


def test_setup_can_be_repeated_and_stores_the_digest_for_quick_starts(
    cursor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.conf.settings.DATA_DIR", tmp_path)
    monkeypatch.setattr("django.conf.settings.STATIC_ROOT", str(tmp_path / "static"))
    for _ in range(2):
        call_command("setup", verbosity=0)
        assert database.stored_domain(cursor) == settings.LOCAL_DOMAIN
        assert database.is_schema_current(cursor, tmp_path, settings.INSTALLED_APPS)


@pytest.mark.parametrize("domain", ["social.example:443", "social.example:8443", "192.0.2.1:8000", "[2001:db8::1]:443"])
def test_a_domain_with_a_port_is_refused_at_the_first_start(
    cursor: Any, monkeypatch: pytest.MonkeyPatch, domain: str
) -> None:
    for name in ("LOCAL_DOMAIN", "WEB_DOMAIN"):
        with monkeypatch.context() as patched:
            patched.setattr(f"django.conf.settings.{name}", domain)
            patched.setattr(f"social.settings.env.{name}", domain)
            with pytest.raises(OperatorError, match=f"{name}=.*has a port.*Set {name}="):
                call_command("setup", verbosity=0)
        assert database.stored_domain(cursor) is None


@pytest.mark.parametrize(
    "domain",
    ["localhost:8000", "social.localhost:3000", "127.0.0.1:8000", "[::1]:8000", "social.example", "[2001:db8::1]"],
)
def test_a_domain_without_a_port_and_a_loopback_domain_with_one_can_start(cursor: Any, domain: str) -> None:
    database.store_domain(cursor, domain)
    assert database.stored_domain(cursor) == domain


def test_a_server_that_was_set_up_with_a_port_still_starts(cursor: Any) -> None:
    cursor.execute(
        "INSERT INTO social_installation (id, local_domain, fingerprints, created_at) "
        "VALUES (1, 'social.example:8443', '{}', now())"
    )
    assert database.check_domain(cursor, "social.example:8443") is True


def test_setup_refuses_another_domain_before_it_changes_anything(cursor: Any, tmp_path: Path) -> None:
    database.store_domain(cursor, "first.example")
    with pytest.raises(OperatorError, match=r"first\.example"):
        call_command("setup", verbosity=0)
