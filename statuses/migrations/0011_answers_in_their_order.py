from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models

from social.kernel.migration_operations import AddIndexBesideWriters


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("statuses", "0010_fetched_posts_and_unknown_people")]

    operations = [
        AddIndexBesideWriters(
            model_name="status",
            index=models.Index(
                condition=models.Q(("in_reply_to__isnull", False)),
                fields=["in_reply_to", "id"],
                name="statuses_status_answers",
            ),
        ),
        AddIndexBesideWriters(
            model_name="status",
            index=models.Index(
                condition=models.Q(("in_reply_to_account__isnull", False)),
                fields=["in_reply_to_account", "id"],
                name="statuses_status_answers_to",
            ),
        ),
        RemoveIndexConcurrently(model_name="status", name="statuses_status_reply"),
        RemoveIndexConcurrently(model_name="status", name="statuses_status_reply_account"),
    ]
