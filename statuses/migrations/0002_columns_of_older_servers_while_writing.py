"""Takes the place of the migration of this number where that was not applied: nobody who writes waits for its indexes."""

from __future__ import annotations

from importlib import import_module

from django.db import migrations

from social.kernel.migration_operations import CreateIndexBesideWriters

LANDED = import_module("statuses.migrations.0002_columns_of_older_servers")
LANGUAGES = """
ON statuses_status (local, language, (id * -1))
 WHERE deleted_at IS NULL AND reblog_of_id IS NULL AND visibility = 'public'
"""


class Migration(migrations.Migration):
    atomic = False
    replaces = [("statuses", "0002_columns_of_older_servers")]
    dependencies = LANDED.Migration.dependencies
    operations = [
        CreateIndexBesideWriters("statuses_status_languages", LANGUAGES),
        migrations.RunSQL(LANDED.PRIVATE_TAGS, migrations.RunSQL.noop),
    ]
