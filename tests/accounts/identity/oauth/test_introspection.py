"""Tests of token introspection (RFC 7662; contract, endpoints "oauth/introspect" and "oauth/token/info")."""

import base64
from typing import Any

import pytest
from django.test import Client

from accounts.identity.services.tokens import issue_token, register_application, revoke_tokens
from accounts.models import AccessToken, Application, User
from tests.accounts.identity.oauth.conftest import CALLBACK

pytestmark = pytest.mark.django_db
NOT_ACTIVE = {"active": False}


def introspect(application: Application, token: str | None, **more: Any) -> Any:
    sent = {"client_id": application.client_id, "client_secret": application.client_secret, "token": token, **more}
    return Client().post("/oauth/introspect", {name: value for name, value in sent.items() if value is not None})


def info(token: str) -> Any:
    return Client().get("/oauth/token/info", headers={"Authorization": f"Bearer {token}"})


def test_an_application_learns_what_its_token_is_for(application: Application, person: User) -> None:
    token = issue_token(application=application, user=person, scopes=["read", "push"])
    response = introspect(application, token.token)
    assert response.status_code == 200
    assert response["Cache-Control"] == "no-store"
    assert response.json() == {
        "active": True,
        "scope": "read push",
        "client_id": application.client_id,
        "token_type": "Bearer",
        "iat": int(token.created.timestamp()),
    }


def test_credentials_may_be_in_the_header_and_the_body_may_be_json(application: Application) -> None:
    token = issue_token(application=application, user=None, scopes=["read"])
    pair = base64.b64encode(f"{application.client_id}:{application.client_secret}".encode()).decode()
    response = Client().post(
        "/oauth/introspect",
        {"token": token.token},
        content_type="application/json",
        headers={"Authorization": f"Basic {pair}"},
    )
    assert response.json()["active"] is True


def test_a_token_that_is_gone_unknown_or_another_applications_is_not_active(
    application: Application, person: User
) -> None:
    other = register_application(name="Other", redirect_uris=CALLBACK)
    theirs = issue_token(application=other, user=person, scopes=["read"])
    gone = issue_token(application=application, user=person, scopes=["read"])
    revoke_tokens(AccessToken.objects.filter(pk=gone.pk))
    for token in (theirs.token, gone.token, "unknown", "a\0b", "x" * 10_000):
        response = introspect(application, token)
        assert (response.status_code, response.json()) == (200, NOT_ACTIVE)


def test_introspection_requires_the_client_secret(application: Application, person: User) -> None:
    token = issue_token(application=application, user=person, scopes=["read"]).token
    for more in ({"client_secret": "wrong"}, {"client_secret": None}, {"client_id": "unknown"}, {"client_id": None}):
        response = introspect(application, token, **more)
        assert (response.status_code, response.json()["error"]) == (401, "invalid_client")
    response = introspect(application, None)
    assert (response.status_code, response.json()["error"]) == (400, "invalid_request")
    assert Client().get("/oauth/introspect", {"token": token}).status_code == 404


def test_a_token_can_request_its_own_description(application: Application, person: User) -> None:
    token = issue_token(application=application, user=person, scopes=["read", "push"])
    assert info(token.token).json() == {
        "resource_owner_id": str(person.account_id),
        "scope": ["read", "push"],
        "expires_in": None,
        "application": {"uid": application.client_id},
        "created_at": int(token.created.timestamp()),
    }
    own = issue_token(application=application, user=None, scopes=["read"])
    assert info(own.token).json()["resource_owner_id"] is None
    assert info("unknown").status_code == 401
