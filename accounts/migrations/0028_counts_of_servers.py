from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Lower

from social.kernel.migration_operations import AddIndexBesideWriters


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("accounts", "0027_limits_of_imports")]

    operations = [
        AddIndexBesideWriters(
            model_name="account",
            index=models.Index(
                Lower("domain"),
                models.OrderBy(models.F("id"), descending=True),
                include=["domain", "deleted_at"],
                name="accounts_account_server",
            ),
        ),
        RemoveIndexConcurrently(model_name="account", name="accounts_account_domain"),
    ]
