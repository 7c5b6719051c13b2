"""The roles every server begins with."""

from __future__ import annotations

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

# Bits as in accounts.models.user.Permission, written out: a migration must not change when the enum does.
ROLES = [
    # id, name, position, permissions, highlighted
    (-99, "", -1, 0x10000, False),
    (1, "Moderator", 10, 0x4 | 0x8 | 0x10 | 0x100 | 0x200 | 0x400, True),
    (
        2,
        "Admin",
        100,
        0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x1000 | 0x2000 | 0x4000 | 0x8000
        | 0x10000 | 0x20000 | 0x40000 | 0x80000 | 0x100000 | 0x200000 | 0x400000,
        True,
    ),
    (3, "Owner", 1000, 0x1, True),
]  # fmt: skip


def create(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Insert the roles with fixed ids and let the sequence go on after them."""
    role = apps.get_model("accounts", "Role")
    for number, name, position, permissions, highlighted in ROLES:
        role.objects.create(id=number, name=name, position=position, permissions=permissions, highlighted=highlighted)
    schema_editor.execute("SELECT setval(pg_get_serial_sequence('accounts_role', 'id'), 100)", params=None)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
