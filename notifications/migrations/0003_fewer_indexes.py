"""The index Django makes for every foreign key goes where another one does its work: six are left of nine."""

from __future__ import annotations

from django.db import migrations

from social.kernel.indexes import without_index


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0002_cause_first"),
        ("accounts", "0004_fewer_indexes"),
        ("statuses", "0005_rows_by_index"),
    ]
    operations = [
        without_index(
            "notifications",
            "notification",
            "account",
            "notifications_notification_account_id_e2a0bb0c",
            related_name="notifications",
            to="accounts.account",
        ),
        without_index(
            "notifications",
            "notification",
            "from_account",
            "notifications_notification_from_account_id_65075e0a",
            related_name="+",
            to="accounts.account",
        ),
        without_index(
            "notifications",
            "notification",
            "status",
            "notifications_notification_status_id_0591397a",
            related_name="+",
            to="statuses.status",
            null=True,
        ),
    ]
