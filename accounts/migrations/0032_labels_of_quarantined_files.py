from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0031_hashtags_of_this_server"),
    ]

    operations = [
        migrations.AlterField(
            model_name="quarantinedfile",
            name="source",
            field=models.TextField(
                choices=[
                    ("upload", "Upload"),
                    ("profile", "Picture of a profile"),
                    ("thumbnail", "Thumbnail"),
                    ("copy", "File from another server"),
                    ("card", "Preview picture"),
                    ("staff", "Server picture"),
                ]
            ),
        ),
    ]
