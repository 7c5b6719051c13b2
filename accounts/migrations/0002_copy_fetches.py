"""The files of other servers that wait to be copied, in the table that the runner claims from."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

WAITING = """
INSERT INTO accounts_copyfetch (copy_id, host) SELECT id, host FROM accounts_remotecopy WHERE state = 'waiting'
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="CopyFetch",
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
                (
                    "copy",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.remotecopy"
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
                        name="accounts_copyfetch_due",
                    ),
                    models.Index(
                        condition=models.Q(("dead_at__isnull", False)),
                        fields=["dead_at"],
                        name="accounts_copyfetch_dead",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("host__text_length__lte", 260), ("last_error__text_length__lte", 2000)),
                        name="accounts_copyfetch_lengths",
                    )
                ],
            },
        ),
        migrations.RunSQL(WAITING, migrations.RunSQL.noop),
    ]
