"""Tests that every endpoint of the server is declared, and that everything generated from the declarations is up to date."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from social.api.routing import endpoints
from social.openapi import DOCUMENT
from social.urls import urlpatterns
from tests.support import documents
from tests.support.battery import Row, without_row
from tests.support.client import Api
from tests.support.entities import shape_of

ROOT = Path(__file__).resolve().parents[2]


#: The endpoints under /api by area, each with its methods (contract, seed coverage SEED-121 and endpoints.tsv).
AREAS = {
    "activity": "GET v1/instance/activity",
    "announcements": """
        GET v1/announcements | POST v1/announcements/<id>/dismiss | PUT,DELETE v1/announcements/<id>/reactions/<name>""",
    "conversations": "GET v1/conversations | DELETE v1/conversations/<id> | POST v1/conversations/<id>/read",
    "encrypted messages": """
        POST v1/crypto/keys/upload | POST v1/crypto/keys/query | POST v1/crypto/keys/claim | GET v1/crypto/keys/count
        | POST v1/crypto/deliveries | GET v1/crypto/encrypted_messages | POST v1/crypto/encrypted_messages/clear""",
    "endorsements": """
        GET v1/endorsements | GET v1/accounts/<id>/endorsements | POST v1/accounts/<id>/endorse
        | POST v1/accounts/<id>/unendorse""",
    "featured tags": """
        GET,POST v1/featured_tags | DELETE v1/featured_tags/<id> | GET v1/featured_tags/suggestions
        | GET v1/accounts/<id>/featured_tags""",
    "filters": """
        GET,POST v1/filters | GET,PUT,DELETE v1/filters/<id> | GET,POST v2/filters | GET,PUT,DELETE v2/filters/<id>
        | GET,POST v2/filters/<id>/keywords | GET,PUT,DELETE v2/filters/keywords/<id>
        | GET,POST v2/filters/<id>/statuses | GET,DELETE v2/filters/statuses/<id>""",
    "markers": "GET,POST v1/markers",
    "past imports (an extension)": """
        GET,POST v1/past_imports | GET,DELETE v1/past_imports/<id> | POST v1/past_imports/<id>/start
        | POST v1/past_imports/<id>/undo | GET v1/past_imports/<id>/left_out""",
    "moderation": """
        GET v1/admin/accounts | GET v2/admin/accounts | GET,DELETE v1/admin/accounts/<id> | POST v1/admin/accounts/<id>/action
        | POST v1/admin/accounts/<id>/approve | POST v1/admin/accounts/<id>/reject | POST v1/admin/accounts/<id>/enable
        | POST v1/admin/accounts/<id>/unsilence | POST v1/admin/accounts/<id>/unsuspend
        | POST v1/admin/accounts/<id>/unsensitive | GET v1/admin/reports | GET,PUT v1/admin/reports/<id>
        | POST v1/admin/reports/<id>/assign_to_self | POST v1/admin/reports/<id>/unassign
        | POST v1/admin/reports/<id>/resolve | POST v1/admin/reports/<id>/reopen
        | GET,POST v1/admin/domain_allows | GET,DELETE v1/admin/domain_allows/<id>
        | GET,POST v1/admin/domain_blocks | GET,PUT,DELETE v1/admin/domain_blocks/<id>
        | GET,POST v1/admin/domain_permission_subscriptions | GET v1/admin/domain_permission_subscriptions/preview
        | GET,PUT v1/admin/domain_permission_subscriptions/<id>
        | POST v1/admin/domain_permission_subscriptions/<id>/remove
        | POST v1/admin/domain_permission_subscriptions/<id>/test
        | GET,POST v1/admin/domain_permission_drafts | GET v1/admin/domain_permission_drafts/<id>
        | POST v1/admin/domain_permission_drafts/<id>/accept | POST v1/admin/domain_permission_drafts/<id>/remove
        | GET,POST v1/admin/domain_permission_excludes | GET,DELETE v1/admin/domain_permission_excludes/<id>
        | GET,POST v1/admin/email_domain_blocks | GET,DELETE v1/admin/email_domain_blocks/<id>
        | GET,POST v1/admin/ip_blocks | GET,PUT,DELETE v1/admin/ip_blocks/<id>
        | GET,POST v1/admin/canonical_email_blocks | GET,DELETE v1/admin/canonical_email_blocks/<id>
        | POST v1/admin/canonical_email_blocks/test | POST v1/admin/measures | POST v1/admin/dimensions
        | POST v1/admin/retention | GET v1/admin/tags | GET,PUT v1/admin/tags/<id> | GET v1/admin/trends/tags
        | POST v1/admin/trends/tags/<id>/approve | POST v1/admin/trends/tags/<id>/reject | GET v1/admin/trends/statuses
        | POST v1/admin/trends/statuses/<id>/approve | POST v1/admin/trends/statuses/<id>/reject
        | GET v1/admin/trends/links | POST v1/admin/trends/links/<id>/approve | POST v1/admin/trends/links/<id>/reject
        | GET v1/admin/trends/links/publishers | POST v1/admin/trends/links/publishers/<id>/approve
        | POST v1/admin/trends/links/publishers/<id>/reject""",
    "notes": "POST v1/accounts/<id>/note",
    "peers": "GET v1/instance/peers | GET v1/peers/search",
    "pins": """
        POST v1/statuses/<id>/pin | POST v1/statuses/<id>/unpin | POST v1/accounts/<id>/pin | POST v1/accounts/<id>/unpin""",
    "polls": "GET v1/polls/<id> | POST v1/polls/<id>/votes",
    "push": "GET,POST,PUT,DELETE v1/push/subscription",
    "recommendations": "GET v2/suggestions | GET v1/suggestions | DELETE v1/suggestions/<id> | GET v1/directory",
    "rules": "GET v1/instance/rules",
    "scheduled": "GET v1/scheduled_statuses | GET,PUT,DELETE v1/scheduled_statuses/<id>",
}


def rows() -> list[Row]:
    """Return the rows of all batteries except the rows of the sample API."""
    found: list[Row] = []
    for path in sorted((ROOT / "tests").rglob("test_battery*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if not name.startswith("tests.api."):
            found += import_module(name).ROWS
    return found


def test_every_endpoint_has_a_row_in_a_battery() -> None:  # SEED-121
    assert without_row(rows()) == [], "add a Row for each to ROWS in a test_battery*.py of its app"


@pytest.mark.parametrize("area", AREAS)
def test_seed_121_every_area_listed_without_paths_has_all_its_endpoints(area: str) -> None:
    wanted = set()
    for endpoint in AREAS[area].split("|"):
        methods, path = endpoint.split()
        wanted |= {(method, f"api/{path}") for method in methods.split(",")}
    there = {
        (method.upper(), re.sub("<(?:\\w+:)?(?!name)\\w+>", "<id>", pattern.path))
        for pattern in endpoints(urlpatterns)
        for method in pattern.actions
    }
    assert wanted - there == set()


def test_no_endpoint_has_two_rows() -> None:
    names = [row.endpoint for row in rows()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("pattern", endpoints(urlpatterns), ids=lambda pattern: pattern.path)
def test_every_endpoint_declares_an_entity_that_has_a_schema(pattern: object) -> None:
    for method in pattern.actions:
        entity = pattern.declared(method).entity
        assert entity is None or shape_of(entity)


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
    assert listed["security"] == [{}, {"oauth": ["read:statuses"]}, {"bearer": []}]
    # The page shows the schemes in this order, so that the field for a token stands above the hundred scopes.
    assert list(document["components"]["securitySchemes"]) == ["bearer", "oauth"]
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
