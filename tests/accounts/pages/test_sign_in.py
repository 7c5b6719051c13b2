"""Signing in and out (contract, behaviours section 4; security rows 24, 25, 26, 30)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from allauth.usersessions.models import UserSession
from django.test import Client

from accounts.models import User
from social.kernel import clock
from tests.support.work import work

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Any]


@pytest.mark.parametrize(
    "login", ["ada@example.com", "ADA@example.com", "ada", "@ada", "@ADA", " @ada@social.localhost "]
)
def test_the_address_or_the_username_opens(sign_in: SignIn, person: User, login: str) -> None:
    response = sign_in(login)
    assert (response.status_code, response["Location"]) == (302, "/")


@pytest.mark.parametrize("login", ["ada@example.com", "nobody@example.com", "nobody", "@ada@elsewhere.example"])
def test_what_is_wrong_is_not_said_apart(sign_in: SignIn, person: User, login: str) -> None:
    page = sign_in(login, "wrong")
    assert page.status_code == 200
    assert "The name or the password is not right." in page.content.decode()
    assert "<title>Error: Sign in" in page.content.decode()


@pytest.mark.parametrize(
    "evil",
    [
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example/",
        "/%2f%2fevil.example/../..//x",
        "javascript:alert(1)",
    ],
)
def test_row_30_nobody_is_sent_to_another_site(client: Client, sign_in: SignIn, person: User, evil: str) -> None:
    from urllib.parse import quote

    for lead in (f"/auth/sign_in?next={quote(evil)}", f"/auth/sign_out?next={quote(evil)}"):
        response = sign_in("ada", url=lead) if "sign_in" in lead else client.post(lead)
        assert response.status_code == 302
        assert response["Location"] in ("/", "/auth/sign_in", evil if evil.startswith("/%") else "/")


def test_row_25_a_forged_host_or_address_gets_no_new_attempts(sign_in: SignIn, person: User, counted: None) -> None:
    for number in range(25):
        response = sign_in("ada", "wrong", **{"X-Forwarded-For": f"10.1.1.{number}", "Host": f"{number}.example"})
        assert response.status_code == 200
    blocked = sign_in("ada")
    assert blocked.status_code == 429
    assert "Too many attempts" in blocked.content.decode()


def test_the_limit_per_person_holds_for_every_way_to_write_the_name(
    client: Client, person: User, counted: None
) -> None:
    names = ["ada", "@ada", "ada@example.com", "ADA@EXAMPLE.COM", "@ada@social.localhost"]
    for number in range(25):
        # Each time from another network, so that only the counter of the person fills.
        client.post("/auth/sign_in", {"login": names[number % 5], "password": "wrong"}, REMOTE_ADDR=f"10.{number}.0.1")
    blocked = client.post("/auth/sign_in", {"login": "ada", "password": "correct horse"}, REMOTE_ADDR="10.99.0.1")
    assert blocked.status_code == 429
    other = client.post("/auth/sign_in", {"login": "bob", "password": "x"}, REMOTE_ADDR="10.99.0.1")
    assert other.status_code == 200


def test_who_is_disabled_is_told_and_not_let_in(sign_in: SignIn, person: User) -> None:
    User.objects.filter(pk=person.pk).update(disabled_at=clock.now())
    response = sign_in("ada")
    assert response["Location"] == "/auth/disabled"
    assert sign_in("ada", "wrong").status_code == 200


def test_who_has_not_confirmed_gets_another_mail_and_is_not_let_in(
    client: Client, sign_in: SignIn, person: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    EmailAddress.objects.filter(user=person).update(verified=False)
    asked: list[User] = []
    monkeypatch.setattr("accounts.adapters.request_confirmation", lambda user, address: asked.append(user))
    assert sign_in("ada")["Location"] == "/auth/confirm"
    assert asked == [person]
    assert b"@ada@" not in client.get("/").content


def test_signing_out_asks_first_and_then_does(browser: Client) -> None:
    assert browser.get("/auth/sign_out").status_code == 200
    assert b"@ada@" in browser.get("/").content
    assert browser.post("/auth/sign_out")["Location"] == "/auth/sign_in"
    assert b"@ada@" not in browser.get("/").content


def test_the_list_of_browsers_signs_the_others_out(client: Client, sign_in: SignIn, person: User) -> None:
    other = Client()
    other.post("/auth/sign_in", {"login": "ada", "password": "correct horse"})
    sign_in("ada")
    page = client.get("/auth/sessions").content.decode()
    assert page.count("127.0.0.1") == 2
    client.post("/auth/sessions")
    assert b"@ada@" in client.get("/").content
    assert b"@ada@" not in other.get("/").content


def _code(secret: str) -> str:
    return str(format_hotp_value(hotp_value(secret, next(yield_hotp_counters_from_time()))))


@pytest.fixture
def secret(person: User) -> str:
    made = str(generate_totp_secret())
    TOTP.activate(person, made)
    return made


def test_the_second_factor_is_asked_for_and_the_way_back_is_kept(
    client: Client, sign_in: SignIn, person: User, secret: str
) -> None:
    first = sign_in("ada", url="/auth/sign_in?next=/oauth/authorized_applications")
    assert first["Location"] == "/auth/second_factor/sign_in"
    assert b"@ada@" not in client.get("/").content
    assert client.get(first["Location"]).status_code == 200
    assert client.post(first["Location"], {"code": "000000"}).status_code == 200
    done = client.post(first["Location"], {"code": _code(secret)})
    assert done["Location"] == "/oauth/authorized_applications"
    assert b"@ada@" in client.get("/").content


def test_a_recovery_code_opens_once(client: Client, sign_in: SignIn, person: User, secret: str) -> None:
    code = RecoveryCodes.activate(person).get_unused_codes()[0]
    for expected in (302, 200):
        sign_in("ada")
        assert client.post("/auth/second_factor/sign_in", {"code": code}).status_code == expected
        client.post("/auth/sign_out")


def test_row_26_ten_wrong_codes_in_ten_minutes_are_enough(
    client: Client, sign_in: SignIn, person: User, secret: str, counted: None
) -> None:
    sign_in("ada")
    for _attempt in range(10):
        client.post("/auth/second_factor/sign_in", {"code": "000000"})
    page = client.post("/auth/second_factor/sign_in", {"code": _code(secret)})
    assert page.status_code == 200
    assert "too often" in page.content.decode()
    assert b"@ada@" not in client.get("/").content


def test_row_26_one_mail_tells_of_a_lock_after_wrong_codes(
    client: Client, sign_in: SignIn, person: User, secret: str, counted: None, mailoutbox: list[Any]
) -> None:
    sign_in("ada")
    for _attempt in range(10):
        client.post("/auth/second_factor/sign_in", {"code": "000000"})
    work()
    assert mailoutbox == []
    for _attempt in range(3):
        client.post("/auth/second_factor/sign_in", {"code": "000000"})
    work()
    (mail,) = mailoutbox
    assert mail.to == ["ada@example.com"]
    assert "too many wrong codes" in mail.body
    assert "http://social.localhost/auth/password" in mail.body


@pytest.mark.django_db(transaction=True)
def test_row_24_setting_up_a_second_factor_signs_the_other_browsers_out(
    client: Client,
    sign_in: SignIn,
    person: User,
    mailoutbox: list[Any],
) -> None:
    other = Client()
    other.post("/auth/sign_in", {"login": "ada", "password": "correct horse"})
    sign_in("ada")
    page = client.get("/auth/second_factor/app/activate")
    if page.status_code == 302:
        client.post(page["Location"], {"password": "correct horse"})
        page = client.get("/auth/second_factor/app/activate")
    key = page.context_data["form"].secret
    assert key in page.content.decode()
    done = client.post("/auth/second_factor/app/activate", {"code": _code(key)})
    assert done["Location"] == "/auth/second_factor/codes"
    assert b"@ada@" in client.get("/").content
    assert b"@ada@" not in other.get("/").content
    assert UserSession.objects.filter(user=person).count() == 1
    work()
    assert [mail.to for mail in mailoutbox] == [["ada@example.com"]]
    stored = person.authenticator_set.get(type="totp").data["secret"]
    assert key not in stored, "kept encrypted"


def test_a_code_is_good_for_half_a_minute_around_its_time(
    client: Client, sign_in: SignIn, person: User, secret: str
) -> None:
    sign_in("ada")
    late = _code(secret)
    with time_machine.travel(clock.now().timestamp() + 120, tick=False):
        assert client.post("/auth/second_factor/sign_in", {"code": late}).status_code == 200


def test_a_dead_mail_server_undoes_nothing_and_nobody_waits_for_it(
    browser: Client, person: User, settings: Any, mailoutbox: list[Any]
) -> None:
    alive = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    done = browser.post("/auth/password", {"oldpassword": "correct horse", "password1": "another horse"})
    assert done.status_code == 302
    person.refresh_from_db()
    assert person.check_password("another horse")
    settings.EMAIL_BACKEND = alive
    work()
    assert [mail.to for mail in mailoutbox] == [["ada@example.com"]]
