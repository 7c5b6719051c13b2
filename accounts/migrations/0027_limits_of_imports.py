from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0026_quotas_of_roles"),
    ]

    operations = [
        migrations.AddField(
            model_name="pastimport",
            name="unlimited",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="role",
            name="imported_mebibytes_limit",
            field=models.PositiveIntegerField(db_default=20480, default=20480),
        ),
        migrations.AddField(
            model_name="role",
            name="imported_posts_limit",
            field=models.PositiveIntegerField(db_default=200000, default=200000),
        ),
    ]
