"""Tests of the events that revoke a token, with effect in every process (contract, behaviours section 5; security rows 23 and
24).
"""

import base64
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.identity.services import tokens
from accounts.identity.services.sessions import change_password, sign_out_everywhere
from accounts.identity.services.tokens import (
    NO_EXPIRY,
    channel_of,
    forget_ended_tokens,
    issue_token,
    register_application,
    revoke_application_of_user,
    revoke_tokens,
)
from accounts.models import AccessToken, Application, Grant, RevokedToken, User
from social.kernel import clock, streams
from tests.accounts.identity.oauth.conftest import CALLBACK, code_for
from tests.factories.accounts import make_user
from tests.support.client import is_signed_in, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bytes]]:
    """The messages that were published to the streaming processes, with their channels."""
    sent: list[tuple[str, bytes]] = []
    monkeypatch.setattr(streams, "publish", lambda channel, payload: sent.append((channel, payload)))
    return sent


def works(token: AccessToken) -> bool:
    response = Client().get("/api/v1/apps/verify_credentials", headers={"Authorization": f"Bearer {token.token}"})
    return bool(response.status_code == 200)


def revoke(application: Application, token: str, **more: Any) -> Any:
    sent = {"client_id": application.client_id, "client_secret": application.client_secret, "token": token, **more}
    return Client().post("/oauth/revoke", {name: value for name, value in sent.items() if value is not None})


def test_a_revoked_token_is_refused_at_once_and_its_streams_close(
    application: Application,
    person: User,
    killed: list[tuple[str, bytes]],
    django_capture_on_commit_callbacks: Any,
) -> None:
    token = issue_token(application=application, user=person, scopes=["read"])
    other = issue_token(application=application, user=person, scopes=["write"])
    assert works(token)
    with django_capture_on_commit_callbacks(execute=True):
        response = revoke(application, token.token)
    assert (response.status_code, response.json()) == (200, {})
    assert not works(token)
    assert works(other)
    assert killed == [(channel_of(token.pk), b'{"event":"kill"}')]


@pytest.mark.parametrize("token", ["unknown", "", "revoked"])
def test_revoking_an_unknown_token_succeeds_for_anybody(application: Application, person: User, token: str) -> None:
    if token == "revoked":
        token = issue_token(application=application, user=person, scopes=["read"]).token
        assert revoke(application, token).status_code == 200
    for secret in (application.client_secret, "wrong", None):
        response = revoke(application, token, client_secret=secret)
        assert (response.status_code, response.json()) == (200, {})


def test_a_revoked_token_is_refused_even_where_none_is_needed(
    client: Client, application: Application, person: User, django_capture_on_commit_callbacks: Any
) -> None:
    headers = {"Authorization": f"Bearer {issue_token(application=application, user=person, scopes=['read']).token}"}
    assert client.get("/api/v1/timelines/public", headers=headers).status_code == 200
    with django_capture_on_commit_callbacks(execute=True):
        revoke_tokens(AccessToken.objects.filter(user=person))
    for path in ("/api/v1/timelines/public", "/api/v1/timelines/home", "/api/v1/apps/verify_credentials"):
        response = client.get(path, headers=headers)
        assert (response.status_code, response.json()) == (401, {"error": "The access token was revoked"}), path
    assert client.get("/api/v2/instance", headers=headers).status_code == 200


def test_records_of_revoked_tokens_are_deleted_after_a_day(application: Application, person: User) -> None:
    for scope, age in (("read", 23), ("write", 25)):
        token = issue_token(application=application, user=person, scopes=[scope])
        revoke_tokens(AccessToken.objects.filter(pk=token.pk))
        moment = clock.now() - timedelta(hours=age)
        RevokedToken.objects.filter(token_checksum=token.token_checksum).update(revoked_at=moment)
    assert forget_ended_tokens() == 1
    assert RevokedToken.objects.count() == 1


def test_an_application_cannot_revoke_tokens_of_another(application: Application, person: User) -> None:
    theirs = register_application(name="Other", redirect_uris=CALLBACK)
    token = issue_token(application=theirs, user=person, scopes=["read"])
    response = revoke(application, token.token)
    assert response.status_code == 403
    assert response.json() == {
        "error": "unauthorized_client",
        "error_description": "You are not authorized to revoke this token",
    }
    assert works(token)


def test_wrong_credentials_revoke_nothing(application: Application, person: User) -> None:
    token = issue_token(application=application, user=person, scopes=["read"])
    for secret in ("wrong", None):
        response = revoke(application, token.token, client_secret=secret)
        assert (response.status_code, response.json()["error"]) == (403, "unauthorized_client")
        assert "WWW-Authenticate" not in response
    for more in ({"client_id": "unknown"}, {"client_id": None}, {"client_id": None, "client_secret": None}):
        response = revoke(application, token.token, **more)
        assert (response.status_code, response.json()["error"]) == (403, "unauthorized_client")
        assert "WWW-Authenticate" not in response
    assert works(token)
    Application.objects.filter(pk=application.pk).update(client_type=Application.CLIENT_PUBLIC)
    assert revoke(application, token.token, client_secret=None).status_code == 200


def test_basic_credentials_work(client: Client, application: Application, person: User) -> None:
    token = issue_token(application=application, user=person, scopes=["read"])
    pair = base64.b64encode(f"{application.client_id}:{application.client_secret}".encode()).decode()
    response = client.post("/oauth/revoke", {"token": token.token}, headers={"Authorization": f"Basic {pair}"})
    assert response.json() == {}
    assert not AccessToken.objects.filter(pk=token.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_thousands_of_tokens_are_revoked_in_steps_that_continue_after_an_interruption(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    AccessToken.objects.bulk_create(
        (AccessToken(application=application, token=f"token {number}", expires=NO_EXPIRY) for number in range(1200)),
        batch_size=500,
    )
    issued = AccessToken.objects.filter(application=application)
    steps: list[int] = []
    publish = tokens.publish

    def publish_once(*events: Any) -> None:
        steps.append(len(events))
        if len(steps) == 2:
            raise ConnectionError
        publish(*events)

    monkeypatch.setattr(tokens, "publish", publish_once)
    with pytest.raises(ConnectionError):
        revoke_tokens(issued)
    assert issued.count() == 1200 - steps[0]
    assert RevokedToken.objects.count() == steps[0] <= 500
    assert revoke_tokens(issued) == 1200 - steps[0]
    assert max(steps) <= 500
    assert RevokedToken.objects.count() == 1200


@pytest.mark.parametrize("cause", ["application", "password", "everywhere"])
def test_rows_23_and_24_what_ends_the_token_ends_streams_and_codes(
    application: Application,
    person: User,
    killed: list[tuple[str, bytes]],
    cause: str,
    django_capture_on_commit_callbacks: Any,
) -> None:
    token = issue_token(application=application, user=person, scopes=["read"])
    code_for(application, person)
    bystander = issue_token(
        application=register_application(name="y", redirect_uris=CALLBACK), user=make_user(), scopes=["read"]
    )
    assert works(token)
    with django_capture_on_commit_callbacks(execute=True):
        match cause:
            case "application":
                revoke_application_of_user(user=person, application=application)
            case "password":
                change_password(user=person, password="another horse")
            case _:
                sign_out_everywhere(user=person)
    assert not works(token)
    assert works(bystander)
    # The channels for streams of browser sessions have negative numbers instead of token ids.
    of_tokens = [(channel, message) for channel, message in killed if not channel.startswith("token:-")]
    assert of_tokens == [(channel_of(token.pk), b'{"event":"kill"}')]
    assert not Grant.objects.exists()


def test_row_24_a_new_password_signs_every_browser_out(person: User) -> None:
    browser = signed_in(person)
    assert is_signed_in(browser)
    change_password(user=person, password="another horse")
    assert not is_signed_in(browser)
    person.refresh_from_db()
    assert person.check_password("another horse")


def test_after_a_revocation_a_new_request_gets_another_token(application: Application, person: User) -> None:
    token = issue_token(application=application, user=person, scopes=["read"])
    assert works(token)
    issued_again = issue_token(application=application, user=person, scopes=["read"])
    assert issued_again.pk == token.pk
    revoke(application, token.token)
    renewed = issue_token(application=application, user=person, scopes=["read"])
    assert renewed.token != token.token
