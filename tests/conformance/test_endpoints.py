"""Every endpoint of the server declares itself, and everything that is made from the declarations is up to date."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from social.api.routing import endpoints
from social.urls import urlpatterns
from tests.support.battery import Row, without_row
from tests.support.entities import ENTITIES

ROOT = Path(__file__).resolve().parents[2]


def rows() -> list[Row]:
    """The rows of all batteries but that of the sample API."""
    found: list[Row] = []
    for path in sorted((ROOT / "tests").rglob("test_battery*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if not name.startswith("tests.api."):
            found += import_module(name).ROWS
    return found


def test_every_endpoint_has_a_row_in_a_battery() -> None:
    assert without_row(rows()) == []


def test_no_endpoint_has_two_rows() -> None:
    names = [row.endpoint for row in rows()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("pattern", endpoints(urlpatterns), ids=lambda pattern: pattern.path)
def test_every_endpoint_declares_an_entity_that_has_a_schema(pattern: object) -> None:
    for method in pattern.actions:  # type: ignore[attr-defined]
        declared = pattern.declared(method)  # type: ignore[attr-defined]
        assert declared.entity is None or declared.entity in ENTITIES
