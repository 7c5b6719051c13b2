"""Every endpoint of the server declares itself, and everything that is made from the declarations is up to date."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from social.api.routing import endpoints
from social.openapi import DOCUMENT
from social.urls import urlpatterns
from tests.support import documents
from tests.support.battery import Row, without_row
from tests.support.client import Api
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


def test_every_endpoint_has_a_row_in_a_battery() -> None:  # SEED-121
    assert without_row(rows()) == [], "add a Row for each to ROWS in a test_battery*.py of its app"


def test_no_endpoint_has_two_rows() -> None:
    names = [row.endpoint for row in rows()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("pattern", endpoints(urlpatterns), ids=lambda pattern: pattern.path)
def test_every_endpoint_declares_an_entity_that_has_a_schema(pattern: object) -> None:
    for method in pattern.actions:
        declared = pattern.declared(method)
        known = declared.entity is None or declared.entity in ENTITIES
        assert known, f"{declared.entity} has no shape: add it to ENTITIES in tests/support/entities.py"


def test_the_table_of_endpoints_is_up_to_date() -> None:
    stored = documents.COVERAGE.read_text()
    assert stored == documents.with_table(stored), "run `make documents`"


def test_the_page_of_settings_is_up_to_date() -> None:
    assert documents.SETTINGS_PAGE.read_text() == documents.settings_page(), "run `make documents`"


def test_the_openapi_document_is_valid_and_up_to_date() -> None:
    from tests.support import openapi

    assert DOCUMENT.read_bytes() == openapi.encoded_document(), "run `make documents`"


@pytest.mark.django_db
def test_the_openapi_document_describes_scopes_parameters_and_entities_of_an_endpoint() -> None:
    answer = Api().get("/api/openapi.json")
    assert answer["Cache-Control"] == "public, max-age=300"
    document = answer.json()
    paths = document["paths"]
    routed = {"/" + pattern.path.replace("<", "{").replace(">", "}") for pattern in endpoints(urlpatterns)}
    assert set(paths) == routed, "run `make documents`"
    listed = paths["/api/v1/accounts/{id}/statuses"]["get"]
    assert listed["security"] == [{}, {"oauth": ["read:statuses"]}]
    assert {"id", "limit", "max_id", "since_id", "min_id", "only_media", "tagged"} <= {
        parameter["name"] for parameter in listed["parameters"]
    }
    answered = listed["responses"]["2XX"]
    assert answered["content"]["application/json"]["schema"] == {
        "type": "array",
        "items": {"$ref": "#/components/schemas/Status"},
    }
    assert "Link" in answered["headers"]
    assert document["components"]["schemas"]["Status"]["properties"]["id"]["type"] == "string"
    body = paths["/api/v1/accounts"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"]["agreement"] == {"type": "boolean"}
