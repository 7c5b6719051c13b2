"""Operations of migrations beyond Django's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation, OperationCategory
from django.db.migrations.state import ProjectState


class CreateModels(Operation):
    """`CreateModel` for several models at once, in their order; a model may refer to any other of the group.

    Each model that joins a state of which classes have been made has Django make those of all related models again, so
    that a hundred `CreateModel` make some thousands of classes, which is most of what preparing a new database costs.
    Here the classes are made once, when all models are known.
    """

    reduces_to_sql = True
    category = OperationCategory.ADDITION

    def __init__(self, operations: Sequence[CreateModel]) -> None:
        self.operations = list(operations)

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """Arguments for Django's writer of migrations."""
        return self.__class__.__name__, [self.operations], {}

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Add the models; their classes and those of models related to them are made when first asked for."""
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        """Create the tables."""
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        """Drop the tables, the last one first."""
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        """The line of `migrate --plan`."""
        return f"Create models {', '.join(operation.name for operation in self.operations)}"

    def references_model(self, name: str, app_label: str) -> bool:
        """Tell whether one of the operations may."""
        return any(operation.references_model(name, app_label) for operation in self.operations)
