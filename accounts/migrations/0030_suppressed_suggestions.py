import django.db.models.deletion
from django.db import migrations, models

import social.kernel.clock


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0029_hash_lists"),
    ]

    operations = [
        migrations.CreateModel(
            name="SuppressedSuggestion",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="accounts.account",
                    ),
                ),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
        ),
    ]
