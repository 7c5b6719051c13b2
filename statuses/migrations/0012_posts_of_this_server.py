from django.db import migrations, models

from social.kernel.migration_operations import AddIndexBesideWriters


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("statuses", "0011_answers_in_their_order")]

    operations = [
        AddIndexBesideWriters(
            model_name="status",
            index=models.Index(
                condition=models.Q(("local", True)),
                fields=["-id"],
                include=("visibility", "reblog_of", "deleted_at"),
                name="statuses_status_here",
            ),
        ),
    ]
