from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("statuses", "0016_replies_counted_elsewhere"),
    ]

    operations = [
        migrations.AddField(
            model_name="status",
            name="local_only",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
