"""Writes what is made from the declarations of the endpoints: `make documents`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

COVERAGE = Path(__file__).resolve().parents[2] / "docs" / "coverage.md"
_TABLE = re.compile(r"(?<=\n## Endpoints\n\n).*?\Z", re.DOTALL)


def table() -> str:
    """The endpoints as a table in Markdown, in the order of their paths."""
    from social.api.routing import endpoints
    from social.urls import urlpatterns

    lines = ["| Endpoint | Access | Scopes | Answer | Paging |", "|---|---|---|---|---|"]
    rows = [
        (pattern.path, method.upper(), pattern.declared(method))
        for pattern in endpoints(urlpatterns)
        for method in pattern.actions
    ]
    for path, method, declared in sorted(rows, key=lambda row: row[:2]):
        entity = declared.entity or "nothing"
        answer = f"[{entity}]" if declared.many else entity
        scopes = ", ".join(declared.access.scopes)
        lines.append(
            f"| {method} `/{path}` | {declared.access.kind.value} | {scopes} | {answer} | {_paging(declared.paging)} |"
        )
    return "\n".join(lines) + "\n"


def _paging(paging: Any) -> str:
    if paging is None:
        return ""
    kind = getattr(paging, "prev", "") if hasattr(paging, "next_when") else "offset"
    return f"{kind} {paging.limit.default}/{paging.limit.maximum}"


def with_table(text: str) -> str:
    """The text of docs/coverage.md with the table as it should be."""
    return _TABLE.sub(lambda _found: table(), text)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.types")
    import django

    django.setup()
    from tests.support import openapi

    COVERAGE.write_text(with_table(COVERAGE.read_text()))
    openapi.write()
