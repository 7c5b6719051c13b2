"""Tests of second factors: authenticator apps, recovery codes, and sessions ended by changes (security rows 24, 26)."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import time_machine
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from allauth.usersessions.models import UserSession
from django.test import Client

from accounts.identity.policies.second_factors import digest_of, new_code
from accounts.identity.services import staff
from accounts.identity.services.second_factors import make_recovery_codes
from accounts.identity.services.tokens import issue_token
from accounts.models import AccessToken, AuditEntry, RecoveryCode, User
from accounts.policies.staff import OPERATOR
from social.kernel import clock
from tests.factories.accounts import make_application, make_user
from tests.support.client import is_signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Any]
CHANGES = [
    "/auth/second_factor/app/activate",
    "/auth/second_factor/app/deactivate",
    "/auth/second_factor/codes",
    "/auth/passkeys/add",
]


def show_again(client: Client, password: str = "correct horse") -> Any:
    """Confirm the password again, as security pages require."""
    return client.post("/auth/reauthenticate", {"password": password})


def codes_on(page: Any) -> list[str]:
    """Return the recovery codes that a page shows."""
    return re.findall(r"\b(?:[0-9a-z]{4}-){3}[0-9a-z]{4}\b", re.sub(r"href=\S+", "", page.content.decode()))


def code_of(secret: str) -> str:
    return str(format_hotp_value(hotp_value(secret, next(yield_hotp_counters_from_time()))))


@pytest.fixture
def secret(person: User) -> str:
    made = str(generate_totp_secret())
    TOTP.activate(person, made)
    return made


def test_after_the_second_factor_the_sign_in_continues_to_the_requested_page(
    client: Client, sign_in: SignIn, person: User, secret: str
) -> None:
    first = sign_in("ada", url="/auth/sign_in?next=/oauth/authorized_applications")
    assert first["Location"] == "/auth/second_factor/sign_in"
    assert not is_signed_in(client)
    assert client.get(first["Location"]).status_code == 200
    assert client.post(first["Location"], {"code": "000000"}).status_code == 200
    done = client.post(first["Location"], {"code": code_of(secret)})
    assert done["Location"] == "/oauth/authorized_applications"
    assert is_signed_in(client)


def test_row_26_after_ten_wrong_codes_in_ten_minutes_further_codes_are_refused(
    client: Client, sign_in: SignIn, person: User, secret: str, counted: None
) -> None:
    sign_in("ada")
    for _attempt in range(10):
        client.post("/auth/second_factor/sign_in", {"code": "000000"})
    page = client.post("/auth/second_factor/sign_in", {"code": code_of(secret)})
    assert page.status_code == 200
    assert "too many times" in page.content.decode()
    assert not is_signed_in(client)


def test_a_right_recovery_code_clears_the_counter_of_wrong_ones(
    client: Client, sign_in: SignIn, person: User, secret: str, counted: None
) -> None:
    for code in make_recovery_codes(user=person)[:2]:
        sign_in("ada")
        for _attempt in range(6):
            client.post("/auth/second_factor/sign_in", {"code": "000000"})
        assert client.post("/auth/second_factor/sign_in", {"code": code}).status_code == 303
        client.post("/auth/sign_out")


def test_row_26_one_mail_reports_a_lock_after_wrong_codes(
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
    show_again(client)
    page = client.get("/auth/second_factor/app/activate")
    key = page.context_data["form"].secret
    assert key in page.content.decode()
    done = client.post("/auth/second_factor/app/activate", {"code": code_of(key)})
    assert len(codes_on(done)) == 10
    assert is_signed_in(client)
    assert not is_signed_in(other)
    assert UserSession.objects.filter(user=person).count() == 1
    work()
    assert [mail.to for mail in mailoutbox] == [["ada@example.com"]]
    stored = person.authenticator_set.get(type="totp").data["secret"]
    assert key not in stored, "the key is stored encrypted"


def test_a_code_is_valid_for_half_a_minute_before_and_after_its_time(
    client: Client, sign_in: SignIn, person: User, secret: str
) -> None:
    sign_in("ada")
    late = code_of(secret)
    with time_machine.travel(clock.now().timestamp() + 120, tick=False):
        assert client.post("/auth/second_factor/sign_in", {"code": late}).status_code == 200


def set_up(client: Client) -> tuple[str, list[str]]:
    """Set up an authenticator app, and return its key and the recovery codes."""
    show_again(client)
    key = client.get("/auth/second_factor/app/activate").context_data["form"].secret
    done = client.post("/auth/second_factor/app/activate", {"code": code_of(key)})
    return key, codes_on(done)


@pytest.mark.parametrize("path", CHANGES)
def test_row_24_changing_second_factors_requires_recent_reauthentication(
    browser: Client, person: User, secret: str, path: str
) -> None:
    for method in (browser.get, browser.post):
        asked = method(path)
        assert asked.status_code in (302, 303)
        assert asked["Location"].startswith("/auth/reauthenticate?next=")
    assert "This password is wrong." in show_again(browser, "wrong").content.decode()
    assert browser.get(path)["Location"].startswith("/auth/reauthenticate")
    with time_machine.travel(clock.now().timestamp(), tick=False) as traveller:
        assert show_again(browser).status_code == 303
        if "activate" not in path:
            assert browser.get(path).status_code == 200
        traveller.shift(301)
        assert browser.get(path)["Location"].startswith("/auth/reauthenticate")


@pytest.mark.parametrize("path", CHANGES)
def test_second_factors_cannot_be_changed_without_a_csrf_token(person: User, secret: str, path: str) -> None:
    checked = Client(enforce_csrf_checks=True)
    checked.force_login(person)
    assert checked.post(path).status_code == 403


def test_wrong_passwords_for_reauthentication_are_counted_across_all_pages(
    browser: Client, person: User, counted: None
) -> None:
    for _time in range(10):
        assert show_again(browser, "wrong").status_code == 200
    assert show_again(browser).status_code == 429
    assert browser.post("/settings/delete", {"password": "wrong"}).status_code == 429


def test_recovery_codes_are_shown_once_and_only_their_hashes_are_kept(browser: Client, person: User) -> None:
    _key, codes = set_up(browser)
    assert len(set(codes)) == 10
    stored = set(RecoveryCode.objects.filter(user=person).values_list("digest", flat=True))
    assert stored == {digest_of(code) for code in codes}
    for path in ("/auth/second_factor", "/auth/second_factor/codes"):
        text = browser.get(path).content.decode()
        assert not any(code in text for code in codes)
    assert "10 codes are left" in browser.get("/auth/second_factor").content.decode()


def test_recovery_codes_can_be_downloaded_as_a_text_file(browser: Client, person: User) -> None:
    show_again(browser)
    key = browser.get("/auth/second_factor/app/activate").context_data["form"].secret
    page = browser.post("/auth/second_factor/app/activate", {"code": code_of(key)})
    (url,) = re.findall(r'href="(data:text/plain[^"]+)" download="recovery-codes.txt"', page.content.decode())
    codes = codes_on(page)
    assert len(codes) == 10
    assert all(code in url for code in codes)


def test_a_recovery_code_works_once_however_it_is_typed(
    client: Client, sign_in: SignIn, person: User, secret: str, mailoutbox: list[Any]
) -> None:
    code = make_recovery_codes(user=person)[0]
    for typed, expected in ((code.upper().replace("-", " ").replace("0", "O"), 303), (code, 200)):
        sign_in("ada")
        assert client.post("/auth/second_factor/sign_in", {"code": typed}).status_code == expected
        client.post("/auth/sign_out")
    assert RecoveryCode.objects.filter(user=person).count() == 9
    work()
    (mail,) = mailoutbox
    assert "One of your recovery codes has been used." in mail.body
    assert "127.0.0.1" in mail.body


def test_the_recovery_code_of_another_user_is_refused(
    client: Client, sign_in: SignIn, person: User, secret: str
) -> None:
    (code, *_rest) = make_recovery_codes(user=make_user("bob"))
    sign_in("ada")
    assert client.post("/auth/second_factor/sign_in", {"code": code}).status_code == 200
    assert not is_signed_in(client)


def test_new_codes_replace_the_old_ones_and_a_mail_says_so(
    client: Client, sign_in: SignIn, person: User, mailoutbox: list[Any]
) -> None:
    sign_in("ada")
    _key, old = set_up(client)
    page = client.post("/auth/second_factor/codes")
    new = codes_on(page)
    assert len(new) == 10
    assert not set(new) & set(old)
    client.post("/auth/sign_out")
    sign_in("ada")
    assert client.post("/auth/second_factor/sign_in", {"code": old[0]}).status_code == 200
    assert client.post("/auth/second_factor/sign_in", {"code": new[0]}).status_code == 303
    work()
    assert any("New recovery codes have been made" in mail.body for mail in mailoutbox)


def test_recovery_codes_require_a_second_factor(browser: Client, person: User) -> None:
    show_again(browser)
    assert browser.get("/auth/second_factor/codes").status_code == 404
    assert browser.post("/auth/second_factor/codes").status_code == 404
    assert not RecoveryCode.objects.exists()


def test_recovery_codes_have_eighty_random_bits() -> None:
    codes = [new_code() for _ in range(200)]
    assert len(set(codes)) == 200
    letters = "".join(codes).replace("-", "")
    assert len(letters) == 200 * 16
    assert set(letters) == set("0123456789abcdefghjkmnpqrstvwxyz")


def test_row_26_a_code_of_the_app_cannot_be_used_twice_even_half_a_minute_later(
    client: Client, sign_in: SignIn, person: User, secret: str
) -> None:
    with time_machine.travel(clock.now().replace(second=0), tick=False) as traveller:
        code = code_of(secret)
        sign_in("ada")
        assert client.post("/auth/second_factor/sign_in", {"code": code}).status_code == 303
        client.post("/auth/sign_out")
        traveller.shift(35)  # an unused code would still be accepted, because the clocks of phones may be slow
        sign_in("ada")
        assert client.post("/auth/second_factor/sign_in", {"code": code}).status_code == 200
        assert client.post("/auth/second_factor/sign_in", {"code": code_of(secret)}).status_code == 303


def test_row_26_the_code_that_sets_up_an_app_signs_nobody_in(client: Client, sign_in: SignIn, person: User) -> None:
    with time_machine.travel(clock.now(), tick=False):
        sign_in("ada")
        key, _codes = set_up(client)
        other = Client()
        other.post("/auth/sign_in", {"login": "ada", "password": "correct horse"})
        assert other.post("/auth/second_factor/sign_in", {"code": code_of(key)}).status_code == 200


def test_a_wrong_code_does_not_set_up_an_app(browser: Client, person: User) -> None:
    show_again(browser)
    page = browser.post("/auth/second_factor/app/activate", {"code": "000000"})
    assert "This code is wrong or has expired." in page.content.decode()
    assert not person.authenticator_set.exists()
    assert not RecoveryCode.objects.exists()


def test_row_24_switching_the_app_off_signs_other_browsers_out_and_ends_the_codes(
    client: Client, sign_in: SignIn, person: User, mailoutbox: list[Any]
) -> None:
    sign_in("ada")
    _key, codes = set_up(client)
    other = Client()
    other.post("/auth/sign_in", {"login": "ada", "password": "correct horse"})
    other.post("/auth/second_factor/sign_in", {"code": codes[0]})
    assert is_signed_in(other)
    assert client.post("/auth/second_factor/app/deactivate")["Location"] == "/auth/second_factor"
    assert is_signed_in(client)
    assert not is_signed_in(other)
    assert not RecoveryCode.objects.exists()
    work()
    assert any("The authenticator app has been switched off." in mail.body for mail in mailoutbox)


def test_row_24_a_reset_of_second_factors_by_staff_ends_all_sessions_and_tokens(
    client: Client, sign_in: SignIn, person: User, mailoutbox: list[Any]
) -> None:
    token = issue_token(application=make_application(), user=person, scopes=["read"])
    sign_in("ada")
    set_up(client)
    staff.reset_second_factor(by=OPERATOR, user=person)
    assert not person.authenticator_set.exists()
    assert not RecoveryCode.objects.exists()
    assert not AccessToken.objects.filter(pk=token.pk).exists()
    assert not is_signed_in(client)
    assert sign_in("ada")["Location"] == "/"
    assert AuditEntry.objects.get().action == "reset_second_factor"
    work()
    assert any("have removed your second factor" in mail.body for mail in mailoutbox)
    assert staff.reset_second_factor(by=OPERATOR, user=person) is False


def test_row_24_a_password_reset_by_mail_does_not_skip_the_second_factor(
    client: Client, person: User, secret: str, mailoutbox: list[Any]
) -> None:
    client.post("/auth/password/reset", {"email": "ada@example.com"})
    work()
    link = re.search(r"http://social.localhost(/auth/password/reset/\S+)", mailoutbox[0].body)
    assert link is not None
    url = client.get(link[1], follow=True).redirect_chain[-1][0]
    assert client.post(url, {"password1": "another horse"}).status_code == 303
    assert not is_signed_in(client)
    asked = client.post("/auth/sign_in", {"login": "ada", "password": "another horse"})
    assert asked["Location"] == "/auth/second_factor/sign_in"
    assert not is_signed_in(client)
