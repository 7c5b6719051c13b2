import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models

import social.kernel.clock
import social.kernel.ids
from social.kernel.migration_operations import CreateModels


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("social", "0001_initial"),
        ("accounts", "0001_initial"),
    ]

    operations = [
        CreateModels(
            [
                migrations.CreateModel(
                    name="InstanceRule",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("text", models.TextField()),
                        ("hint", models.TextField(blank=True, default="")),
                        ("translations", models.JSONField(blank=True, default=dict)),
                        ("position", models.IntegerField(default=0)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("withdrawn_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("hint__text_length__lte", 10000),
                                    ("text__text_length__lte", 1000),
                                    ("translations__text_length__lte", 1000000),
                                ),
                                name="moderation_instancerule_lengths",
                            )
                        ],
                        "verbose_name": "rule",
                        "verbose_name_plural": "rules",
                        "ordering": ("position", "id"),
                    },
                ),
                migrations.CreateModel(
                    name="Announcement",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("text", models.TextField()),
                        ("content", models.TextField()),
                        (
                            "mentioned_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        (
                            "status_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        (
                            "tag_names",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), default=list, size=None
                            ),
                        ),
                        ("starts_at", models.DateTimeField(blank=True, null=True)),
                        ("ends_at", models.DateTimeField(blank=True, null=True)),
                        ("all_day", models.BooleanField(default=False)),
                        ("scheduled_at", models.DateTimeField(blank=True, null=True)),
                        ("published_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("updated_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "verbose_name": "announcement",
                        "verbose_name_plural": "announcements",
                        "indexes": [
                            models.Index(
                                condition=models.Q(("published_at__isnull", False)),
                                fields=["published_at"],
                                name="moderation_announcement_shown",
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("content__text_length__lte", 200000), ("tag_names__text_length__lte", 1000000)
                                ),
                                name="moderation_announcement_lengths",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("text__length__lte", 10000)), name="moderation_announcement_length"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("starts_at", None),
                                    ("ends_at", None),
                                    ("starts_at__lte", models.F("ends_at")),
                                    _connector="OR",
                                ),
                                name="moderation_announcement_period",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Report",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("uri", models.TextField(null=True)),
                        (
                            "category",
                            models.TextField(
                                choices=[
                                    ("spam", "Spam"),
                                    ("legal", "Legal"),
                                    ("violation", "Violation"),
                                    ("other", "Other"),
                                ],
                                default="other",
                            ),
                        ),
                        ("comment", models.TextField(default="")),
                        ("forwarded", models.BooleanField(default=False)),
                        (
                            "forward_domains",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), default=list, size=None
                            ),
                        ),
                        (
                            "status_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        (
                            "rule_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), null=True, size=None
                            ),
                        ),
                        (
                            "collection_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        ("action_taken_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("updated_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="reports",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "action_taken_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "assigned_account",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "target_account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="targeted_reports",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "report",
                        "verbose_name_plural": "reports",
                        "indexes": [
                            models.Index(fields=["account", "-id"], name="moderation_report_account"),
                            models.Index(fields=["target_account", "-id"], name="moderation_report_target"),
                            models.Index(
                                condition=models.Q(("action_taken_at", None)),
                                fields=["-id"],
                                name="moderation_report_open",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("category__text_length__lte", 64),
                                    ("forward_domains__text_length__lte", 1000000),
                                    ("uri__text_length__lte", 2048),
                                ),
                                name="moderation_report_lengths",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("uri__isnull", False)),
                                fields=("uri", "target_account"),
                                name="moderation_report_uri",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("comment__length__lte", 5000)), name="moderation_report_length"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Strike",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        (
                            "action",
                            models.TextField(
                                choices=[
                                    ("none", "warning"),
                                    ("disable", "login disabled"),
                                    ("mark_statuses_as_sensitive", "posts marked as sensitive"),
                                    ("delete_statuses", "posts deleted"),
                                    ("sensitive", "all media marked as sensitive"),
                                    ("silence", "account limited"),
                                    ("suspend", "account suspended"),
                                ],
                                default="none",
                            ),
                        ),
                        ("text", models.TextField(default="")),
                        (
                            "status_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), null=True, size=None
                            ),
                        ),
                        ("overruled_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "report",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="strikes",
                                to="moderation.report",
                            ),
                        ),
                        (
                            "target_account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="strikes",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "strike",
                        "verbose_name_plural": "strikes",
                        "indexes": [
                            models.Index(fields=["target_account", "-id"], name="moderation_strike_target"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("action__text_length__lte", 64)), name="moderation_strike_lengths"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("text__length__lte", 10000)), name="moderation_strike_length"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Appeal",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("text", models.TextField()),
                        ("approved_at", models.DateTimeField(null=True)),
                        ("rejected_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="appeals",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "decided_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "strike",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="appeal",
                                to="moderation.strike",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "appeal",
                        "verbose_name_plural": "appeals",
                        "indexes": [
                            models.Index(
                                condition=models.Q(("approved_at", None), ("rejected_at", None)),
                                fields=["-id"],
                                name="moderation_appeal_open",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("text__length__lte", 2000)), name="moderation_appeal_length"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("approved_at", None), ("rejected_at", None), _connector="OR"),
                                name="moderation_appeal_one_decision",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="TermsOfService",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("text", models.TextField()),
                        ("changelog", models.TextField(blank=True, default="")),
                        ("effective_date", models.DateField(null=True, unique=True)),
                        ("published_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "verbose_name": "terms of service",
                        "verbose_name_plural": "terms of service",
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("text__length__lte", 200000), ("changelog__length__lte", 200000)),
                                name="moderation_terms_length",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("published_at", None), ("effective_date__isnull", False), _connector="OR"
                                ),
                                name="moderation_terms_dated",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AnnouncementDismissal",
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
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="announcement_dismissals",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "announcement",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="dismissals",
                                to="moderation.announcement",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("announcement", "account"), name="moderation_announcement_dismissal_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AnnouncementReaction",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("name", models.TextField()),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="announcement_reactions",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "announcement",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="reactions",
                                to="moderation.announcement",
                            ),
                        ),
                        (
                            "custom_emoji",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="accounts.customemoji",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("name__text_length__lte", 255)),
                                name="moderation_announcementreaction_lengths",
                            ),
                            models.UniqueConstraint(
                                fields=("announcement", "name", "account"), name="moderation_announcement_reaction_once"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="DomainAllow",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("domain", models.TextField(unique=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "verbose_name": "allowed server",
                        "verbose_name_plural": "allowed servers",
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("domain__text_length__lte", 260)),
                                name="moderation_domainallow_lengths",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("domain", django.db.models.functions.text.Lower("domain"))),
                                name="moderation_domain_allow_lower_case",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="DomainRule",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("domain", models.TextField(unique=True)),
                        (
                            "severity",
                            models.TextField(
                                choices=[("noop", "nothing"), ("silence", "limited"), ("suspend", "suspended")],
                                default="silence",
                            ),
                        ),
                        ("reject_media", models.BooleanField(default=False)),
                        ("reject_reports", models.BooleanField(default=False)),
                        ("obfuscate", models.BooleanField(default=False)),
                        ("private_comment", models.TextField(null=True)),
                        ("public_comment", models.TextField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "verbose_name": "rule for a server",
                        "verbose_name_plural": "rules for servers",
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("domain__text_length__lte", 260), ("severity__text_length__lte", 64)
                                ),
                                name="moderation_domainrule_lengths",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("domain", django.db.models.functions.text.Lower("domain"))),
                                name="moderation_domain_rule_lower_case",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("private_comment", None),
                                        ("private_comment__length__lte", 10000),
                                        _connector="OR",
                                    ),
                                    models.Q(
                                        ("public_comment", None),
                                        ("public_comment__length__lte", 10000),
                                        _connector="OR",
                                    ),
                                ),
                                name="moderation_domain_rule_comments",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ActivityWeek",
                    fields=[
                        ("start", models.DateField(primary_key=True, serialize=False)),
                        ("statuses", models.BigIntegerField(default=0)),
                        ("logins", models.BigIntegerField(default=0)),
                        ("registrations", models.BigIntegerField(default=0)),
                        ("counted_to", models.BigIntegerField(default=0)),
                    ],
                ),
            ]
        ),
    ]
