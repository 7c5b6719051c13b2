"""Empties the tables after a test that commits.

Django's way is to truncate all tables and to announce a migration, a third of a second per test. A test fills a few
tables with a few rows: deleting those takes a tenth of that.
"""

from __future__ import annotations

from functools import cache

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction

# What Django makes of the models after each migration.
_KEPT = frozenset({ContentType._meta.db_table, Permission._meta.db_table})


def empty_tables() -> None:
    """No table of a model has rows; sequences go on. The user of the database must be allowed to write without triggers."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_filled())
        filled = [name for (name,) in cursor.fetchall()]
        # Without triggers: neither foreign keys nor what keeps rows from being deleted.
        cursor.execute("SET LOCAL session_replication_role = replica")
        for name in filled:
            cursor.execute(f"DELETE FROM {name}")


@cache
def _filled() -> str:
    """A query for the tables that have rows."""
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    tables = (f"SELECT '{name}' AS name, EXISTS (SELECT FROM {name}) AS filled" for name in names if name not in _KEPT)
    return f"SELECT name FROM ({' UNION ALL '.join(tables)}) AS tables WHERE filled"
