"""Applies migrations while other processes may still write: slow work is done before any table is locked."""

from contextlib import suppress
from typing import Any

from django.core.management import call_command
from django.core.management.commands import migrate as command
from django.db import ProgrammingError
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState


class PreparingExecutor(MigrationExecutor):
    """Django's executor, except that it makes the model classes for all operations of a migration before its transaction
    begins.

    Django makes them between the operations, which takes a third of a second for each while tables are locked.
    """

    def apply_migration(
        self, state: ProjectState, migration: Migration, fake: bool = False, fake_initial: bool = False
    ) -> ProjectState:
        """Apply one migration. A new database, which no other process uses, is migrated as Django does."""
        if self.loader.applied_migrations:
            # An autovacuum releases its table after a lock request has waited this long, and writers wait behind that request.
            # Setting the time needs a right that the role of the embedded PostgreSQL has; without the right it remains one
            # second.
            with suppress(ProgrammingError), self.connection.cursor() as cursor:
                cursor.execute("SET deadlock_timeout = '100ms'")
        if fake or not migration.atomic or not self.loader.applied_migrations:
            return super().apply_migration(state, migration, fake, fake_initial)
        states = [state]
        for operation in migration.operations:
            state = states[-1].clone()
            operation.state_forwards(migration.app_label, state)
            _ = state.apps
            states.append(state)

        def apply(
            _project_state: ProjectState, schema_editor: BaseDatabaseSchemaEditor, _collect_sql: bool = False
        ) -> ProjectState:
            for operation, before, after in zip(migration.operations, states, states[1:], strict=False):
                operation.database_forwards(migration.app_label, schema_editor, before, after)
            return states[-1]

        migration.apply = apply  # type: ignore[method-assign, assignment]  # for this one run
        try:
            return super().apply_migration(states[0], migration, fake, fake_initial)
        finally:
            del migration.apply  # restores the method of its class


def migrate(**options: Any) -> None:
    """Run `call_command("migrate")` with PreparingExecutor, for which that command has no option."""
    former = command.MigrationExecutor  # type: ignore[attr-defined]  # Django's module imports it
    command.MigrationExecutor = PreparingExecutor  # type: ignore[attr-defined]  # as above
    try:
        call_command("migrate", **options)
    finally:
        command.MigrationExecutor = former  # type: ignore[attr-defined]  # as above
