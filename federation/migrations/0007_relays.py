"""Relays to which this server is subscribed."""

from django.db import migrations, models

import social.kernel.clock


class Migration(migrations.Migration):
    dependencies = [
        ("federation", "0006_followers_synchronization"),
    ]

    operations = [
        migrations.CreateModel(
            name="Relay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("inbox_url", models.TextField(unique=True)),
                ("follow_uri", models.TextField(unique=True)),
                (
                    "state",
                    models.TextField(
                        choices=[("pending", "Pending"), ("accepted", "Accepted"), ("rejected", "Rejected")],
                        default="pending",
                    ),
                ),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("follow_uri__text_length__lte", 2048),
                            ("inbox_url__text_length__lte", 2048),
                            ("state__text_length__lte", 64),
                        ),
                        name="federation_relay_lengths",
                    )
                ],
            },
        ),
    ]
