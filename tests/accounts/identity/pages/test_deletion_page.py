"""Tests of the page on which users delete their accounts."""

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client

from accounts.identity.services.second_factors import make_recovery_codes
from accounts.models import Account, Role, User
from social.kernel import clock, crypto
from tests.accounts.conftest import PASSWORD
from tests.factories.accounts import make_token
from tests.support.client import Api
from tests.support.federation_server import needs_federation
from tests.support.work import work

pytestmark = pytest.mark.django_db
DELETE, MOVE = "/settings/delete", "/settings/migration"


def code(user: User) -> str:
    """Return the code that the user's authenticator app shows now."""
    authenticator = Authenticator.objects.get(user=user, type=Authenticator.Type.TOTP)
    secret = crypto.decrypt(authenticator.data["secret"])
    return str(format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time())))))


def with_app(user: User) -> None:
    data = {"secret": crypto.encrypt("JBSWY3DPEHPK3PXP")}
    TOTP(Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data=data))


@needs_federation
@pytest.mark.django_db(transaction=True)
def test_row_24_deleting_the_account_ends_sessions_and_tokens_at_once(browser: Client, person: User) -> None:
    other, token = Client(), make_token(person)
    other.post("/auth/sign_in", {"login": "ada", "password": PASSWORD})
    assert other.get(DELETE).status_code == 200
    kept = other.cookies[settings.SESSION_COOKIE_NAME].value
    assert Api(token).get("/api/v1/timelines/home").status_code == 200
    answer = browser.post(DELETE, {"password": PASSWORD})
    assert answer["Location"] == "/settings/deleted"
    assert "Your account is deleted" in browser.get("/settings/deleted").content.decode()
    assert Api(token).get("/api/v1/timelines/home").status_code == 401
    for client in (browser, other):
        assert client.get(DELETE).status_code == 302
    assert not Session.objects.filter(session_key=kept).exists()
    assert Client().get("/@ada").status_code == 410
    again = Client()
    assert again.post("/auth/sign_in", {"login": "ada", "password": PASSWORD})["Location"] == "/auth/disabled"
    assert again.get(DELETE).status_code == 302
    work()
    assert not User.objects.filter(pk=person.pk).exists()
    assert not Account.objects.filter(pk=person.account_id).exists()


def test_a_wrong_password_deletes_nothing(browser: Client, person: User) -> None:
    for password in ("", "wrong", "correct horse ", "x" * 5000):
        page = browser.post(DELETE, {"password": password})
        assert page.status_code == 422
        assert page.context["form"].errors["password"]
    assert Account.objects.get(pk=person.account_id).deleted_at is None


def test_rows_25_and_26_after_ten_wrong_passwords_further_attempts_are_refused(
    browser: Client, person: User, counted: None
) -> None:
    answers = [browser.post(DELETE, {"password": "wrong"}).status_code for _ in range(11)]
    assert answers == [422] * 10 + [429]
    assert browser.post(DELETE, {"password": PASSWORD}).status_code == 429
    assert browser.post(MOVE, {"acct": "x", "password": PASSWORD}).status_code == 429


def test_deleting_an_account_with_a_second_factor_requires_its_code(browser: Client, person: User) -> None:
    with_app(person)
    assert 'name="code"' in browser.get(DELETE).content.decode()
    for sent in ({}, {"code": ""}, {"code": "000000"}, {"code": "x"}):
        page = browser.post(DELETE, {"password": PASSWORD, **sent})
        assert page.status_code == 422
        assert page.context["form"].errors["code"]
    page = browser.post(DELETE, {"password": "wrong", "code": code(person)})
    assert list(page.context["form"].errors) == ["password"]
    assert Account.objects.get(pk=person.account_id).deleted_at is None
    assert browser.post(DELETE, {"password": PASSWORD, "code": code(person)}).status_code == 303
    assert Account.objects.get(pk=person.account_id).deleted_at is not None


def test_a_recovery_code_replaces_the_second_factor(browser: Client, person: User) -> None:
    with_app(person)
    codes = make_recovery_codes(user=person)
    assert browser.post(DELETE, {"password": PASSWORD, "code": codes[0]}).status_code == 303


def test_deleting_or_moving_an_account_with_a_passkey_requires_the_passkey(browser: Client, person: User) -> None:
    Authenticator.objects.create(user=person, type=Authenticator.Type.WEBAUTHN, data={"name": "key", "credential": {}})
    for path in (DELETE, MOVE):
        answer = browser.post(path, {"password": PASSWORD})
        assert answer["Location"] == f"/auth/passkeys/reauthenticate?next={path.replace('/', '%2F')}"
    assert Account.objects.get(pk=person.account_id).deleted_at is None
    session = browser.session
    session["account_authentication_methods"] = [
        {"method": "mfa", "type": "webauthn", "at": clock.now().timestamp(), "reauthenticated": True}
    ]
    session["account_authentication_methods_user"] = str(person.pk)
    session.save()
    assert browser.get(DELETE).status_code == 200
    assert browser.post(DELETE, {"password": PASSWORD}).status_code == 303


def test_the_last_owner_cannot_delete_the_account_on_the_page(browser: Client, person: User) -> None:
    User.objects.filter(pk=person.pk).update(role=Role.objects.get(name="Owner"))
    page = browser.post(DELETE, {"password": PASSWORD})
    assert page.status_code == 422
    assert "This is the last person with all permissions on this server" in page.content.decode()
