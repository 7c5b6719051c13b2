"""Fixtures for the tests of OAuth: an application, a user, and a browser in which the user is signed in."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from accounts.identity.services.tokens import register_application
from accounts.models import Application, User
from tests.support.client import forget_identities, signed_in

CALLBACK = "https://app.example/callback?keep=1"


@pytest.fixture(autouse=True)
def _fresh_memory() -> None:
    forget_identities()


@pytest.fixture
def application(db: None) -> Application:
    return register_application(
        name="Test app", redirect_uris=[CALLBACK, "urn:ietf:wg:oauth:2.0:oob"], scopes="read write follow push profile"
    )


def ask(application: Application, /, **more: Any) -> dict[str, str]:
    """Return the parameters with which an application opens `/oauth/authorize`; a parameter whose value is None is left out."""
    wanted = {
        "client_id": application.client_id,
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "scope": "read write",
        **more,
    }
    return {name: str(value) for name, value in wanted.items() if value is not None}


def answer(response: Any) -> dict[str, str]:
    """Return the parameters that a redirect passes to an application."""
    assert response.status_code == 302, response.content[:300]
    return {name: values[0] for name, values in parse_qs(urlsplit(response["Location"]).query).items()}


def exchange(application: Application, code: str, **more: Any) -> Any:
    """Send `POST /oauth/token` for a code and return the response."""
    wanted = {
        "grant_type": "authorization_code",
        "client_id": application.client_id,
        "client_secret": application.client_secret,
        "redirect_uri": CALLBACK,
        "code": code,
        **more,
    }
    return Client().post("/oauth/token", {name: value for name, value in wanted.items() if value is not None})


def code_for(application: Application, user: User, /, **more: Any) -> str:
    """Return the code that the application gets when the user allows its request; `more` contains parameters of the request."""
    browser = signed_in(user)
    return answer(browser.post("/oauth/authorize", ask(application, decision="allow", **more)))["code"]
