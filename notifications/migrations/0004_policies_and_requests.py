import django.db.models.deletion
from django.db import migrations, models

import social.kernel.clock
import social.kernel.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_end_follows_of_blocked_servers"),
        ("moderation", "0001_initial"),
        ("notifications", "0003_subjects_of_all_types"),
        ("statuses", "0002_columns_of_older_servers"),
    ]

    operations = [
        migrations.CreateModel(
            name="NotificationPermission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("merging", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
        ),
        migrations.CreateModel(
            name="NotificationPolicy",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="notification_policy",
                        serialize=False,
                        to="accounts.account",
                    ),
                ),
                (
                    "for_not_following",
                    models.TextField(
                        choices=[("accept", "Accept"), ("filter", "Filter"), ("drop", "Drop")], default="accept"
                    ),
                ),
                (
                    "for_not_followers",
                    models.TextField(
                        choices=[("accept", "Accept"), ("filter", "Filter"), ("drop", "Drop")], default="accept"
                    ),
                ),
                (
                    "for_new_accounts",
                    models.TextField(
                        choices=[("accept", "Accept"), ("filter", "Filter"), ("drop", "Drop")], default="accept"
                    ),
                ),
                (
                    "for_private_mentions",
                    models.TextField(
                        choices=[("accept", "Accept"), ("filter", "Filter"), ("drop", "Drop")], default="filter"
                    ),
                ),
                (
                    "for_limited_accounts",
                    models.TextField(
                        choices=[("accept", "Accept"), ("filter", "Filter"), ("drop", "Drop")], default="filter"
                    ),
                ),
                (
                    "for_bots",
                    models.TextField(
                        choices=[("accept", "Accept"), ("filter", "Filter"), ("drop", "Drop")], default="accept"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="NotificationRequest",
            fields=[
                ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                ("notifications_count", models.PositiveSmallIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                ("updated_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
        ),
        migrations.RemoveIndex(
            model_name="notification",
            name="notifications_from",
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("filtered", False)), fields=["account", "type", "-id"], name="notifications_types"
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("filtered", True)), fields=["account", "-id"], name="notifications_held"
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("filtered", True)),
                fields=["account", "from_account", "-id"],
                name="notifications_held_from",
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("filtered", True), ("type__in", ("mention", "quote"))),
                fields=["account", "from_account", "-id"],
                name="notifications_held_messages",
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(fields=["account", "from_account", "-id"], name="notifications_pair"),
        ),
        migrations.AddField(
            model_name="notificationpermission",
            name="account",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
            ),
        ),
        migrations.AddField(
            model_name="notificationpermission",
            name="from_account",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
            ),
        ),
        migrations.AddConstraint(
            model_name="notificationpolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("for_bots__text_length__lte", 64),
                    ("for_limited_accounts__text_length__lte", 64),
                    ("for_new_accounts__text_length__lte", 64),
                    ("for_not_followers__text_length__lte", 64),
                    ("for_not_following__text_length__lte", 64),
                    ("for_private_mentions__text_length__lte", 64),
                ),
                name="notifications_notificationpolicy_lengths",
            ),
        ),
        migrations.AddField(
            model_name="notificationrequest",
            name="account",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
            ),
        ),
        migrations.AddField(
            model_name="notificationrequest",
            name="from_account",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
            ),
        ),
        migrations.AddField(
            model_name="notificationrequest",
            name="last_status",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="statuses.status",
            ),
        ),
        migrations.AddIndex(
            model_name="notificationpermission",
            index=models.Index(fields=["from_account"], name="notifications_permission_from"),
        ),
        migrations.AddIndex(
            model_name="notificationpermission",
            index=models.Index(
                condition=models.Q(("merging", True)), fields=["account"], name="notifications_permission_merge"
            ),
        ),
        migrations.AddConstraint(
            model_name="notificationpermission",
            constraint=models.UniqueConstraint(
                fields=("account", "from_account"), name="notifications_permission_pair"
            ),
        ),
        migrations.AddIndex(
            model_name="notificationrequest",
            index=models.Index(fields=["account", "-id"], name="notifications_request_list"),
        ),
        migrations.AddIndex(
            model_name="notificationrequest",
            index=models.Index(fields=["from_account"], name="notifications_request_from"),
        ),
        migrations.AddIndex(
            model_name="notificationrequest",
            index=models.Index(
                condition=models.Q(("last_status__isnull", False)),
                fields=["last_status"],
                name="notifications_request_status",
            ),
        ),
        migrations.AddConstraint(
            model_name="notificationrequest",
            constraint=models.UniqueConstraint(fields=("account", "from_account"), name="notifications_request_pair"),
        ),
    ]
