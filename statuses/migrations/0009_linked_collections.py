import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0021_pages_of_collections_and_hosts_of_servers"),
        ("statuses", "0008_files_of_held_edits"),
    ]

    operations = [
        migrations.CreateModel(
            name="LinkedCollection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uri", models.TextField(null=True)),
                (
                    "collection",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.collection",
                    ),
                ),
                (
                    "status",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="linked_collections",
                        to="statuses.status",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("collection__isnull", False)),
                        fields=["collection"],
                        name="statuses_linkedcollection_of",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("uri__text_length__lte", 2048)), name="statuses_linkedcollection_lengths"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("collection", None)) ^ models.Q(("uri", None)),
                        name="statuses_linkedcollection_known_or_named",
                    ),
                    models.UniqueConstraint(fields=("status", "collection"), name="statuses_linkedcollection_pair"),
                ],
            },
        ),
    ]
