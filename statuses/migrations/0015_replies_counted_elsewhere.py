from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("statuses", "0014_old_posts_of_other_servers"),
    ]

    operations = [
        migrations.AddField(
            model_name="statusstat",
            name="remote_replies_count",
            field=models.BigIntegerField(db_default=0, default=0),
        ),
    ]
