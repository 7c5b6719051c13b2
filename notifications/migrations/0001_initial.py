import django.db.models.deletion
from django.db import migrations, models

import social.kernel.clock
import social.kernel.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("social", "0001_initial"),
        ("accounts", "0001_initial"),
        ("statuses", "0001_initial"),
        ("moderation", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Notification",
            fields=[
                ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                (
                    "type",
                    models.TextField(
                        choices=[
                            ("mention", "Mention"),
                            ("status", "Status"),
                            ("reblog", "Reblog"),
                            ("favourite", "Favourite"),
                            ("follow", "Follow"),
                            ("follow_request", "Follow Request"),
                            ("poll", "Poll"),
                            ("quote", "Quote"),
                            ("update", "Update"),
                            ("quoted_update", "Quoted Update"),
                            ("admin.sign_up", "Admin Sign Up"),
                            ("admin.report", "Admin Report"),
                            ("moderation_warning", "Moderation Warning"),
                        ]
                    ),
                ),
                ("cause", models.TextField()),
                ("group_key", models.TextField(null=True)),
                ("filtered", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to="accounts.account",
                    ),
                ),
                (
                    "from_account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
                (
                    "status",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="statuses.status",
                    ),
                ),
                (
                    "report",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="moderation.report",
                    ),
                ),
                (
                    "strike",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="moderation.strike",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("filtered", False)), fields=["account", "-id"], name="notifications_list"
                    ),
                    models.Index(fields=["account", "from_account"], name="notifications_from"),
                    models.Index(fields=["from_account"], name="notifications_from_account"),
                    models.Index(
                        condition=models.Q(("status__isnull", False)), fields=["status"], name="notifications_status"
                    ),
                    models.Index(
                        condition=models.Q(("report__isnull", False)), fields=["report"], name="notifications_report"
                    ),
                    models.Index(
                        condition=models.Q(("strike__isnull", False)), fields=["strike"], name="notifications_strike"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cause__text_length__lte", 255),
                            ("group_key__text_length__lte", 255),
                            ("type__text_length__lte", 64),
                        ),
                        name="notifications_notification_lengths",
                    ),
                    models.UniqueConstraint(fields=("cause", "account"), name="notifications_cause"),
                ],
            },
        ),
    ]
