"""Threads around posts of other servers, as they are read step by step for who has opened one."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import social.kernel.clock


class Migration(migrations.Migration):
    dependencies = [
        ("federation", "0004_open_polls"),
        ("statuses", "0003_polls_announced"),
    ]

    operations = [
        migrations.CreateModel(
            name="ThreadWalk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("begun_at", models.DateTimeField(db_index=True, default=social.kernel.clock.now)),
                ("found", models.PositiveIntegerField(default=0)),
                (
                    "posts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                (
                    "pages",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                (
                    "status",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="statuses.status"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ThreadStep",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("claimed_until", models.DateTimeField(null=True)),
                ("claim", models.BigIntegerField(null=True)),
                ("attempts", models.SmallIntegerField(db_default=0)),
                ("last_error", models.TextField(db_default="")),
                ("dead_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("host", models.TextField()),
                ("kind", models.TextField()),
                ("uri", models.TextField()),
                ("remaining", models.PositiveSmallIntegerField(default=0)),
                (
                    "walk",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="steps",
                        to="federation.threadwalk",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "indexes": [
                    models.Index(
                        models.F("host"),
                        models.F("due_at"),
                        models.F("id"),
                        condition=models.Q(("dead_at__isnull", True)),
                        name="federation_threadstep_due",
                    ),
                    models.Index(
                        condition=models.Q(("dead_at__isnull", False)),
                        fields=["dead_at"],
                        name="federation_threadstep_dead",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("host__text_length__lte", 260),
                            ("kind__text_length__lte", 64),
                            ("last_error__text_length__lte", 2000),
                            ("uri__text_length__lte", 2400),
                        ),
                        name="federation_threadstep_lengths",
                    ),
                    models.UniqueConstraint(fields=("walk", "uri"), name="federation_threadstep_once"),
                ],
            },
        ),
    ]
