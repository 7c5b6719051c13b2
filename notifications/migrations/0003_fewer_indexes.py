"""The index Django makes for every foreign key goes where another one does its work: six are left of nine.

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
                f"DROP INDEX IF EXISTS {index};", f"CREATE INDEX {index} ON notifications_{model} ({field}_id);"
            )
        ],
    )


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0002_cause_first"),
        ("accounts", "0004_fewer_indexes"),
        ("statuses", "0005_rows_by_index"),
    ]
    operations = [
        _without_index(
            "notification",
            "account",
            "notifications_notification_account_id_e2a0bb0c",
            related_name="notifications",
            to="accounts.account",
        ),
        _without_index(
            "notification",
            "from_account",
            "notifications_notification_from_account_id_65075e0a",
            related_name="+",
            to="accounts.account",
        ),
        _without_index(
            "notification",
            "status",
            "notifications_notification_status_id_0591397a",
            related_name="+",
            to="statuses.status",
            null=True,
        ),
    ]
