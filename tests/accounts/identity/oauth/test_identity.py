"""Tests of the endpoints that describe the user of a token and the server (contract, entities "Applications and tokens")."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.identity.services.sessions import publish_user_state
from accounts.identity.services.tokens import TokenIdentities, issue_token
from accounts.models import Account, Application, User
from social.kernel import clock
from tests.factories.accounts import make_user

pytestmark = pytest.mark.django_db


def bearer(application: Application, user: User | None, *scopes: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {issue_token(application=application, user=user, scopes=scopes).token}"}


def test_a_token_is_found_in_one_query_with_everything_that_authentication_needs(
    application: Application, person: User, django_assert_num_queries: Any
) -> None:
    User.objects.filter(pk=person.pk).update(locale="de")
    token = issue_token(application=application, user=person, scopes=["read", "push"])
    with django_assert_num_queries(1):
        found = TokenIdentities().find_identity(token.token)
    assert found is not None
    assert (found.token_id, found.application_id) == (token.pk, application.pk)
    assert (found.user_id, found.account_id) == (person.pk, person.account_id)
    assert found.scopes == {"read", "push"}
    assert found.locale == "de"
    assert found.confirmed
    assert found.approved
    assert {found.disabled, found.suspended, found.moved} == {False}


def test_an_applications_own_token_has_no_user(application: Application) -> None:
    token = issue_token(application=application, user=None, scopes=["read"])
    found = TokenIdentities().find_identity(token.token)
    assert found is not None
    assert (found.user_id, found.account_id) == (None, None)


@pytest.mark.parametrize("token", ["", "unknown", "\0", "ü", "x" * 100_000])
def test_an_invalid_token_identifies_nobody(application: Application, token: str) -> None:
    assert TokenIdentities().find_identity(token) is None


def test_the_account_state_is_reported(application: Application, person: User) -> None:
    token = issue_token(application=application, user=person, scopes=["read"]).token
    User.objects.filter(pk=person.pk).update(disabled_at=clock.now(), approved=False)
    Account.objects.filter(pk=person.account_id).update(suspended_at=clock.now(), moved_to=make_user().account)
    EmailAddress.objects.filter(user=person).update(verified=False)
    EmailAddress.objects.create(user=person, email="second@example.com", verified=True)
    found = TokenIdentities().find_identity(token)
    assert found is not None
    assert found.disabled
    assert found.suspended
    assert found.moved
    assert not found.approved
    assert not found.confirmed, "only the primary address counts"


def test_a_changed_state_is_seen_by_the_next_request(
    client: Client, application: Application, person: User, django_capture_on_commit_callbacks: Any
) -> None:
    headers = bearer(application, person, "profile")
    assert client.get("/oauth/userinfo", headers=headers).status_code == 200
    User.objects.filter(pk=person.pk).update(disabled_at=clock.now())
    with django_capture_on_commit_callbacks(execute=True):
        publish_user_state(user=person)
    response = client.get("/oauth/userinfo", headers=headers)
    assert (response.status_code, response.json()["error"]) == (403, "Your login is currently disabled")


def test_userinfo_needs_the_scope_profile_and_nothing_else_does(
    client: Client, application: Application, person: User
) -> None:
    Account.objects.filter(pk=person.account_id).update(display_name="Ada L.")
    for method in (client.get, client.post):
        response = method("/oauth/userinfo", headers=bearer(application, person, "profile"))
        assert response.json() == {
            "iss": "http://social.localhost/",
            "sub": "http://social.localhost/users/ada",
            "name": "Ada L.",
            "preferred_username": "ada",
            "profile": "http://social.localhost/@ada",
            "picture": "http://social.localhost/static/avatars/original/missing.png",
        }
    assert client.get("/oauth/userinfo", headers=bearer(application, person, "read", "write")).status_code == 403
    assert client.get("/oauth/userinfo", headers=bearer(application, None, "profile")).status_code == 422
    assert client.get("/oauth/userinfo").status_code == 401


def test_the_metadata_names_every_endpoint_and_scope(client: Client) -> None:
    response = client.get("/.well-known/oauth-authorization-server")
    assert response.status_code == 200
    body = response.json()
    base = "http://social.localhost"
    assert body["issuer"] == f"{base}/"
    assert body["authorization_endpoint"] == f"{base}/oauth/authorize"
    assert body["token_endpoint"] == f"{base}/oauth/token"
    assert body["revocation_endpoint"] == f"{base}/oauth/revoke"
    assert body["userinfo_endpoint"] == f"{base}/oauth/userinfo"
    assert body["app_registration_endpoint"] == f"{base}/api/v1/apps"
    assert {"read", "write:statuses", "follow", "push", "profile", "crypto", "admin:read"} <= set(
        body["scopes_supported"]
    )
    assert body["response_types_supported"] == ["code"]
    assert body["response_modes_supported"] == ["query", "fragment", "form_post"]
    assert body["grant_types_supported"] == ["authorization_code", "client_credentials"]
    assert body["token_endpoint_auth_methods_supported"] == ["client_secret_basic", "client_secret_post"]
    assert body["code_challenge_methods_supported"] == ["S256"]
    assert body["service_documentation"].startswith("https://")


@pytest.mark.parametrize(
    "path", ["/oauth/token", "/oauth/revoke", "/oauth/userinfo", "/.well-known/oauth-authorization-server"]
)
def test_trap_8_browsers_may_send_requests_from_other_origins(client: Client, path: str) -> None:
    preflight = client.options(path, headers={"Origin": "https://elk.example", "Access-Control-Request-Method": "POST"})
    assert preflight.status_code in (200, 204)
    assert preflight["Access-Control-Allow-Origin"] == "*"
