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
                f"DROP INDEX IF EXISTS {index};", f"CREATE INDEX {index} ON accounts_{model} ({field}_id);"
            )
        ],
    )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_words")]
    operations = [
        _without_index(
            "block", "account", "accounts_block_account_id_d7dc7847", related_name="blocks", to="accounts.account"
        ),
        _without_index(
            "block", "target", "accounts_block_target_id_b592586a", related_name="blocked_by", to="accounts.account"
        ),
        _without_index(
            "mute", "account", "accounts_mute_account_id_5d21ba30", related_name="mutes", to="accounts.account"
        ),
        _without_index(
            "mute", "target", "accounts_mute_target_id_44802a92", related_name="muted_by", to="accounts.account"
        ),
        _without_index(
            "follow", "account", "accounts_follow_account_id_28ed45f0", related_name="following", to="accounts.account"
        ),
        _without_index(
            "follow", "target", "accounts_follow_target_id_9dfb6db1", related_name="followers", to="accounts.account"
        ),
        _without_index(
            "followrequest",
            "account",
            "accounts_followrequest_account_id_bb42bcfa",
            related_name="follow_requests_sent",
            to="accounts.account",
        ),
        _without_index(
            "followrequest",
            "target",
            "accounts_followrequest_target_id_51fa5c1c",
            related_name="follow_requests",
            to="accounts.account",
        ),
    ]
