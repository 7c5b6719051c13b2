"""Removes the counters of accounts that never posted, followed or were followed: a row says that they did."""

from django.db import migrations

_UNUSED = """
DELETE FROM accounts_accountstat
 WHERE statuses_count = 0 AND following_count = 0 AND followers_count = 0 AND last_status_at IS NULL
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_columns_of_older_servers")]
    operations = [migrations.RunSQL(_UNUSED, migrations.RunSQL.noop)]
