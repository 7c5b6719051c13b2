import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import social.kernel.clock
import social.kernel.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0027_limits_of_imports"),
        ("statuses", "0017_posts_for_this_server"),
    ]

    operations = [
        migrations.AddField(
            model_name="status",
            name="interaction_policy",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.CreateModel(
            name="InteractionRequest",
            fields=[
                ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                (
                    "kind",
                    models.TextField(choices=[("favourite", "Favourite"), ("reply", "Reply"), ("reblog", "Reblog")]),
                ),
                (
                    "state",
                    models.TextField(
                        choices=[("pending", "Pending"), ("accepted", "Accepted"), ("rejected", "Rejected")],
                        default="pending",
                    ),
                ),
                ("visibility", models.TextField(default="")),
                (
                    "mentioned_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                (
                    "silent_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("uri", models.TextField(null=True)),
                ("request_uri", models.TextField(null=True)),
                ("approval_uri", models.TextField(null=True)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
                    ),
                ),
                (
                    "answer",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="request",
                        to="statuses.status",
                    ),
                ),
                (
                    "status",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="interaction_requests",
                        to="statuses.status",
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
            ],
            options={
                "verbose_name": "interaction request",
                "verbose_name_plural": "interaction requests",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["target", "-id"],
                        name="statuses_interactionreq_wait",
                    ),
                    models.Index(fields=["status"], name="statuses_interactionreq_post"),
                    models.Index(
                        condition=models.Q(("approval_uri__isnull", False)),
                        fields=["approval_uri"],
                        name="statuses_interactionreq_appr",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("approval_uri__text_length__lte", 2048),
                            ("kind__text_length__lte", 64),
                            ("request_uri__text_length__lte", 2048),
                            ("state__text_length__lte", 64),
                            ("uri__text_length__lte", 2048),
                            ("visibility__text_length__lte", 64),
                        ),
                        name="statuses_interactionrequest_lengths",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "reply"), _negated=True),
                        fields=("status", "account", "kind"),
                        name="statuses_interactionrequest_one",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("request_uri__isnull", False)),
                        fields=("request_uri",),
                        name="statuses_interactionrequest_uri",
                    ),
                ],
            },
        ),
    ]
