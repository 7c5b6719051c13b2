from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0025_past_imports")]

    operations = [
        migrations.AddField(
            model_name="role", name="media_megabytes", field=models.IntegerField(db_default=0, default=0)
        ),
        migrations.AddField(
            model_name="role", name="posts_per_day", field=models.IntegerField(db_default=0, default=0)
        ),
    ]
