"""Takes the place of the migration of this number where that was not applied: nobody who writes waits for its indexes."""

from __future__ import annotations

from importlib import import_module

from django.db import migrations

from social.kernel.migration_operations import while_writing

LANDED = import_module("notifications.migrations.0003_subjects_of_all_types").Migration


class Migration(migrations.Migration):
    atomic = False
    replaces = [("notifications", "0003_subjects_of_all_types")]
    dependencies = LANDED.dependencies
    operations = while_writing(LANDED.operations, model="notification")
