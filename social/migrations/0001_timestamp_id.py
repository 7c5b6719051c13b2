"""The function that makes time-ordered ids. Every other app's first migration depends on this one."""

from __future__ import annotations

import secrets

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

# The tail is two bytes of a salted hash of (table, millisecond) plus a sequence: distinct within a millisecond, and
# neither the number of rows nor the order within a millisecond can be read from it. The salt is minted here, per
# installation, and lives only in the function's body. One sequence serves all tables (docs/adr/0002).
FUNCTION = """
CREATE SEQUENCE IF NOT EXISTS snowflake_tail AS bigint CYCLE;
CREATE OR REPLACE FUNCTION timestamp_id(table_name text) RETURNS bigint AS $$
DECLARE
    milliseconds bigint := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
    base bigint := ('x' || substr(md5(table_name || '{salt}' || milliseconds::text), 1, 4))::bit(16)::bigint;
BEGIN
    RETURN (milliseconds << 16) | ((base + nextval('snowflake_tail')) & 65535);
END
$$ LANGUAGE plpgsql VOLATILE;
"""


def create(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the sequence and the function with a fresh salt."""
    schema_editor.execute(FUNCTION.format(salt=secrets.token_hex(16)), params=None)


def drop(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Undo `create`."""
    schema_editor.execute("DROP FUNCTION timestamp_id(text); DROP SEQUENCE snowflake_tail;", params=None)


class Migration(migrations.Migration):
    initial = True
    dependencies: list[tuple[str, str]] = []
    operations = [migrations.RunPython(create, drop)]
