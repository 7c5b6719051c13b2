import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("statuses", "0007_held_edits_and_boosts"),
    ]

    operations = [
        migrations.CreateModel(
            name="HeldMedia",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "held",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="media", to="statuses.heldpost"
                    ),
                ),
                (
                    "media",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="held",
                        to="statuses.mediaattachment",
                    ),
                ),
                (
                    "preview_of",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="statuses.mediaattachment",
                    ),
                ),
            ],
        ),
    ]
