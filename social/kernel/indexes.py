"""Knows how a migration takes away the index that Django makes for every foreign key."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models


def without_index(app: str, model: str, field: str, index: str, **options: Any) -> migrations.SeparateDatabaseAndState:
    """Drop `index`, of a foreign key with CASCADE and these options, where another one begins with the same column.

    By itself Django would drop the foreign key too, and have PostgreSQL look through the table to make it again.
    """
    foreign_key: Any = models.ForeignKey(on_delete=models.CASCADE, db_index=False, **options)
    return migrations.SeparateDatabaseAndState(
        state_operations=[migrations.AlterField(model, field, foreign_key)],
        database_operations=[
            migrations.RunSQL(f"DROP INDEX IF EXISTS {index}", f"CREATE INDEX {index} ON {app}_{model} ({field}_id)")
        ],
    )
