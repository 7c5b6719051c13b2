import django.db.models.expressions
from django.db import migrations, models

from social.kernel.migration_operations import AddIndexBesideWriters


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("accounts", "0022_permissions_of_everybody")]

    operations = [
        AddIndexBesideWriters(
            model_name="accountstat",
            index=models.Index(
                django.db.models.expressions.OrderBy(
                    django.db.models.expressions.F("last_status_at"), descending=True, nulls_last=True
                ),
                django.db.models.expressions.OrderBy(django.db.models.expressions.F("account_id"), descending=True),
                name="accounts_accountstat_active",
            ),
        ),
    ]
