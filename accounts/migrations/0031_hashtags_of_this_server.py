from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0030_suppressed_suggestions"),
    ]

    operations = [
        migrations.AddField(
            model_name="tag",
            name="local_only",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
