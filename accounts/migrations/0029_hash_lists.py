import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models

import social.kernel.clock
import social.kernel.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0028_counts_of_servers"),
    ]

    operations = [
        migrations.CreateModel(
            name="HashList",
            fields=[
                ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                ("name", models.TextField(unique=True)),
                (
                    "kind",
                    models.TextField(
                        choices=[("sha256", "SHA-256: the same file"), ("pdq", "PDQ: pictures that look alike")]
                    ),
                ),
                ("source", models.TextField(blank=True, default="")),
                ("note", models.TextField(blank=True, default="")),
                (
                    "act",
                    models.TextField(
                        choices=[
                            ("quarantine", "Refuse the file, and keep it in quarantine"),
                            ("refuse", "Refuse the file, and keep nothing of it"),
                        ],
                        default="quarantine",
                    ),
                ),
                ("distance", models.PositiveSmallIntegerField(default=31)),
                ("enabled", models.BooleanField(default=False)),
                ("size", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
            options={
                "verbose_name": "hash list",
                "verbose_name_plural": "hash lists",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("act__text_length__lte", 64),
                            ("kind__text_length__lte", 64),
                            ("name__text_length__lte", 255),
                            ("note__text_length__lte", 2000),
                            ("source__text_length__lte", 2048),
                        ),
                        name="accounts_hashlist_lengths",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("distance__lte", 31)), name="accounts_hashlist_distance"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HashEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("value", models.BinaryField()),
                (
                    "words",
                    django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), null=True, size=None),
                ),
                (
                    "hash_list",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entries",
                        to="accounts.hashlist",
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        condition=models.Q(("words__isnull", False)),
                        fields=["words"],
                        name="accounts_hashentry_words",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("hash_list", "value"), name="accounts_hashentry_once"),
                ],
            },
        ),
        migrations.AddField(
            model_name="quarantinedfile",
            name="list_name",
            field=models.TextField(db_default="", default=""),
        ),
        migrations.AddField(
            model_name="quarantinedfile",
            name="distance",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AlterField(
            model_name="quarantinedfile",
            name="decision",
            field=models.TextField(
                blank=True,
                choices=[
                    ("", "Waiting"),
                    ("released", "Released"),
                    ("destroyed", "Destroyed"),
                    ("refused", "Refused, not kept"),
                ],
                default="",
            ),
        ),
        migrations.AddIndex(
            model_name="quarantinedfile",
            index=models.Index(
                condition=models.Q(("list_name", ""), _negated=True),
                fields=["list_name"],
                name="accounts_quarantine_list",
            ),
        ),
        migrations.AddConstraint(
            model_name="quarantinedfile",
            constraint=models.CheckConstraint(
                condition=models.Q(("list_name__text_length__lte", 255)), name="accounts_quarantinedfile_list"
            ),
        ),
    ]
