"""The table of servers that work waits for."""

from django.db import migrations, models

import social.kernel.clock


class Migration(migrations.Migration):
    dependencies = [
        ("social", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Host",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("queue", models.TextField()),
                ("name", models.TextField()),
                ("failures", models.PositiveIntegerField(default=0)),
                ("failing_since", models.DateTimeField(default=social.kernel.clock.now)),
                ("retry_at", models.DateTimeField(default=social.kernel.clock.now)),
                ("last_error", models.TextField(default="")),
            ],
            options={
                "verbose_name": "troubled server",
                "verbose_name_plural": "troubled servers",
                "db_table": "social_host",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("last_error__text_length__lte", 2000),
                            ("name__text_length__lte", 260),
                            ("queue__text_length__lte", 64),
                        ),
                        name="social_host_lengths",
                    ),
                    models.UniqueConstraint(fields=("name", "queue"), name="social_host_once"),
                ],
            },
        ),
    ]
