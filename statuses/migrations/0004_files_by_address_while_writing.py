"""Takes the place of the migration of this number where that was not applied: nobody who writes waits for its indexes."""

from __future__ import annotations

from importlib import import_module

from django.db import migrations

from social.kernel.migration_operations import while_writing

LANDED = import_module("statuses.migrations.0004_files_by_address").Migration


class Migration(migrations.Migration):
    atomic = False
    replaces = [("statuses", "0004_files_by_address")]
    dependencies = LANDED.dependencies
    operations = while_writing(LANDED.operations, model="mediaattachment")
