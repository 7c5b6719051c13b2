"""When a host was asked last, by which processes together keep the pace."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("social", "0003_reactions_of_the_runner"),
    ]

    operations = [
        migrations.AddField(
            model_name="host",
            name="asked_at",
            field=models.DateTimeField(null=True),
        ),
    ]
