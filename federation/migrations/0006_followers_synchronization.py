"""Activities that tell servers which of their people follow their sender."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("federation", "0005_threads"),
    ]

    operations = [
        migrations.AddField(
            model_name="outboundactivity",
            name="synchronizes",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
