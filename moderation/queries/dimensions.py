"""Breaks down figures of this server by language, application or server, and reads versions and disk usage. Source:
contract, parameters section 6, entities "Admin::Dimension". Periods include their first and their last day (UTC).
"""

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import django
from django.conf import settings
from django.db import connection
from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from moderation.queries.figures import completed, days_parameters, subject_parameters
from social.kernel.redis import client


@dataclass(frozen=True, slots=True)
class Part:
    """A value of a dimension with its count; `unit` is "bytes" or None."""

    key: str
    name: str
    value: str
    unit: str | None = None
    shown: str | None = None


# Posts with the hashtag `id`. The conditions in brackets are defined in `moderation.queries.figures`.
_TAGGED: Final = """
FROM statuses_statustag st JOIN statuses_status s ON s.id = st.status_id JOIN accounts_account a ON a.id = s.account_id
WHERE st.tag_id = %(id)s AND s.deleted_at IS NULL AND [tagged in span] GROUP BY 1
"""
_SQL: Final[dict[str, str]] = {
    "languages": """
        SELECT locale, locale, count(*) FROM accounts_user
         WHERE locale IS NOT NULL AND active_at >= %(from)s AND active_at < %(until)s GROUP BY 1""",
    "sources": """
        SELECT COALESCE(p.id::text, 'web'), p.name, count(*)
          FROM accounts_user u LEFT JOIN accounts_application p ON p.id = u.created_by_application_id
         WHERE u.created_at >= %(from)s AND u.created_at < %(until)s GROUP BY 1, 2""",
    "servers": """
        SELECT COALESCE(a.domain, %(here)s), COALESCE(a.domain, %(here)s), count(*)
          FROM statuses_status s JOIN accounts_account a ON a.id = s.account_id
         WHERE s.deleted_at IS NULL AND [in span] GROUP BY 1""",
    "tag_servers": f"SELECT COALESCE(a.domain, %(here)s), COALESCE(a.domain, %(here)s), count(*) {_TAGGED}",
    "tag_languages": f"SELECT COALESCE(s.language, 'und'), COALESCE(s.language, 'und'), count(*) {_TAGGED}",
    "instance_accounts": """
        SELECT a.id::text, a.username || '@' || a.domain, count(*)
          FROM accounts_follow f JOIN accounts_account a ON a.id = f.target_id
         WHERE [there] AND f.created_at >= %(from)s AND f.created_at < %(until)s GROUP BY 1, 2""",
    "instance_languages": """
        SELECT COALESCE(s.language, 'und'), COALESCE(s.language, 'und'), count(*)
          FROM statuses_status s JOIN accounts_account a ON a.id = s.account_id
         WHERE [there] AND s.deleted_at IS NULL AND [in span]
         GROUP BY 1""",
}
_LANGUAGES: Final = frozenset({"languages", "tag_languages", "instance_languages"})


def load_parts(key: str, start: date, end: date, parameters: Mapping[str, Any], limit: int) -> list[Part]:
    """Return the `limit` largest parts of a dimension, largest first, or all parts of a dimension without a period. One
    statement.
    """
    if key in _TIMELESS_DIMENSIONS:
        return _TIMELESS_DIMENSIONS[key]()
    values = {
        **days_parameters(start, end),
        **subject_parameters(parameters),
        "here": settings.LOCAL_DOMAIN,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(completed(_SQL[key]) + " ORDER BY 3 DESC, 1 LIMIT %(limit)s", values)
        rows = cursor.fetchall()
    return [Part(str(part), _name(key, str(part), name), str(count)) for part, name, count in rows]


def _name(key: str, part: str, name: str | None) -> str:
    if key in _LANGUAGES:
        return _language(part)
    return name if name else _("Website")


def _language(code: str) -> str:
    if code == "und":
        return _("Unknown")
    try:
        return str(get_language_info(code)["name_local"])
    except KeyError:
        return code


def _load_versions() -> list[Part]:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        (postgresql,) = cursor.fetchone() or ("",)
    versions = (
        ("social", "Social", settings.VERSION),
        ("python", "Python", platform.python_version()),
        ("django", "Django", django.get_version()),
        ("postgresql", "PostgreSQL", str(postgresql).partition(" ")[0]),
        ("redis", "Redis", str(client("cache").info("server")["redis_version"])),
    )
    return [Part(key, name, version, shown=version) for key, name, version in versions]


def _load_space() -> list[Part]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_database_size(current_database()),"
            " (SELECT COALESCE(sum(file_size + preview_size), 0) FROM statuses_mediaattachment)"
        )
        database, media = cursor.fetchone() or (0, 0)
    redis = client("cache").info("memory")["used_memory"]
    sizes = (
        ("postgresql", "PostgreSQL", int(database)),
        ("redis", "Redis", int(redis)),
        ("media", _("Media storage"), int(media)),
    )
    return [Part(key, name, str(size), "bytes", human_size(size)) for key, name, size in sizes]


_TIMELESS_DIMENSIONS: Final[dict[str, Callable[[], list[Part]]]] = {
    "software_versions": _load_versions,
    "space_usage": _load_space,
}
#: All dimensions, each with the name of the parameter that it needs: `id`, `domain` or None.
PARAMETERS: Final[dict[str, str | None]] = {
    **dict.fromkeys((*_SQL, *_TIMELESS_DIMENSIONS)),
    "tag_servers": "id",
    "tag_languages": "id",
    "instance_accounts": "domain",
    "instance_languages": "domain",
}


def human_size(size: int) -> str:
    """Return a number of bytes with three significant digits: `0 Bytes`, `2.99 MB`."""
    if size < 1024:
        return f"{size} Bytes"
    amount, unit = float(size), "Bytes"
    for larger in ("KB", "MB", "GB", "TB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:.0f} {unit}"
