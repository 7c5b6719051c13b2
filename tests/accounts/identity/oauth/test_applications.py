"""Tests of registering an application (contract, parameters section 1; clients.md traps 1 to 4; SEED-092)."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from accounts.identity.services.tokens import issue_token, register_application
from accounts.models import Application
from tests.factories.accounts import make_user

pytestmark = pytest.mark.django_db
FORM = {
    "client_name": "Ivory",
    "redirect_uris": "ivory://cb",
    "scopes": "read write:statuses",
    "website": "https://i.example",
}


def register(client: Client, **values: Any) -> Any:
    return client.post("/api/v1/apps", json.dumps({**FORM, **values}), content_type="application/json")


@pytest.mark.parametrize("encoding", ["query", "form", "multipart", "json"])
def test_trap_1_registrations_are_accepted_in_every_encoding(client: Client, encoding: str) -> None:
    match encoding:
        case "query":
            response = client.post(f"/api/v1/apps?{urlencode(FORM)}")
        case "form":
            response = client.post("/api/v1/apps", urlencode(FORM), content_type="application/x-www-form-urlencoded")
        case "multipart":
            response = client.post("/api/v1/apps", FORM)
        case _:
            response = client.post("/api/v1/apps", json.dumps(FORM), content_type="application/json")
    assert response.status_code == 200, response.content
    made = response.json()
    assert made["name"] == "Ivory"
    assert made["website"] == "https://i.example"
    assert made["scopes"] == ["read", "write:statuses"]


def test_trap_2_redirect_uris_are_returned_in_both_forms(client: Client) -> None:
    one = register(client, redirect_uris="https://a.example/cb\nb://cb").json()
    two = register(client, redirect_uris=["https://a.example/cb", "b://cb"]).json()
    three = client.post(
        "/api/v1/apps", {"client_name": "x", "redirect_uris[]": ["https://a.example/cb", "b://cb"]}
    ).json()
    for made in (one, two, three):
        assert made["redirect_uris"] == ["https://a.example/cb", "b://cb"]
        assert made["redirect_uri"] == "https://a.example/cb\nb://cb"


@pytest.mark.parametrize(
    "uri",
    [
        "urn:ietf:wg:oauth:2.0:oob",
        "com.tapbots.Ivory.10217:/request_token",
        "icecubesapp://",
        "http://localhost:8080/",
        "http://[::1]:3000/cb",
        "https://elk.example/api/https%3A%2F%2Fhost/oauth?lang=en",
    ],
)
def test_trap_3_redirect_uris_of_apps_are_stored_unchanged(client: Client, uri: str) -> None:
    assert register(client, redirect_uris=uri).json()["redirect_uris"] == [uri]


def test_trap_4_scopes_may_be_long_and_joined_by_plus_signs(client: Client) -> None:
    many = (
        "read:accounts read:blocks read:bookmarks read:favourites read:filters read:follows read:lists read:mutes " * 4
    )
    assert register(client, scopes=many).json()["scopes"] == many.split()[:8]
    assert register(client, scopes="read+write+follow").json()["scopes"] == ["read", "write", "follow"]
    assert register(client, scopes="push profile follow crypto admin:read").status_code == 200


def test_without_scopes_an_application_gets_read_and_without_website_null(client: Client) -> None:
    made = register(client, scopes=None, website="").json()
    assert made["scopes"] == ["read"]
    assert made["website"] is None
    assert register(client, scopes="").json()["scopes"] == []


FORBIDDEN = "Redirect URI is forbidden by the server., Redirect URI must specify a scheme."


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"client_name": ""}, "Application name can't be blank"),
        ({"client_name": "x" * 61}, "Application name is too long (maximum is 60 characters)"),
        ({"redirect_uris": ""}, "Redirect URI can't be blank"),
        ({"redirect_uris": None}, "Redirect URI can't be blank"),
        ({"redirect_uris": "/relative"}, "Redirect URI must be an absolute URI."),
        ({"redirect_uris": "https://a.example/#fragment"}, "Redirect URI cannot contain a fragment."),
        ({"redirect_uris": "javascript:alert(1)"}, FORBIDDEN),
        ({"redirect_uris": "DATA:text/html,x"}, FORBIDDEN),
        ({"redirect_uris": "vbscript:x"}, FORBIDDEN),
        ({"redirect_uris": "https://"}, "Redirect URI must be an absolute URI."),
        ({"redirect_uris": "https://a.example/ok\nnonsense"}, "Redirect URI must be an absolute URI."),
        ({"redirect_uris": "https://a.example/" + "x" * 2000}, "Redirect URI is too long (maximum is 2000 characters)"),
        ({"scopes": "read steal"}, "Scopes doesn't match those configured on the server."),
        ({"website": "javascript:alert(1)"}, "Application website is not a valid URL"),
        (
            {"website": "https://a.example/" + "x" * 2000},
            "Application website is too long (maximum is 2000 characters)",
        ),
    ],
)
def test_an_invalid_registration_is_refused_with_the_broken_rule(
    client: Client, wrong: dict[str, Any], message: str
) -> None:
    response = register(client, **wrong)
    assert response.status_code == 422
    assert response.json() == {"error": f"Validation failed: {message}"}
    assert not Application.objects.exists()


def test_the_secret_is_shown_once_and_never_expires(client: Client) -> None:
    made = register(client).json()
    assert made["client_secret_expires_at"] == 0
    assert made["id"].isdigit()
    assert len(made["client_id"]) >= 43
    assert len(made["client_secret"]) >= 43
    token = client.post(
        "/oauth/token",
        {"grant_type": "client_credentials", "client_id": made["client_id"], "client_secret": made["client_secret"]},
    ).json()["access_token"]
    seen = client.get("/api/v1/apps/verify_credentials", headers={"Authorization": f"Bearer {token}"})
    assert seen.status_code == 200
    assert seen.json() == {
        name: value
        for name, value in made.items()
        if name not in ("client_id", "client_secret", "client_secret_expires_at")
    }


def test_verify_credentials_takes_any_valid_token_and_refuses_none(client: Client) -> None:
    application = register_application(name="x", redirect_uris="x://y")
    token = issue_token(application=application, user=make_user(), scopes=["read"])
    url = "/api/v1/apps/verify_credentials"
    assert client.get(url, headers={"Authorization": f"Bearer {token.token}"}).json()["name"] == "x"
    assert client.get(url).status_code == 401
    assert client.get(url, headers={"Authorization": "Bearer wrong"}).status_code == 401
