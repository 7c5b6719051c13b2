"""The outbox and the leases."""

from __future__ import annotations

import django.db.models.functions.datetime
from django.db import migrations, models

# A queue table lives on its dead rows being cleared away: by pages with room for heap-only updates and by a vacuum that
# comes after thousands of changes, whatever the share of the table, and does not pause. The threshold on inserts is off:
# rows that live for a second need no freezing.
STORAGE = """
ALTER TABLE social_outbox SET (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000,
    autovacuum_vacuum_insert_threshold = -1
);
"""


class Migration(migrations.Migration):
    dependencies = [("social", "0001_timestamp_id")]
    operations = [
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("name", models.TextField(primary_key=True, serialize=False)),
                ("holder", models.TextField()),
                ("until", models.DateTimeField()),
            ],
            options={"db_table": "social_lease"},
        ),
        migrations.CreateModel(
            name="OutboxRow",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("queue", models.TextField()),
                ("key", models.TextField()),
                ("subscriber", models.TextField()),
                ("event", models.TextField()),
                ("payload", models.JSONField()),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("claimed_until", models.DateTimeField(null=True)),
                ("claim", models.BigIntegerField(null=True)),
                ("attempts", models.SmallIntegerField(db_default=0)),
                ("last_error", models.TextField(db_default="")),
                ("dead_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "verbose_name": "outbox row",
                "db_table": "social_outbox",
                "indexes": [
                    models.Index(
                        condition=models.Q(("dead_at__isnull", True)),
                        fields=["queue", "due_at", "id"],
                        name="outbox_due",
                    ),
                    models.Index(fields=["queue", "key", "id"], name="outbox_lane"),
                    models.Index(
                        condition=models.Q(("dead_at__isnull", False)), fields=["dead_at"], name="outbox_dead"
                    ),
                ],
            },
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
    ]
