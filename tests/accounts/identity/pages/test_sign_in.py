"""Tests of signing in and out (contract, behaviours section 4; security rows 24, 25, 26, 30)."""

from collections.abc import Callable
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.conf import settings
from django.contrib.auth.hashers import get_hasher
from django.test import Client

from accounts.identity.services.second_factors import make_recovery_codes
from accounts.identity.services.sessions import change_password
from accounts.models import User
from social.kernel import clock
from tests.support.client import is_signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Any]


@pytest.mark.parametrize(
    "login", ["ada@example.com", "ADA@example.com", "ada", "@ada", "@ADA", " @ada@social.localhost "]
)
def test_users_sign_in_with_their_address_or_username(sign_in: SignIn, person: User, login: str) -> None:
    response = sign_in(login)
    assert (response.status_code, response["Location"]) == (303, "/")


@pytest.mark.parametrize("login", ["ada@example.com", "nobody@example.com", "nobody", "@ada@elsewhere.example"])
def test_a_wrong_name_and_a_wrong_password_give_the_same_error(sign_in: SignIn, person: User, login: str) -> None:
    page = sign_in(login, "wrong")
    assert page.status_code == 200
    assert "The name or the password is wrong." in page.content.decode()
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
def test_row_30_sign_in_never_redirects_to_another_site(
    client: Client, sign_in: SignIn, person: User, evil: str
) -> None:
    from urllib.parse import quote

    for lead in (f"/auth/sign_in?next={quote(evil)}", f"/auth/sign_out?next={quote(evil)}"):
        response = sign_in("ada", url=lead) if "sign_in" in lead else client.post(lead)
        assert response.status_code == 303
        assert response["Location"] in ("/", "/auth/sign_in", evil if evil.startswith("/%") else "/")


def test_row_25_a_forged_host_or_address_gets_no_new_attempts(sign_in: SignIn, person: User, counted: None) -> None:
    for number in range(25):
        response = sign_in("ada", "wrong", **{"X-Forwarded-For": f"10.1.1.{number}", "Host": f"{number}.localhost"})
        assert response.status_code == 200
    blocked = sign_in("ada")
    assert blocked.status_code == 429
    assert "Too many attempts" in blocked.content.decode()


def test_the_limit_per_user_applies_to_every_spelling_of_the_name(client: Client, person: User, counted: None) -> None:
    names = ["ada", "@ada", "ada@example.com", "ADA@EXAMPLE.COM", "@ada@social.localhost"]
    for number in range(25):
        # Each request comes from a different network, so that only the user's counter grows.
        client.post("/auth/sign_in", {"login": names[number % 5], "password": "wrong"}, REMOTE_ADDR=f"10.{number}.0.1")
    blocked = client.post("/auth/sign_in", {"login": "ada", "password": "correct horse"}, REMOTE_ADDR="10.99.0.1")
    assert blocked.status_code == 429
    other = client.post("/auth/sign_in", {"login": "bob", "password": "x"}, REMOTE_ADDR="10.99.0.1")
    assert other.status_code == 200


def attack() -> None:
    """Send wrong passwords from many networks until the user's counter reaches the limit."""
    for number in range(25):
        Client().post("/auth/sign_in", {"login": "ada", "password": "wrong"}, REMOTE_ADDR=f"10.{number}.0.1")
    assert Client().post("/auth/sign_in", {"login": "ada", "password": "correct horse"}).status_code == 429


def test_failed_attempts_of_strangers_do_not_lock_out_a_known_browser(
    client: Client, sign_in: SignIn, person: User, counted: None
) -> None:
    """Security row 81: a known browser has its own counter, even after signing out."""
    assert sign_in("ada").status_code == 303
    client.post("/auth/sign_out")
    attack()
    assert sign_in("ada")["Location"] == "/"
    client.post("/auth/sign_out")
    # The browser is known only for users who have signed in with it, and their attempts in this browser are limited too.
    cookie = client.cookies[settings.KNOWN_BROWSER_COOKIE_NAME]
    assert (cookie["path"], cookie["httponly"]) == ("/auth/sign_in", True)
    for number in range(25):
        client.post("/auth/sign_in", {"login": "ada", "password": "wrong"}, REMOTE_ADDR=f"10.{number}.1.1")
    assert sign_in("ada").status_code == 429
    client.cookies[settings.KNOWN_BROWSER_COOKIE_NAME] = cookie.value[::-1]
    assert sign_in("ada").status_code == 429


def test_failed_attempts_of_strangers_do_not_block_reauthentication(
    browser: Client, person: User, counted: None
) -> None:
    """Security row 81."""
    attack()
    assert browser.post("/auth/reauthenticate", {"password": "correct horse"}).status_code == 303
    for _ in range(9):
        assert browser.post("/auth/reauthenticate", {"password": "wrong"}).status_code == 200
    assert browser.post("/auth/reauthenticate", {"password": "correct horse"}).status_code == 429


def test_a_new_password_ends_the_lock_after_failed_attempts(
    person: User, counted: None, django_capture_on_commit_callbacks: Any
) -> None:
    """Security row 81."""
    attack()
    with django_capture_on_commit_callbacks(execute=True):
        change_password(user=person, password="another horse")
    login = {"login": "ada", "password": "another horse"}
    assert Client().post("/auth/sign_in", login, REMOTE_ADDR="10.99.0.1").status_code == 303


def test_a_disabled_user_sees_the_reason_and_is_not_signed_in(sign_in: SignIn, person: User) -> None:
    User.objects.filter(pk=person.pk).update(disabled_at=clock.now())
    response = sign_in("ada")
    assert response["Location"] == "/auth/disabled"
    assert sign_in("ada", "wrong").status_code == 200


def test_an_unconfirmed_user_gets_another_mail_and_is_not_signed_in(
    client: Client, sign_in: SignIn, person: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    EmailAddress.objects.filter(user=person).update(verified=False)
    asked: list[User] = []
    monkeypatch.setattr("accounts.identity.adapters.request_confirmation", lambda user, **_: asked.append(user))
    assert sign_in("ada")["Location"] == "/auth/confirm"
    assert asked == [person]
    assert not is_signed_in(client)


def test_signing_out_requires_a_confirmation(browser: Client) -> None:
    assert browser.get("/auth/sign_out").status_code == 200
    assert is_signed_in(browser)
    assert browser.post("/auth/sign_out")["Location"] == "/auth/sign_in"
    assert not is_signed_in(browser)


def test_a_dead_mail_server_does_not_delay_or_undo_a_new_password(
    browser: Client, person: User, settings: Any, mailoutbox: list[Any]
) -> None:
    alive = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    done = browser.post("/auth/password", {"oldpassword": "correct horse", "password1": "another horse"})
    assert done.status_code == 303
    person.refresh_from_db()
    assert person.check_password("another horse")
    settings.EMAIL_BACKEND = alive
    work()
    assert [mail.to for mail in mailoutbox] == [["ada@example.com"]]


def test_a_session_from_before_signing_in_is_invalid_afterwards(client: Client, person: User) -> None:
    client.get(
        "/auth/passkeys/sign_in", headers={"X-Requested-With": "XMLHttpRequest"}
    )  # this request stores a challenge in the session
    before = client.cookies[settings.SESSION_COOKIE_NAME].value
    client.post("/auth/sign_in", {"login": "ada", "password": "correct horse"})
    after = client.cookies[settings.SESSION_COOKIE_NAME].value
    assert before != after
    planted = Client()
    planted.cookies[settings.SESSION_COOKIE_NAME] = before
    assert not is_signed_in(planted)
    planted.cookies[settings.SESSION_COOKIE_NAME] = "x" * 32
    assert not is_signed_in(planted)


def test_a_session_from_between_password_and_second_factor_is_invalid_afterwards(client: Client, person: User) -> None:
    (code, *_rest) = make_recovery_codes(user=person)
    TOTP.activate(person, str(generate_totp_secret()))
    client.post("/auth/sign_in", {"login": "ada", "password": "correct horse"})
    between = client.cookies[settings.SESSION_COOKIE_NAME].value
    assert client.post("/auth/second_factor/sign_in", {"code": code}).status_code == 303
    assert client.cookies[settings.SESSION_COOKIE_NAME].value != between
    planted = Client()
    planted.cookies[settings.SESSION_COOKIE_NAME] = between
    assert not is_signed_in(planted)


def test_the_session_cookie_is_sent_only_to_this_server_and_hidden_from_scripts(sign_in: SignIn, person: User) -> None:
    cookie = sign_in("ada").cookies[settings.SESSION_COOKIE_NAME]
    assert cookie["httponly"] is True
    assert cookie["samesite"] == "Lax"
    assert cookie["path"] == "/"
    assert cookie["domain"] == ""


FORMS = [
    "/auth/sign_in", "/auth/sign_up", "/auth/sign_out", "/auth/confirm/again", "/auth/password", "/auth/email",
    "/auth/email/cancel", "/auth/email/confirm/x", "/auth/password/reset", "/auth/password/reset/abc-set-password",
    "/auth/reauthenticate", "/auth/sessions", "/auth/sessions/1", "/auth/second_factor/sign_in",
    "/auth/second_factor/reauthenticate", "/auth/passkeys/sign_in", "/auth/passkeys/reauthenticate",
    "/auth/passkeys/1", "/auth/passkeys/1/remove", "/oauth/authorize", "/oauth/authorized_applications/1",
]  # fmt: skip


@pytest.mark.parametrize("path", FORMS)
def test_every_form_is_protected_by_a_csrf_token(person: User, path: str) -> None:
    checked = Client(enforce_csrf_checks=True)
    checked.force_login(person)
    assert checked.post(path).status_code == 403
    assert checked.post(path, {"csrfmiddlewaretoken": "x" * 64}).status_code == 403


def test_an_unknown_name_takes_as_long_as_a_wrong_password(
    sign_in: SignIn, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []
    hasher = type(get_hasher())
    encode = hasher.encode

    def counted(self: Any, password: str, salt: str) -> str:
        hashed.append(password)
        return str(encode(self, password, salt))

    monkeypatch.setattr(hasher, "encode", counted)
    for name in ("ada", "nobody", "ada@example.com", "nobody@example.com"):
        sign_in(name, "wrong")
    assert hashed == ["wrong"] * 4
