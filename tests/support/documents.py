"""Writes the documents that are generated from the declarations of the endpoints: `make documents`."""

import hashlib
import os
import re
from enum import IntFlag
from pathlib import Path
from typing import Any

from social.settings.declared import SETTINGS

_SETTINGS_HEAD = """# Settings

Settings are environment variables. `manage.py run`, `setup` and `doctor` also have options for ports and domain (`make run
ARGS="--port 8080"`). By default, a server at `localhost` lets everybody sign up without confirmation and writes e-mails to
`var/mail`; at any other domain, sign-ups need approval and confirmation, so that you need `EMAIL_URL`. The server does not
start with a variable whose name is nearly that of a setting.

| variable | default | meaning |
|---|---|---|
"""
ROOT = Path(__file__).resolve().parents[2]
COVERAGE = ROOT / "docs" / "coverage.md"
#: A line for each migration that has landed: its SHA-256 and its path. A line is never changed.
LANDED = ROOT / "tests" / "architecture" / "landed_migrations.txt"
SETTINGS_PAGE = COVERAGE.with_name("settings.md")
_TABLE = re.compile(r"(?<=\n## Endpoints\n\n).*?\Z", re.DOTALL)


def table() -> str:
    """Return the endpoints as a table in Markdown, sorted by path."""
    from social.api.routing import endpoints
    from social.urls import urlpatterns

    lines = ["| Endpoint | Access | Scopes | Permission | Answer | Paging |", "|---|---|---|---|---|---|"]
    rows = [
        (pattern.path, method.upper(), pattern.declared(method))
        for pattern in endpoints(urlpatterns)
        for method in pattern.actions
    ]
    for path, method, declared in sorted(rows, key=lambda row: row[:2]):
        entity = declared.entity or "nothing"
        answer = f"[{entity}]" if declared.many else entity
        scopes = ", ".join(declared.access.scopes)
        cells = (
            declared.access.kind.value,
            scopes,
            named(declared.access.permission),
            answer,
            _paging(declared.paging),
        )
        lines.append(f"| {method} `/{path}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def named(permission: IntFlag | None) -> str:
    """Return the names of the permissions, any of which is sufficient, in the order of their bits."""
    return " or ".join(one.name or "" for one in permission) if permission is not None else ""


def _paging(paging: Any) -> str:
    if paging is None:
        return ""
    kind = getattr(paging, "prev", "") if hasattr(paging, "next_when") else "offset"
    return f"{kind} {paging.limit.default}/{paging.limit.maximum}"


def with_table(text: str) -> str:
    """Return the text of docs/coverage.md with the current table."""
    return _TABLE.sub(lambda _found: table(), text)


def settings_page() -> str:
    """Return docs/settings.md from the declarations."""
    rows = (f"| `{name}` | {default} | {meaning} |\n" for name, (default, meaning) in SETTINGS.items())
    return f"{_SETTINGS_HEAD}{''.join(rows)}"


def migrations(root: Path) -> dict[str, str]:
    """Return the digests of all migrations below `root`, keyed by path."""
    paths = (path for path in root.glob("*/migrations/[0-9]*.py") if not path.parts[-3].startswith("."))
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def landed_of(text: str) -> dict[str, str]:
    """Return the digests of the migrations that have landed, keyed by path."""
    return {name: digest for digest, name in map(str.split, text.splitlines())}


def with_migrations(text: str, root: Path) -> str:
    """Add lines to LANDED for new migrations; lines of edited migrations stay, so that a test fails."""
    return "".join(f"{it}  {name}\n" for name, it in sorted((migrations(root) | landed_of(text)).items()))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.types")
    import django

    django.setup()
    from tests.support import interop_page, openapi, wire

    COVERAGE.write_text(with_table(COVERAGE.read_text()))
    SETTINGS_PAGE.write_text(settings_page())
    LANDED.write_text(with_migrations(LANDED.read_text(), ROOT))
    openapi.write()
    if wire.FILES:
        interop_page.PAGE.write_text(interop_page.page())
    else:
        print("docs/interop.md stays as it is: CONFORMANCE names no folder with the recorded documents of Mastodon.")
