"""The index Django makes for every foreign key goes where another one begins with the same column.

Done by hand: Django would drop the foreign keys too and have PostgreSQL look through the tables to make them again.
"""

from __future__ import annotations

from django.db import migrations, models


def _without_index(model: str, field: str, index: str, **options: object) -> migrations.SeparateDatabaseAndState:
    foreign_key = models.ForeignKey(on_delete=models.CASCADE, db_index=False, **options)
    return migrations.SeparateDatabaseAndState(
        state_operations=[migrations.AlterField(model, field, foreign_key)],
        database_operations=[
            migrations.RunSQL(
                f"DROP INDEX IF EXISTS {index};", f"CREATE INDEX {index} ON federation_{model} ({field}_id);"
            )
        ],
    )


class Migration(migrations.Migration):
    dependencies = [("federation", "0002_words")]
    operations = [
        _without_index(
            "delivery",
            "activity",
            "federation_delivery_activity_id_acf14d06",
            related_name="deliveries",
            to="federation.outboundactivity",
        ),
    ]
