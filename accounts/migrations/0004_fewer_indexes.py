"""The index Django makes for every foreign key goes where another one begins with the same column."""

from __future__ import annotations

from django.db import migrations

from social.kernel.indexes import without_index


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_words")]
    operations = [
        without_index(
            "accounts",
            "block",
            "account",
            "accounts_block_account_id_d7dc7847",
            related_name="blocks",
            to="accounts.account",
        ),
        without_index(
            "accounts",
            "block",
            "target",
            "accounts_block_target_id_b592586a",
            related_name="blocked_by",
            to="accounts.account",
        ),
        without_index(
            "accounts",
            "mute",
            "account",
            "accounts_mute_account_id_5d21ba30",
            related_name="mutes",
            to="accounts.account",
        ),
        without_index(
            "accounts",
            "mute",
            "target",
            "accounts_mute_target_id_44802a92",
            related_name="muted_by",
            to="accounts.account",
        ),
        without_index(
            "accounts",
            "follow",
            "account",
            "accounts_follow_account_id_28ed45f0",
            related_name="following",
            to="accounts.account",
        ),
        without_index(
            "accounts",
            "follow",
            "target",
            "accounts_follow_target_id_9dfb6db1",
            related_name="followers",
            to="accounts.account",
        ),
        without_index(
            "accounts",
            "followrequest",
            "account",
            "accounts_followrequest_account_id_bb42bcfa",
            related_name="follow_requests_sent",
            to="accounts.account",
        ),
        without_index(
            "accounts",
            "followrequest",
            "target",
            "accounts_followrequest_target_id_51fa5c1c",
            related_name="follow_requests",
            to="accounts.account",
        ),
    ]
