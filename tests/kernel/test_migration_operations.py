"""Several models made by one operation are the models and tables that an operation each would make."""

from __future__ import annotations

import pytest
from django.db import connection, models
from django.db.migrations import CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from social.kernel.migration_operations import CreateModels

pytestmark = pytest.mark.django_db
LEAF = CreateModel(
    "Leaf",
    [("id", models.BigAutoField(primary_key=True)), ("tree", models.ForeignKey("kernel_test.tree", models.CASCADE))],
)
TREE = CreateModel("Tree", [("id", models.BigAutoField(primary_key=True)), ("name", models.TextField(unique=True))])


def tables() -> dict[str, tuple[list[str], set[str]]]:
    """Columns and constraints of the tables that there are."""
    with connection.cursor() as cursor:
        return {
            name: (
                [column.name for column in connection.introspection.get_table_description(cursor, name)],
                set(connection.introspection.get_constraints(cursor, name)),
            )
            for name in ("kernel_test_leaf", "kernel_test_tree")
            if name in connection.introspection.table_names(cursor)
        }


def made_by(*operations: Operation) -> dict[str, tuple[list[str], set[str]]]:
    """The tables after these operations, which are undone."""
    states = [ProjectState()]
    for operation in operations:
        states.append(states[-1].clone())
        operation.state_forwards("kernel_test", states[-1])
    with connection.schema_editor() as editor:
        for number, operation in enumerate(operations):
            operation.database_forwards("kernel_test", editor, states[number], states[number + 1])
    found = tables()
    with connection.schema_editor() as editor:
        for number, operation in reversed(list(enumerate(operations))):
            operation.database_backwards("kernel_test", editor, states[number + 1], states[number])
    assert tables() == {}
    return found


def test_the_tables_are_those_of_an_operation_each() -> None:
    found = made_by(CreateModels([TREE, LEAF]))
    assert set(found) == {"kernel_test_leaf", "kernel_test_tree"}
    assert found == made_by(TREE, LEAF)


def test_a_model_may_refer_to_a_later_one() -> None:
    assert made_by(CreateModels([LEAF, TREE])) == made_by(CreateModels([TREE, LEAF]))


def test_models_that_were_rendered_before_are_known_with_the_new_ones() -> None:
    state = ProjectState()
    TREE.state_forwards("kernel_test", state)
    assert state.apps.get_model("kernel_test", "Tree")._meta.related_objects == ()
    CreateModels([LEAF]).state_forwards("kernel_test", state)
    assert [one.name for one in state.apps.get_model("kernel_test", "Tree")._meta.related_objects] == ["leaf"]
