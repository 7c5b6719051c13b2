"""The table of the one row that keeps the domain of this installation."""

from __future__ import annotations

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("social", "0002_outbox")]
    operations = [
        migrations.CreateModel(
            name="Installation",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("local_domain", models.TextField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "social_installation",
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="installation_is_one")],
            },
        ),
    ]
