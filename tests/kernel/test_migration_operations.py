"""Tests of migrations that run while others write."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.operations import AddIndex, CreateModel
from django.db.migrations.state import ProjectState
from django.db.models import CASCADE, BigAutoField, Field, ForeignKey, Index, IntegerField

from social.kernel.migration_operations import CreateIndexBesideWriters, while_writing
from tests.support.servers import administrator

pytestmark = pytest.mark.django_db(transaction=True)
TABLE = "kernel_besidewriters"


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {TABLE}")


def indexes() -> dict[str, bool]:
    """Return the table's indexes except the primary key, each with whether it is valid."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
            " WHERE i.indrelid = to_regclass(%s) AND NOT i.indisprimary",
            [TABLE],
        )
        return dict(cursor.fetchall())


def test_an_interrupted_migration_continues_where_it_stopped() -> None:
    fields: list[tuple[str, Field]] = [("id", BigAutoField(primary_key=True)), ("number", IntegerField())]
    fields.append(("other", ForeignKey("self", CASCADE, null=True, db_index=False)))
    create = CreateModel("BesideWriters", fields)
    index = AddIndex("besidewriters", Index(fields=["number"], name="kernel_besidewriters_number"))
    operations = while_writing([create, index], model="besidewriters")

    def run(*chosen: int) -> None:
        before = ProjectState()
        for number, operation in enumerate(operations):
            after = before.clone()
            operation.state_forwards("kernel", after)
            if number in chosen:
                with connection.schema_editor(atomic=False) as editor:
                    operation.database_forwards("kernel", editor, before, after)
            before = after

    run(0)
    assert indexes() == {}
    run(0, 1)
    assert indexes() == {"kernel_besidewriters_number": True}
    with administrator(connection.settings_dict["NAME"]) as admin:
        admin.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'kernel_besidewriters_number'::regclass"
        )
        admin.execute("UPDATE pg_constraint SET convalidated = false WHERE conrelid = to_regclass(%s)", [TABLE])
    run(0, 1)
    run(0, 1)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT convalidated FROM pg_constraint WHERE conrelid = to_regclass(%s) AND contype = 'f'", [TABLE]
        )
        assert cursor.fetchall() == [(True,)]
    assert indexes() == {"kernel_besidewriters_number": True}


def test_an_index_is_created_only_where_it_is_missing() -> None:
    operation = CreateIndexBesideWriters("kernel_besidewriters_number", f"ON {TABLE} (number)")
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {TABLE} (id bigint PRIMARY KEY, number int)")
    for _time in range(2):
        with connection.schema_editor(atomic=False) as editor:
            operation.database_forwards("kernel", editor, ProjectState(), ProjectState())
        assert indexes() == {"kernel_besidewriters_number": True}
