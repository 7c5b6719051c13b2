from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("statuses", "0014_old_posts_of_other_servers"),
    ]

    operations = [
        migrations.AddField(
            model_name="status",
            name="from_archive",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunSQL(
            "UPDATE statuses_status SET from_archive = true WHERE id IN (SELECT status_id FROM statuses_importedpost)",
            migrations.RunSQL.noop,
        ),
    ]
