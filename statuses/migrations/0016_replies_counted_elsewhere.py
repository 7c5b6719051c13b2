from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("statuses", "0015_posts_from_archives"),
    ]

    operations = [
        migrations.AddField(
            model_name="statusstat",
            name="remote_replies_count",
            field=models.BigIntegerField(db_default=0, default=0),
        ),
    ]
