"""Operations of migrations beyond Django's own."""

from collections.abc import Sequence
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import AddIndex, CreateModel, RemoveIndex
from django.db.migrations.operations.base import Operation, OperationCategory
from django.db.migrations.state import ProjectState

# Returns statements that validate foreign keys that were added NOT VALID. Validation does not block writers.
_UNVALIDATED = """
SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint
 WHERE contype = 'f' AND NOT convalidated AND connamespace = current_schema()::regnamespace
"""


class _Group(Operation):
    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations: list[Any] = list(operations)

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return self.__class__.__name__, [self.operations], {}

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        for operation in self.operations:
            operation.state_forwards(app_label, state)


class CreateModels(_Group):
    """`CreateModel` for several models together, in their order; a model may refer to any other model of the group.

    When a model is added to a state whose classes exist, Django makes the classes of all related models again. A hundred
    `CreateModel` make thousands of classes, which takes most of the time needed to create a new database. Here the classes are
    made once, when all models are known.
    """

    reduces_to_sql = True
    category = OperationCategory.ADDITION

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        # The classes of all models are made on first use.
        state.__dict__.pop("apps", None)
        super().state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create models {', '.join(operation.name for operation in self.operations)}"

    def references_model(self, name: str, app_label: str) -> bool:
        return any(operation.references_model(name, app_label) for operation in self.operations)


def while_writing(operations: Sequence[Operation], *, model: str) -> list[Operation]:
    """Return the operations of a migration for a running server: the indexes of a large `model` are built without blocking
    writers, after everything else has been done in one transaction.

    Use these in a non-atomic migration that replaces a released one; servers that have applied the replaced migration do
    nothing. After an interruption, the migration continues where it stopped.
    """
    indexes = [one for one in operations if isinstance(one, AddIndex | RemoveIndex) and one.model_name == model]
    others = [one for one in operations if one not in indexes]
    added = [AddIndexBesideWriters(one.model_name, one.index) for one in indexes if isinstance(one, AddIndex)]
    removed = [RemoveIndexConcurrently(one.model_name, one.name) for one in indexes if isinstance(one, RemoveIndex)]
    return [*([InOneTransaction(others)] if others else []), *added, *removed]


class InOneTransaction(_Group):
    """Operations that a non-atomic migration runs in one transaction, and only once, however often the migration is started.

    The table of the first `CreateModel` shows whether the operations were run. The classes of all models are built beforehand,
    so that no lock is held during that time.
    """

    category = OperationCategory.MIXED

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        connection = schema_editor.connection
        made = next(operation for operation in self.operations if isinstance(operation, CreateModel))
        table = to_state.apps.get_model(app_label, made.name)._meta.db_table
        if table not in connection.introspection.table_names():
            states = self._states(app_label, from_state)
            with connection.schema_editor(atomic=True) as editor:
                # Foreign keys lock the tables they refer to, so they are added last, and existing rows are validated
                # afterwards.
                editor.sql_create_column_inline_fk = None
                editor.sql_create_fk = f"{editor.sql_create_fk} NOT VALID"
                for operation, before, after in zip(self.operations, states, states[1:], strict=False):
                    operation.database_forwards(app_label, editor, before, after)
        with connection.cursor() as cursor:
            cursor.execute(_UNVALIDATED)
            for (statement,) in cursor.fetchall():
                cursor.execute(statement)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        states = self._states(app_label, to_state)
        with schema_editor.connection.schema_editor(atomic=True) as editor:
            for operation, before, after in reversed(list(zip(self.operations, states, states[1:], strict=False))):
                operation.database_backwards(app_label, editor, after, before)

    def _states(self, app_label: str, first: ProjectState) -> list[ProjectState]:
        states = [first]
        for operation in self.operations:
            state = states[-1].clone()
            operation.state_forwards(app_label, state)
            states.append(state)
        for state in states:
            _ = state.apps
        return states

    def describe(self) -> str:
        return "; ".join(operation.describe() for operation in self.operations)


class AddIndexBesideWriters(AddIndexConcurrently):
    """`AddIndexConcurrently` that may run again after an interruption: it rebuilds an invalid index and keeps a valid one."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        if not _is_built(schema_editor, self.index.name):
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class CreateIndexBesideWriters(Operation):
    """Creation of an index that Django's state already has, on servers that lack it; `definition` is the SQL after its name."""

    reversible = True
    category = OperationCategory.ADDITION
    atomic = False

    def __init__(self, name: str, definition: str) -> None:
        self.name, self.definition = name, definition

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Change nothing."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        if not _is_built(schema_editor, self.name):
            schema_editor.execute(f"CREATE INDEX CONCURRENTLY {self.name} {self.definition}")

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        """Change nothing."""

    def describe(self) -> str:
        return f"Create index {self.name} where it is missing"


def _is_built(schema_editor: BaseDatabaseSchemaEditor, name: str) -> bool:
    """Tell whether an index exists and is valid; an invalid one, left by an interruption, is removed."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [name])
        row = cursor.fetchone()
    if row is not None and not row[0]:
        schema_editor.execute(f"DROP INDEX CONCURRENTLY {schema_editor.quote_name(name)}")
    return row is not None and bool(row[0])
