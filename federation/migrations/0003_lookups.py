"""People of lists are found by a kind of work of its own, at its pace; what waits is asked for again by its import."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("federation", "0002_hosts_of_all_queues"),
    ]

    operations = [
        migrations.RunSQL("DELETE FROM federation_fetch WHERE kind = 'address'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name="Lookup",
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
                ("address", models.TextField(unique=True)),
            ],
            options={
                "abstract": False,
                "indexes": [
                    models.Index(
                        models.F("host"),
                        models.F("due_at"),
                        models.F("id"),
                        condition=models.Q(("dead_at__isnull", True)),
                        name="federation_lookup_due",
                    ),
                    models.Index(
                        condition=models.Q(("dead_at__isnull", False)),
                        fields=["dead_at"],
                        name="federation_lookup_dead",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("address__text_length__lte", 2400),
                            ("host__text_length__lte", 260),
                            ("last_error__text_length__lte", 2000),
                        ),
                        name="federation_lookup_lengths",
                    )
                ],
            },
        ),
    ]
