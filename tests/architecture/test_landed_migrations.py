"""Tests that migrations do not change once they have landed, and that the previous release can still write after a new
migration. Servers that have applied a migration never run it again.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db import models
from django.db.migrations import AddField, CreateModel, Migration, SeparateDatabaseAndState
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from tests.support.documents import LANDED, ROOT, landed_of, migrations, with_migrations

#: Columns added by migrations that are older than the rule.
OLDER_THAN_THE_RULE = {
    "accounts.0005_further_keys: keypair.further_keys",
    "accounts.0008_featured_tags_of_other_servers: account.featured_tags_url",
    "accounts.0009_what_copies_show: remotecopy.measured",
    "moderation.0003_rules_and_reasons: strike.statement",
}


def faults(root: Path, lines: str) -> list[str]:
    """Return the faults of the migrations below `root`, as sentences."""
    landed, present = landed_of(lines), migrations(root)
    found = []
    for name in sorted(landed.keys() | present.keys()):
        if name not in present:
            found.append(f"{name} has landed and is gone: bring it back, and undo what it did in a new migration.")
        elif name not in landed:
            found.append(f"{name} is new: `make documents` adds it to {LANDED.relative_to(ROOT)}.")
        elif landed[name] != present[name]:
            found.append(
                f"{name} has landed and was edited: servers that have applied it would never get the change. "
                "Restore it, and write a new migration."
            )
    return found


def test_no_landed_migration_was_edited() -> None:
    assert faults(ROOT, LANDED.read_text()) == []


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "is new: `make documents` adds it"),
        (f"{'0' * 64}  app/migrations/0001_a.py", "was edited"),
        (
            f"{hashlib.sha256(b'').hexdigest()}  app/migrations/0001_a.py\n{'0' * 64}  app/migrations/0002_b.py",
            "is gone",
        ),
    ],
)
def test_a_new_an_edited_and_a_missing_migration_are_found(tmp_path: Path, lines: str, words: str) -> None:
    (tmp_path / "app" / "migrations").mkdir(parents=True)
    (tmp_path / "app" / "migrations" / "0001_a.py").touch()
    (found,) = faults(tmp_path, lines)
    assert words in found
    assert faults(tmp_path, with_migrations(lines, tmp_path)) == ([] if not lines else [found])


def _operations(given: list[Operation]) -> Iterator[Operation]:
    """Yield the operations, including nested ones."""
    for each in given:
        yield each
        yield from _operations(getattr(each, "database_operations", getattr(each, "operations", [])))


def refused_columns(migration: Migration) -> list[str]:
    """Return the columns a migration adds to existing tables without allowing inserts that omit them."""
    operations = list(_operations(migration.operations))
    new = {each.name_lower for each in operations if isinstance(each, CreateModel)}
    return [
        f"{migration.app_label}.{migration.name}: {each.model_name_lower}.{each.name}"
        for each in operations
        if isinstance(each, AddField)
        and each.model_name_lower not in new
        and not (each.field.null or each.field.has_db_default() or each.field.many_to_many or each.field.generated)
    ]


def test_the_previous_release_can_insert_rows_without_newly_added_columns() -> None:
    migrations = MigrationLoader(None).disk_migrations.values()
    ours = [each for each in migrations if Path(apps.get_app_config(each.app_label).path).parent == ROOT]
    found = {column for migration in ours for column in refused_columns(migration)}
    assert found == OLDER_THAN_THE_RULE, (
        "While a server is upgraded the release before leaves new columns out: give the field a `db_default`, or "
        "`null=True`, and make the migration anew."
    )


@pytest.mark.parametrize(
    ("field", "refused"),
    [
        (models.TextField(default=""), True),
        (models.ForeignKey("app.One", on_delete=models.CASCADE), True),
        (models.TextField(default="", db_default=""), False),
        (models.TextField(null=True), False),
        (models.ManyToManyField("app.One"), False),
    ],
)
def test_an_added_required_column_is_found_except_in_a_new_table(field: models.Field, refused: bool) -> None:
    migration = Migration("0002_more", "app")
    added = SeparateDatabaseAndState([AddField("One", "added", field)])
    migration.operations = [added, CreateModel("Two", []), AddField("Two", "added", field)]
    assert refused_columns(migration) == ["app.0002_more: one.added"] * refused
