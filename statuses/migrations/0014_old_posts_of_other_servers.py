from django.db import migrations, models

from social.kernel.migration_operations import AddIndexBesideWriters


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("statuses", "0013_imported_posts")]

    operations = [
        migrations.AddField(model_name="status", name="arrived_at", field=models.DateTimeField(null=True)),
        AddIndexBesideWriters(
            model_name="status",
            index=models.Index(
                condition=models.Q(("local", True), ("thread_id__isnull", False)),
                fields=["thread_id"],
                name="statuses_status_threads_here",
            ),
        ),
    ]
