"""Without loading Django, whether the database has every migration this code brings.

"This set of migration files has nothing to do on a database with that list of applied migrations" is a fact that never
changes: `manage.py setup` finds it out and notes the two marks in `DATA_DIR/run/schema.json`; a start compares them in
milliseconds, and whatever happened to the database in between shows in its mark.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from social.runtime.domain import Cursor

_FILE = Path("run") / "schema.json"


def code_mark(apps: Iterable[str]) -> str:
    """A digest of all migration files of the given INSTALLED_APPS."""
    digest = hashlib.sha256()
    for app in apps:
        folder = _migrations(app)
        for path in sorted(folder.glob("*.py")) if folder else ():
            digest.update(f"{app}/{path.name}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _migrations(app: str) -> Path | None:
    """The folder, found without importing the app: `django.contrib.admin` alone would cost a third of a second."""
    top, *rest = app.split(".")
    spec = find_spec(top)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations)))
    for part in rest:
        if not (folder / part).is_dir():  # `accounts.apps.AccountsConfig` names the app `accounts`
            break
        folder /= part
    return folder / "migrations"


def applied_mark(cursor: Cursor) -> str:
    """A digest of the list of applied migrations; empty for a new database."""
    cursor.execute("SELECT to_regclass('django_migrations') IS NOT NULL")
    row = cursor.fetchone()
    if not row or not row[0]:
        return ""
    cursor.execute("SELECT md5(string_agg(app || '.' || name, ',' ORDER BY app, name)) FROM django_migrations")
    row = cursor.fetchone()
    return str(row[0]) if row and row[0] else ""


def is_current(cursor: Cursor, data_dir: Path, apps: Iterable[str]) -> bool:
    """Whether it is known that there is nothing to migrate. False may only mean that nobody has looked yet."""
    try:
        noted = json.loads((data_dir / _FILE).read_text())
    except (OSError, ValueError):
        return False
    return isinstance(noted, dict) and noted == {"code": code_mark(apps), "applied": applied_mark(cursor)}


def note(cursor: Cursor, data_dir: Path, apps: Iterable[str]) -> None:
    """Note that this code has nothing to do on this database. Call it after a complete `migrate`."""
    path = data_dir / _FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps({"code": code_mark(apps), "applied": applied_mark(cursor)}))
    temporary.rename(path)
