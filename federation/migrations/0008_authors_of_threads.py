"""The number of people that the reading of a thread has brought, which has an end."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("federation", "0007_relays"),
    ]

    operations = [
        migrations.AddField(
            model_name="threadwalk",
            name="actors",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
