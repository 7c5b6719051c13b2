"""Tests of `/oauth/token` (contract, parameters section 1 and behaviours section 5; clients.md trap 1; security row 45)."""

import base64
import hashlib
import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote_plus, urlencode

import pytest
import time_machine
from django.test import Client

from accounts.identity.services.tokens import forget_ended_tokens, issue_token, register_application
from accounts.models import AccessToken, Application, Grant, User
from social.kernel import clock
from tests.accounts.identity.oauth.conftest import CALLBACK, ask, code_for, exchange
from tests.factories.accounts import make_token, make_user
from tests.support.at_once import at_once
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
PKCE = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}


def test_the_response_contains_only_the_token(application: Application, person: User) -> None:
    response = exchange(application, code_for(application, person))
    assert response.status_code == 200
    body = response.json()
    assert set(body) == {"access_token", "token_type", "scope", "created_at"}
    assert body["token_type"] == "Bearer"
    assert body["scope"] == "read write"
    assert abs(body["created_at"] - clock.now().timestamp()) < 5
    assert response["Cache-Control"] == "no-store"


@pytest.mark.parametrize("encoding", ["query", "form", "multipart", "json", "basic"])
def test_trap_1_every_encoding_and_both_ways_to_send_credentials_are_accepted(
    client: Client, application: Application, person: User, encoding: str
) -> None:
    sent = {
        "grant_type": "authorization_code",
        "client_id": application.client_id,
        "client_secret": application.client_secret,
        "redirect_uri": CALLBACK,
        "code": code_for(application, person),
        "scope": "this is ignored",
    }
    url, form = "/oauth/token", "application/x-www-form-urlencoded"
    match encoding:
        case "query":
            response = client.post(f"{url}?{urlencode(sent)}")
        case "form":
            response = client.post(url, urlencode(sent), content_type=form)
        case "multipart":
            response = client.post(url, sent)
        case "json":
            response = client.post(url, json.dumps(sent), content_type="application/json")
        case _:
            pair = f"{quote_plus(sent.pop('client_id'))}:{quote_plus(sent.pop('client_secret'))}"
            encoded = base64.b64encode(pair.encode()).decode()
            response = client.post(
                url, urlencode(sent), content_type=form, headers={"Authorization": f"Basic {encoded}"}
            )
    assert response.status_code == 200, response.content
    assert response.json()["scope"] == "read write"


def refused(response: Any, status: int, error: str) -> None:
    assert response.status_code == status, response.content
    assert response.json()["error"] == error
    assert response.json()["error_description"]


def test_a_code_works_once(application: Application, person: User) -> None:
    code = code_for(application, person)
    assert exchange(application, code).status_code == 200
    refused(exchange(application, code), 400, "invalid_grant")


def test_row_63_a_code_used_twice_ends_the_token_it_was_exchanged_for(
    application: Application, person: User, django_capture_on_commit_callbacks: Any
) -> None:
    code = code_for(application, person)
    token = exchange(application, code).json()["access_token"]
    other = make_token(person, "read")
    headers = {"Authorization": f"Bearer {token}"}
    assert Client().get("/api/v1/apps/verify_credentials", headers=headers).status_code == 200
    thief = register_application(name="Thief", redirect_uris=CALLBACK, scopes="read write")
    refused(exchange(thief, code), 400, "invalid_grant")
    assert Client().get("/api/v1/apps/verify_credentials", headers=headers).status_code == 200
    with django_capture_on_commit_callbacks(execute=True):
        refused(exchange(application, code), 400, "invalid_grant")
    assert Client().get("/api/v1/apps/verify_credentials", headers=headers).status_code == 401
    assert list(AccessToken.objects.values_list("token", flat=True)) == [other]
    refused(exchange(application, code), 400, "invalid_grant")


def test_row_63_a_verifier_without_a_challenge_is_refused(application: Application, person: User) -> None:
    code = code_for(application, person)
    refused(exchange(application, code, code_verifier=VERIFIER), 400, "invalid_grant")
    assert exchange(application, code).status_code == 200


def test_a_code_works_for_ten_minutes(application: Application, person: User) -> None:
    young, old = code_for(application, person), code_for(application, person)
    with time_machine.travel(clock.now() + timedelta(minutes=9, seconds=55), tick=False):
        assert exchange(application, young).status_code == 200
    with time_machine.travel(clock.now() + timedelta(minutes=10, seconds=1), tick=False):
        refused(exchange(application, old), 400, "invalid_grant")


def test_a_code_is_bound_to_its_application_redirect_uri_and_usable_account(
    application: Application, person: User
) -> None:
    code = code_for(application, person)
    thief = register_application(name="Thief", redirect_uris=CALLBACK, scopes="read write")
    refused(exchange(thief, code), 400, "invalid_grant")
    refused(exchange(application, code, redirect_uri="https://app.example/"), 400, "invalid_grant")
    refused(exchange(application, code, redirect_uri=None), 400, "invalid_request")
    User.objects.filter(pk=person.pk).update(disabled_at=clock.now())
    refused(exchange(application, code), 400, "invalid_grant")
    User.objects.filter(pk=person.pk).update(disabled_at=None)
    assert exchange(application, code).status_code == 200


def test_row_45_pkce_needs_the_right_verifier(application: Application, person: User) -> None:
    code = code_for(application, person, **PKCE)
    refused(exchange(application, code), 400, "invalid_request")
    refused(exchange(application, code, code_verifier="x" * 43), 400, "invalid_grant")
    refused(exchange(application, code, code_verifier=CHALLENGE), 400, "invalid_grant")
    refused(exchange(application, code, code_verifier="ü" * 43), 400, "invalid_grant")
    assert exchange(application, code, code_verifier=VERIFIER).status_code == 200


@pytest.mark.parametrize(
    ("change", "status", "error"),
    [
        ({"grant_type": None}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"grant_type": "refresh_token"}, 400, "unsupported_grant_type"),
        ({"grant_type": "openid"}, 400, "unsupported_grant_type"),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:device_code"}, 400, "unsupported_grant_type"),
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"client_secret": None}, 401, "invalid_client"),
        ({"client_id": "unknown"}, 401, "invalid_client"),
        ({"client_id": None}, 401, "invalid_client"),
        ({"code": "unknown"}, 400, "invalid_grant"),
        ({"code": "a\0b"}, 400, "invalid_grant"),
        ({"code": None}, 400, "invalid_request"),
    ],
)
def test_each_error_has_its_code(
    application: Application, person: User, change: dict[str, str | None], status: int, error: str
) -> None:
    sent = {"code": code_for(application, person), **change}
    refused(exchange(application, **sent), status, error)


def basic(client_id: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{quote_plus(client_id)}:{quote_plus(secret)}".encode()).decode()


@pytest.mark.parametrize(
    "broken",
    ["Basic %%%", "Basic " + base64.b64encode(b"\xff\xfe").decode(), "Basic ", "Basic ü", basic("a\0b", "c")],
)
def test_a_broken_basic_header_is_an_invalid_client_whatever_the_body_says(
    client: Client, application: Application, broken: str
) -> None:
    good = {"client_id": application.client_id, "client_secret": application.client_secret}
    for more in ({}, good):
        sent = {"grant_type": "client_credentials", **more}
        response = client.post("/oauth/token", sent, headers={"Authorization": broken})
        refused(response, 401, "invalid_client")
        assert response["WWW-Authenticate"] == 'Bearer error="invalid_client"'


def test_client_credentials_in_the_header_win_over_those_in_the_body(client: Client, application: Application) -> None:
    for secret, status in ((application.client_secret, 200), ("wrong", 401)):
        sent = {"grant_type": "client_credentials", "client_id": application.client_id, "client_secret": "other"}
        header = basic(application.client_id, secret).replace("Basic", "basic")
        assert client.post("/oauth/token", sent, headers={"Authorization": header}).status_code == status


def own_token(application: Application, **more: str) -> Any:
    sent = {"client_id": application.client_id, "client_secret": application.client_secret}
    return Client().post("/oauth/token", {"grant_type": "client_credentials", **sent, **more})


def test_error_descriptions_are_the_sentences_that_clients_know(application: Application, person: User) -> None:
    code = code_for(application, person, **PKCE)
    for sent, sentence in (
        ({"grant_type": None}, "Missing required parameter: grant_type."),
        ({"code": None}, "Missing required parameter: code."),
        ({"redirect_uri": ""}, "Missing required parameter: redirect_uri."),
        ({}, "Missing required parameter: code_verifier."),
        ({"code_verifier": "x" * 43}, "The provided authorization grant is invalid, expired, revoked, "),
        ({"client_id": "x"}, "Client authentication failed due to unknown client, "),
        ({"grant_type": "password"}, "The authorization grant type is not supported by the authorization server."),
    ):
        description = exchange(application, **{"code": code, **sent}).json()["error_description"]
        assert description.startswith(sentence)
    german = Client().post("/oauth/token", {"grant_type": "password"}, headers={"Accept-Language": "de"})
    assert german.json()["error_description"].startswith("Der Autorisierungsserver")


def test_trap_4_scopes_may_be_joined_by_plus_signs(application: Application, person: User) -> None:
    code = code_for(application, person, scope="read+write")
    assert exchange(application, code).json()["scope"] == "read write"
    assert own_token(application, scope="read+write+read").json()["scope"] == "read write"


def test_parameters_that_the_token_endpoint_does_not_declare_are_ignored(
    application: Application, person: User
) -> None:
    more = {"user": "x", "client": "x", "nonce": "n" * 300, "claims": "{", "resource": "x", "prompt": "none"}
    code = code_for(application, person, **more)
    body = exchange(application, code, **more, scopes="admin:write", refresh_token="x").json()
    assert set(body) == {"access_token", "token_type", "scope", "created_at"}
    token = AccessToken.objects.get(token=body["access_token"])
    assert (token.user, token.application, token.scope) == (person, application, "read write")


def test_an_application_gets_a_token_of_its_own(application: Application) -> None:
    assert own_token(application).json()["scope"] == "read"
    assert own_token(application, scope="read write").json()["scope"] == "read write"
    refused(own_token(application, scope="write:accounts"), 400, "invalid_scope")
    refused(own_token(application, scope="read admin:read"), 400, "invalid_scope")
    refused(own_token(application, scope="nonsense"), 400, "invalid_scope")
    assert AccessToken.objects.get(scope="read write").user is None


def test_the_same_application_person_and_scopes_get_the_same_token(application: Application, person: User) -> None:
    first = exchange(application, code_for(application, person, scope="read write")).json()
    assert exchange(application, code_for(application, person, scope="write read")).json() == first
    assert exchange(application, code_for(application, person, scope="read")).json() != first
    assert exchange(application, code_for(application, make_user(), scope="read write")).json() != first
    assert own_token(application, scope="read write").json() != first
    assert own_token(application).json() == own_token(application).json()


def test_a_public_application_needs_pkce_instead_of_a_secret(application: Application, person: User) -> None:
    bare = code_for(application, person)
    Application.objects.filter(pk=application.pk).update(client_type=Application.CLIENT_PUBLIC)
    refused(exchange(application, bare, client_secret=None), 400, "invalid_request")
    refused(exchange(application, bare, client_secret=None, code_verifier=VERIFIER), 400, "invalid_grant")
    browser = signed_in(person)
    assert browser.post("/oauth/authorize", ask(application, decision="allow")).status_code == 400
    code = code_for(application, person, **PKCE)
    assert exchange(application, code, client_secret=None, code_verifier=VERIFIER).status_code == 200
    refused(exchange(application, "x", client_secret="wrong"), 401, "invalid_client")
    refused(own_token(application), 400, "unauthorized_client")


def test_expired_codes_are_deleted(application: Application, person: User) -> None:
    old, new = code_for(application, person), code_for(application, person)
    Grant.objects.filter(code=old).update(expires=clock.now() - timedelta(seconds=1))
    forget_ended_tokens()
    assert list(Grant.objects.values_list("code", flat=True)) == [new]


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/token/", "/oauth/token?grant_type=client_credentials"])
def test_the_endpoint_accepts_only_post_with_or_without_a_trailing_slash(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404
    assert client.post(path).status_code in (400, 401)


@pytest.mark.django_db(transaction=True)
def test_ten_simultaneous_requests_get_the_same_token() -> None:
    application, person = register_application(name="x", redirect_uris=CALLBACK), make_user()
    tokens = at_once(
        10, lambda _place: issue_token(application=application, user=person, scopes=["read", "write"]).token
    )
    assert len(set(tokens)) == 1, tokens
    assert AccessToken.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_code_used_ten_times_simultaneously_works_once() -> None:
    application, person = register_application(name="x", redirect_uris=CALLBACK), make_user()
    code = code_for(application, person, scope="read")
    answers = at_once(10, lambda _place: exchange(application, code))
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 9
    # The nine other requests used the code again, and a second use revokes the token.
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
def test_an_unreadable_request_is_answered_with_invalid_request_and_a_description(client: Client, path: str) -> None:
    refused(client.post(path, "{", content_type="application/json"), 400, "invalid_request")
    too_long = json.dumps({"token": "x" * 1_100_000})
    refused(client.post(path, too_long, content_type="application/json"), 413, "invalid_request")
