"""Votes in polls written here are announced to other servers some minutes later, once for all of them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("statuses", "0002_columns_of_older_servers"),
    ]

    operations = [
        migrations.AddField(
            model_name="poll",
            name="announce_at",
            field=models.DateTimeField(null=True),
        ),
    ]
