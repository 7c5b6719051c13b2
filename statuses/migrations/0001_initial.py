import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import social.kernel.clock
import social.kernel.ids
from social.kernel.migration_operations import CreateModels


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("social", "0001_initial"),
        ("accounts", "0001_initial"),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        CreateModels(
            [
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
                        ("quote_policy", models.SmallIntegerField(db_default=0, default=0)),
                    ],
                    options={
                        "verbose_name": "post",
                        "verbose_name_plural": "posts",
                        "indexes": [
                            models.Index(fields=["account", "-id"], name="statuses_status_account"),
                            models.Index(
                                models.OrderBy(models.F("id"), descending=True),
                                condition=models.Q(("deleted_at", None), ("reblog_of", None), ("visibility", "public")),
                                name="statuses_status_public",
                            ),
                            models.Index(
                                models.OrderBy(models.F("id"), descending=True),
                                condition=models.Q(
                                    ("deleted_at", None), ("local", True), ("reblog_of", None), ("visibility", "public")
                                ),
                                name="statuses_status_public_local",
                            ),
                            models.Index(
                                models.F("local"),
                                models.F("language"),
                                django.db.models.expressions.CombinedExpression(models.F("id"), "*", models.Value(-1)),
                                condition=models.Q(("deleted_at", None), ("reblog_of", None), ("visibility", "public")),
                                name="statuses_status_languages",
                            ),
                            models.Index(
                                condition=models.Q(("thread_id__isnull", False)),
                                fields=["thread_id", "id"],
                                name="statuses_status_thread",
                            ),
                            models.Index(
                                condition=models.Q(("in_reply_to__isnull", False)),
                                fields=["in_reply_to"],
                                name="statuses_status_reply",
                            ),
                            models.Index(
                                condition=models.Q(("in_reply_to_account__isnull", False)),
                                fields=["in_reply_to_account"],
                                name="statuses_status_reply_account",
                            ),
                            models.Index(
                                condition=models.Q(("application__isnull", False)),
                                fields=["application"],
                                name="statuses_status_application",
                            ),
                            models.Index(
                                condition=models.Q(("in_reply_to", None), ("in_reply_to_uri__isnull", False)),
                                fields=["in_reply_to_uri"],
                                name="statuses_status_orphans",
                            ),
                            models.Index(
                                condition=models.Q(("deleted_at__isnull", False)),
                                fields=["deleted_at"],
                                name="statuses_status_deleted",
                            ),
                            models.Index(
                                condition=models.Q(("reblog_of__isnull", False)),
                                fields=["reblog_of", "-id"],
                                name="statuses_status_reblogs",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("content_type__text_length__lte", 64),
                                    ("conversation_uri__text_length__lte", 2048),
                                    ("in_reply_to_uri__text_length__lte", 2048),
                                    ("language__text_length__lte", 64),
                                    ("uri__text_length__lte", 2048),
                                    ("url__text_length__lte", 2048),
                                    ("visibility__text_length__lte", 64),
                                ),
                                name="statuses_status_lengths",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("uri__isnull", False)), fields=("uri",), name="statuses_status_uri"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("local", True), ("uri__isnull", False), _connector="OR"),
                                name="statuses_status_remote_uri",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("deleted_at__isnull", True), ("reblog_of__isnull", False)),
                                fields=("account", "reblog_of"),
                                name="statuses_status_one_reblog",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("text__length__lte", 200000),
                                    ("content__length__lte", 200000),
                                    ("spoiler_text__length__lte", 200000),
                                ),
                                name="statuses_status_length",
                            ),
                        ],
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
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
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
                    options={
                        "indexes": [
                            models.Index(fields=["account", "-status"], name="statuses_mention_account"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("status", "account"), name="statuses_mention_pair"),
                        ],
                    },
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
                        ("preview_size", models.BigIntegerField(default=0)),
                        ("source", models.TextField(default="")),
                        ("attempts", models.PositiveSmallIntegerField(default=0)),
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
                        (
                            "former_status",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="former_media",
                                to="statuses.status",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("status__isnull", False)),
                                fields=["status", "position"],
                                name="statuses_media_status",
                            ),
                            models.Index(
                                condition=models.Q(("former_status__isnull", False)),
                                fields=["former_status"],
                                name="statuses_media_former",
                            ),
                            models.Index(
                                condition=models.Q(("former_status", None), ("status", None)),
                                fields=["unattached_at"],
                                name="statuses_media_unattached",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("blurhash__text_length__lte", 255),
                                    ("content_type__text_length__lte", 255),
                                    ("file__text_length__lte", 1024),
                                    ("meta__text_length__lte", 10000),
                                    ("preview__text_length__lte", 1024),
                                    ("preview_remote_url__text_length__lte", 2048),
                                    ("processing__text_length__lte", 64),
                                    ("remote_url__text_length__lte", 2048),
                                    ("source__text_length__lte", 1024),
                                    ("type__text_length__lte", 64),
                                ),
                                name="statuses_mediaattachment_lengths",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("description__isnull", True), ("description__length__lte", 10000), _connector="OR"
                                ),
                                name="statuses_media_description",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Favourite",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
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
                    options={
                        "indexes": [
                            models.Index(fields=["status", "-id"], name="statuses_favourite_status"),
                            models.Index(fields=["account", "-id"], name="statuses_favourite_account"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("uri__text_length__lte", 2048)), name="statuses_favourite_lengths"
                            ),
                            models.UniqueConstraint(fields=("account", "status"), name="statuses_favourite_pair"),
                            models.UniqueConstraint(
                                condition=models.Q(("uri__isnull", False)),
                                fields=("uri",),
                                name="statuses_favourite_uri",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="StatusTag",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
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
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="accounts.tag",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["tag", "-status"], name="statuses_statustag_tag"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("status", "tag"), name="statuses_statustag_pair"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Pin",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="pins", to="accounts.account"
                            ),
                        ),
                        (
                            "status",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE, related_name="pin", to="statuses.status"
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Bookmark",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="bookmarks",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "status",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="bookmarks",
                                to="statuses.status",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [models.Index(fields=["account", "-id"], name="statuses_bookmark_account")],
                        "constraints": [
                            models.UniqueConstraint(fields=("account", "status"), name="statuses_bookmark_pair")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ConversationMute",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("thread_id", models.BigIntegerField()),
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
                    ],
                    options={
                        "indexes": [models.Index(fields=["thread_id"], name="statuses_conversation_mute_th")],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("account", "thread_id"), name="statuses_conversation_mute_pair"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Filter",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("title", models.TextField()),
                        (
                            "context",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(
                                    choices=[
                                        ("home", "Home"),
                                        ("notifications", "Notifications"),
                                        ("public", "Public"),
                                        ("thread", "Thread"),
                                        ("account", "Account"),
                                    ]
                                ),
                                size=None,
                            ),
                        ),
                        (
                            "action",
                            models.TextField(
                                choices=[("warn", "Warn"), ("hide", "Hide"), ("blur", "Blur")], default="warn"
                            ),
                        ),
                        ("expires_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="filters",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("action__text_length__lte", 64),
                                    ("context__text_length__lte", 255),
                                    ("title__text_length__lte", 256),
                                ),
                                name="statuses_filter_lengths",
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    name="FilterKeyword",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("keyword", models.TextField()),
                        ("whole_word", models.BooleanField(default=True)),
                        (
                            "filter",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="keywords",
                                to="statuses.filter",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("keyword__text_length__lte", 512)),
                                name="statuses_filterkeyword_lengths",
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    name="FilterStatus",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        (
                            "filter",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="statuses",
                                to="statuses.filter",
                            ),
                        ),
                        (
                            "status",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="statuses.status"
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("filter", "status"), name="statuses_filter_status_pair")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Poll",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        (
                            "options",
                            django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None),
                        ),
                        (
                            "tallies",
                            django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None),
                        ),
                        ("voters_count", models.BigIntegerField(default=0, null=True)),
                        ("multiple", models.BooleanField(default=False)),
                        ("hide_totals", models.BooleanField(default=False)),
                        ("expires_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "status",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE, related_name="poll", to="statuses.status"
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("options__text_length__lte", 1000000)), name="statuses_poll_lengths"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("options__len__gte", 1), ("options__len__lte", 500)),
                                name="statuses_poll_options",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="PollVote",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("choice", models.SmallIntegerField()),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
                            ),
                        ),
                        (
                            "poll",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="votes",
                                to="statuses.poll",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("poll", "account", "choice"), name="statuses_poll_vote"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ScheduledStatus",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("scheduled_at", models.DateTimeField()),
                        ("draft", models.JSONField()),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="scheduled_statuses",
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
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["account", "-id"], name="statuses_scheduled_account"),
                            models.Index(
                                condition=models.Q(("application__isnull", False)),
                                fields=["application"],
                                name="statuses_scheduled_application",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("draft__text_length__lte", 1000000)),
                                name="statuses_scheduledstatus_lengths",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="IdempotencyKey",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
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
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="statuses.status",
                            ),
                        ),
                        (
                            "scheduled",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="statuses.scheduledstatus",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["created_at"], name="statuses_idempotency_age"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("key__text_length__lte", 255)),
                                name="statuses_idempotencykey_lengths",
                            ),
                            models.UniqueConstraint(fields=("account", "key"), name="statuses_idempotency_key"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ScheduledMedia",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("position", models.SmallIntegerField()),
                        (
                            "media",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="scheduled",
                                to="statuses.mediaattachment",
                            ),
                        ),
                        (
                            "scheduled",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="media",
                                to="statuses.scheduledstatus",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Quote",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("quoted_uri", models.TextField(null=True)),
                        (
                            "state",
                            models.TextField(
                                choices=[
                                    ("pending", "Pending"),
                                    ("accepted", "Accepted"),
                                    ("rejected", "Rejected"),
                                    ("revoked", "Revoked"),
                                ],
                                default="pending",
                            ),
                        ),
                        ("request_uri", models.TextField(null=True)),
                        ("approval_uri", models.TextField(null=True)),
                        ("legacy", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "quoted_status",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="quotes",
                                to="statuses.status",
                            ),
                        ),
                        (
                            "status",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE, related_name="quote", to="statuses.status"
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("quoted_status__isnull", False)),
                                fields=["quoted_status", "-id"],
                                name="statuses_quote_quoted",
                            ),
                            models.Index(
                                condition=models.Q(("quoted_status", None), ("quoted_uri__isnull", False)),
                                fields=["quoted_uri"],
                                name="statuses_quote_unknown",
                            ),
                            models.Index(
                                condition=models.Q(("approval_uri__isnull", False)),
                                fields=["approval_uri"],
                                name="statuses_quote_approval",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("approval_uri__text_length__lte", 2048),
                                    ("quoted_uri__text_length__lte", 2048),
                                    ("request_uri__text_length__lte", 2048),
                                    ("state__text_length__lte", 64),
                                ),
                                name="statuses_quote_lengths",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("request_uri__isnull", False)),
                                fields=("request_uri",),
                                name="statuses_quote_request",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="PreviewCard",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("url", models.TextField(unique=True)),
                        ("host", models.TextField(default="")),
                        (
                            "type",
                            models.TextField(
                                choices=[("link", "Link"), ("photo", "Photo"), ("video", "Video")], default="link"
                            ),
                        ),
                        ("title", models.TextField(default="")),
                        ("description", models.TextField(default="")),
                        ("language", models.TextField(null=True)),
                        ("author_name", models.TextField(default="")),
                        ("author_url", models.TextField(default="")),
                        ("provider_name", models.TextField(default="")),
                        ("provider_url", models.TextField(default="")),
                        ("creator", models.TextField(default="")),
                        ("player_url", models.TextField(default="")),
                        ("width", models.PositiveIntegerField(default=0)),
                        ("height", models.PositiveIntegerField(default=0)),
                        ("image", models.TextField(default="")),
                        ("image_size", models.BigIntegerField(default=0)),
                        ("image_description", models.TextField(default="")),
                        ("blurhash", models.TextField(null=True)),
                        ("published_at", models.DateTimeField(null=True)),
                        ("fetched_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "verbose_name": "preview card",
                        "verbose_name_plural": "preview cards",
                        "indexes": [models.Index(fields=["fetched_at"], name="statuses_previewcard_fetched")],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("author_name__text_length__lte", 300),
                                    ("author_url__text_length__lte", 2048),
                                    ("blurhash__text_length__lte", 300),
                                    ("creator__text_length__lte", 300),
                                    ("description__text_length__lte", 2000),
                                    ("host__text_length__lte", 260),
                                    ("image__text_length__lte", 1024),
                                    ("image_description__text_length__lte", 2000),
                                    ("language__text_length__lte", 64),
                                    ("player_url__text_length__lte", 2048),
                                    ("provider_name__text_length__lte", 300),
                                    ("provider_url__text_length__lte", 2048),
                                    ("title__text_length__lte", 500),
                                    ("type__text_length__lte", 64),
                                    ("url__text_length__lte", 2048),
                                ),
                                name="statuses_previewcard_lengths",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CardFetch",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("claimed_until", models.DateTimeField(null=True)),
                        ("claim", models.BigIntegerField(null=True)),
                        ("attempts", models.SmallIntegerField(db_default=0)),
                        ("last_error", models.TextField(db_default="")),
                        ("dead_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("host", models.TextField()),
                        (
                            "card",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="fetch",
                                to="statuses.previewcard",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("host__text_length__lte", 260), ("last_error__text_length__lte", 2000)
                                ),
                                name="statuses_cardfetch_lengths",
                            )
                        ],
                        "indexes": [
                            models.Index(
                                models.F("host"),
                                models.F("due_at"),
                                models.F("id"),
                                condition=models.Q(("dead_at__isnull", True)),
                                name="statuses_cardfetch_due",
                            ),
                            models.Index(
                                condition=models.Q(("dead_at__isnull", False)),
                                fields=["dead_at"],
                                name="statuses_cardfetch_dead",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="StatusCard",
                    fields=[
                        (
                            "status",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="status_card",
                                serialize=False,
                                to="statuses.status",
                            ),
                        ),
                        ("url", models.TextField()),
                        (
                            "card",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="status_cards",
                                to="statuses.previewcard",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("url__text_length__lte", 2048)), name="statuses_statuscard_lengths"
                            )
                        ],
                        "indexes": [models.Index(fields=["card", "-status"], name="statuses_statuscard_card")],
                    },
                ),
                migrations.CreateModel(
                    name="RetentionPolicy",
                    fields=[
                        (
                            "account",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="retention",
                                serialize=False,
                                to="accounts.account",
                            ),
                        ),
                        ("enabled", models.BooleanField(default=False)),
                        ("min_age", models.PositiveSmallIntegerField(default=14)),
                        ("keep_pinned", models.BooleanField(default=True)),
                        ("keep_direct", models.BooleanField(default=True)),
                        ("keep_favourited", models.BooleanField(default=True)),
                        ("keep_bookmarked", models.BooleanField(default=True)),
                        ("keep_media", models.BooleanField(default=False)),
                        ("keep_polls", models.BooleanField(default=False)),
                        ("min_favourites", models.PositiveIntegerField(null=True)),
                        ("min_reblogs", models.PositiveIntegerField(null=True)),
                        ("due_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("after_id", models.BigIntegerField(default=0)),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("enabled", True)), fields=["due_at"], name="statuses_retention_due"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="StatusEdit",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("text", models.TextField(default="")),
                        ("content", models.TextField(default="")),
                        ("spoiler_text", models.TextField(default="")),
                        ("sensitive", models.BooleanField(default=False)),
                        (
                            "media_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        (
                            "media_descriptions",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(null=True), default=list, size=None
                            ),
                        ),
                        (
                            "poll_options",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), null=True, size=None
                            ),
                        ),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "quote",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="statuses.quote",
                            ),
                        ),
                        (
                            "status",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="edits",
                                to="statuses.status",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("content__text_length__lte", 200000),
                                    ("media_descriptions__text_length__lte", 1000000),
                                    ("poll_options__text_length__lte", 1000000),
                                    ("spoiler_text__text_length__lte", 200000),
                                    ("text__text_length__lte", 200000),
                                ),
                                name="statuses_statusedit_lengths",
                            )
                        ],
                        "indexes": [
                            models.Index(fields=["status", "created_at"], name="statuses_statusedit_status"),
                            models.Index(
                                condition=models.Q(("quote__isnull", False)),
                                fields=["quote"],
                                name="statuses_statusedit_quote",
                            ),
                        ],
                    },
                ),
            ]
        ),
    ]
