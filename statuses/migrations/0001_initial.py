import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import social.kernel.clock
import social.kernel.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("social", "0001_initial"),
        ("accounts", "0001_initial"),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Status",
            fields=[
                ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                ("uri", models.TextField(null=True)),
                ("url", models.TextField(null=True)),
                ("text", models.TextField(default="")),
                ("content", models.TextField(default="")),
                ("content_type", models.TextField(default="text/plain")),
                ("spoiler_text", models.TextField(default="")),
                ("sensitive", models.BooleanField(default=False)),
                (
                    "visibility",
                    models.TextField(
                        choices=[
                            ("public", "Public"),
                            ("unlisted", "Unlisted"),
                            ("private", "Private"),
                            ("limited", "Limited"),
                            ("direct", "Direct"),
                        ],
                        default="public",
                    ),
                ),
                ("language", models.TextField(null=True)),
                ("local", models.BooleanField()),
                ("in_reply_to_uri", models.TextField(null=True)),
                ("thread_id", models.BigIntegerField(null=True)),
                (
                    "thread_path",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), null=True, size=None
                    ),
                ),
                ("conversation_uri", models.TextField(null=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                ("edited_at", models.DateTimeField(null=True)),
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="statuses",
                        to="accounts.account",
                    ),
                ),
                (
                    "application",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
                    ),
                ),
                (
                    "in_reply_to",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="replies",
                        to="statuses.status",
                    ),
                ),
                (
                    "in_reply_to_account",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
                (
                    "reblog_of",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reblogs",
                        to="statuses.status",
                    ),
                ),
            ],
            options={
                "verbose_name": "post",
                "verbose_name_plural": "posts",
            },
        ),
        migrations.CreateModel(
            name="StatusStat",
            fields=[
                (
                    "status",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="stat",
                        serialize=False,
                        to="statuses.status",
                    ),
                ),
                ("replies_count", models.BigIntegerField(default=0)),
                ("reblogs_count", models.BigIntegerField(default=0)),
                ("favourites_count", models.BigIntegerField(default=0)),
                ("quotes_count", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Mention",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("silent", models.BooleanField(default=False)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mentions",
                        to="accounts.account",
                    ),
                ),
                (
                    "status",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mentions",
                        to="statuses.status",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MediaAttachment",
            fields=[
                ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                ("position", models.PositiveSmallIntegerField(default=0)),
                (
                    "type",
                    models.TextField(
                        choices=[
                            ("image", "Image"),
                            ("gifv", "Gifv"),
                            ("video", "Video"),
                            ("audio", "Audio"),
                            ("unknown", "Unknown"),
                        ]
                    ),
                ),
                (
                    "processing",
                    models.TextField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("complete", "Complete"),
                            ("failed", "Failed"),
                        ],
                        default="complete",
                    ),
                ),
                ("content_type", models.TextField(default="")),
                ("file", models.TextField(default="")),
                ("file_size", models.BigIntegerField(default=0)),
                ("preview", models.TextField(default="")),
                ("remote_url", models.TextField(null=True)),
                ("preview_remote_url", models.TextField(null=True)),
                ("meta", models.JSONField(default=dict)),
                ("description", models.TextField(null=True)),
                ("blurhash", models.TextField(null=True)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                ("unattached_at", models.DateTimeField(default=social.kernel.clock.now)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="media", to="accounts.account"
                    ),
                ),
                (
                    "status",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="media",
                        to="statuses.status",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.TextField()),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                (
                    "account",
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
                        null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="statuses.status"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Favourite",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uri", models.TextField(null=True)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="favourites",
                        to="accounts.account",
                    ),
                ),
                (
                    "status",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="favourites",
                        to="statuses.status",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StatusTag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "status",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="status_tags",
                        to="statuses.status",
                    ),
                ),
                (
                    "tag",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.tag"
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="status",
            index=models.Index(fields=["account", "-id"], name="statuses_status_account"),
        ),
        migrations.AddIndex(
            model_name="status",
            index=models.Index(
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("deleted_at", None), ("reblog_of", None), ("visibility", "public")),
                name="statuses_status_public",
            ),
        ),
        migrations.AddIndex(
            model_name="status",
            index=models.Index(
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(
                    ("deleted_at", None), ("local", True), ("reblog_of", None), ("visibility", "public")
                ),
                name="statuses_status_public_local",
            ),
        ),
        migrations.AddIndex(
            model_name="status",
            index=models.Index(
                condition=models.Q(("thread_id__isnull", False)),
                fields=["thread_id", "id"],
                name="statuses_status_thread",
            ),
        ),
        migrations.AddIndex(
            model_name="status",
            index=models.Index(
                condition=models.Q(("in_reply_to__isnull", False)), fields=["in_reply_to"], name="statuses_status_reply"
            ),
        ),
        migrations.AddIndex(
            model_name="status",
            index=models.Index(
                condition=models.Q(("in_reply_to_account__isnull", False)),
                fields=["in_reply_to_account"],
                name="statuses_status_reply_account",
            ),
        ),
        migrations.AddIndex(
            model_name="status",
            index=models.Index(
                condition=models.Q(("application__isnull", False)),
                fields=["application"],
                name="statuses_status_application",
            ),
        ),
        migrations.AddIndex(
            model_name="status",
            index=models.Index(
                condition=models.Q(("in_reply_to", None), ("in_reply_to_uri__isnull", False)),
                fields=["in_reply_to_uri"],
                name="statuses_status_orphans",
            ),
        ),
        migrations.AddIndex(
            model_name="status",
            index=models.Index(
                condition=models.Q(("reblog_of__isnull", False)),
                fields=["reblog_of", "-id"],
                name="statuses_status_reblogs",
            ),
        ),
        migrations.AddConstraint(
            model_name="status",
            constraint=models.UniqueConstraint(
                condition=models.Q(("uri__isnull", False)), fields=("uri",), name="statuses_status_uri"
            ),
        ),
        migrations.AddConstraint(
            model_name="status",
            constraint=models.CheckConstraint(
                condition=models.Q(("local", True), ("uri__isnull", False), _connector="OR"),
                name="statuses_status_remote_uri",
            ),
        ),
        migrations.AddConstraint(
            model_name="status",
            constraint=models.UniqueConstraint(
                condition=models.Q(("deleted_at__isnull", True), ("reblog_of__isnull", False)),
                fields=("account", "reblog_of"),
                name="statuses_status_one_reblog",
            ),
        ),
        migrations.AddConstraint(
            model_name="status",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("text__length__lte", 200000),
                    ("content__length__lte", 200000),
                    ("spoiler_text__length__lte", 200000),
                ),
                name="statuses_status_length",
            ),
        ),
        migrations.AddIndex(
            model_name="mention",
            index=models.Index(fields=["account", "-status"], name="statuses_mention_account"),
        ),
        migrations.AddConstraint(
            model_name="mention",
            constraint=models.UniqueConstraint(fields=("status", "account"), name="statuses_mention_pair"),
        ),
        migrations.AddIndex(
            model_name="mediaattachment",
            index=models.Index(
                condition=models.Q(("status__isnull", False)),
                fields=["status", "position"],
                name="statuses_media_status",
            ),
        ),
        migrations.AddIndex(
            model_name="mediaattachment",
            index=models.Index(
                condition=models.Q(("status", None)), fields=["unattached_at"], name="statuses_media_unattached"
            ),
        ),
        migrations.AddConstraint(
            model_name="mediaattachment",
            constraint=models.CheckConstraint(
                condition=models.Q(("description__isnull", True), ("description__length__lte", 10000), _connector="OR"),
                name="statuses_media_description",
            ),
        ),
        migrations.AddIndex(
            model_name="idempotencykey",
            index=models.Index(fields=["created_at"], name="statuses_idempotency_age"),
        ),
        migrations.AddConstraint(
            model_name="idempotencykey",
            constraint=models.UniqueConstraint(fields=("account", "key"), name="statuses_idempotency_key"),
        ),
        migrations.AddIndex(
            model_name="favourite",
            index=models.Index(fields=["status", "-id"], name="statuses_favourite_status"),
        ),
        migrations.AddIndex(
            model_name="favourite",
            index=models.Index(fields=["account", "-id"], name="statuses_favourite_account"),
        ),
        migrations.AddConstraint(
            model_name="favourite",
            constraint=models.UniqueConstraint(fields=("account", "status"), name="statuses_favourite_pair"),
        ),
        migrations.AddConstraint(
            model_name="favourite",
            constraint=models.UniqueConstraint(
                condition=models.Q(("uri__isnull", False)), fields=("uri",), name="statuses_favourite_uri"
            ),
        ),
        migrations.AddIndex(
            model_name="statustag",
            index=models.Index(fields=["tag", "-status"], name="statuses_statustag_tag"),
        ),
        migrations.AddConstraint(
            model_name="statustag",
            constraint=models.UniqueConstraint(fields=("status", "tag"), name="statuses_statustag_pair"),
        ),
    ]
