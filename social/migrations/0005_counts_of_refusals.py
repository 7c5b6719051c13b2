"""Counts of what others sent and was not taken, by sender, reason and day."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("social", "0004_pace_of_hosts"),
    ]

    operations = [
        migrations.CreateModel(
            name="Refusal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sender", models.TextField(blank=True)),
                ("reason", models.TextField()),
                ("day", models.DateField()),
                ("number", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "db_table": "social_refusal",
                "indexes": [models.Index(fields=["day", "reason"], name="social_refusal_day")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason__text_length__lte", 255), ("sender__text_length__lte", 260)),
                        name="social_refusal_lengths",
                    ),
                    models.UniqueConstraint(fields=("sender", "reason", "day"), name="social_refusal_once"),
                ],
            },
        ),
    ]
