"""Tests of changing the e-mail address: the new address is confirmed first, and the old address gets a mail (security rows 24,
29).
"""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.events import ConfirmationRequested
from accounts.identity.services.confirmations import request_email_change, send_confirmation_mails
from accounts.identity.services.sessions import change_password
from accounts.identity.services.sign_up_blocks import block_email_domain
from accounts.identity.services.tokens import issue_token
from accounts.models import AccessToken, User
from accounts.policies.staff import OPERATOR
from social.kernel import clock
from tests.accounts.identity.pages.test_second_factor import show_again
from tests.factories.accounts import make_application, make_user
from tests.support.client import is_signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db


def ask(browser: Client, email: str = "Lovelace@example.org") -> Any:
    """Request a change of the e-mail address."""
    show_again(browser)
    return browser.post("/auth/email", {"email": email})


def link_in(mails: list[Any]) -> str:
    """Return the link in the latest mail that contains one."""
    found = re.search(r"http://social.localhost(/auth/email/confirm/\S+)", "\n".join(mail.body for mail in mails[::-1]))
    assert found is not None
    return found[1]


def test_rows_24_and_29_a_new_address_counts_once_it_is_confirmed(
    browser: Client, person: User, mailoutbox: list[Any]
) -> None:
    other = Client()
    other.post("/auth/sign_in", {"login": "ada", "password": "correct horse"})
    token = issue_token(application=make_application(), user=person, scopes=["read"])
    assert ask(browser)["Location"] == "/auth/email"
    person.refresh_from_db()
    assert person.email == "ada@example.com"
    work()
    assert sorted(mail.to[0] for mail in mailoutbox) == ["ada@example.com", "lovelace@example.org"]
    (warning,) = (mail for mail in mailoutbox if mail.to == ["ada@example.com"])
    assert "A new e-mail address has been entered for your account." in warning.body
    link = link_in(mailoutbox)
    assert "lovelace@example.org" in browser.get(link).content.decode()
    person.refresh_from_db()
    assert person.email == "ada@example.com", "opening the link changes nothing yet"
    mailoutbox.clear()
    assert browser.post(link)["Location"] == "/auth/email"
    person.refresh_from_db()
    assert (person.email, person.new_email) == ("lovelace@example.org", None)
    (address,) = EmailAddress.objects.filter(user=person)
    assert (address.email, address.primary, address.verified) == ("lovelace@example.org", True, True)
    assert is_signed_in(browser)
    assert not is_signed_in(other)
    assert AccessToken.objects.filter(pk=token.pk).exists()
    work()
    (said,) = mailoutbox
    assert said.to == ["ada@example.com"]
    assert "has been changed. E-mails about it" in said.body
    assert "127.0.0.1" in said.body
    signed_in = Client().post("/auth/sign_in", {"login": "lovelace@example.org", "password": "correct horse"})
    assert signed_in.status_code == 303
    assert Client().post("/auth/sign_in", {"login": "ada@example.com", "password": "correct horse"}).status_code == 200


def test_row_29_only_the_latest_link_works_and_only_once(browser: Client, person: User, mailoutbox: list[Any]) -> None:
    ask(browser, "first@example.org")
    work()
    first = link_in(mailoutbox)
    ask(browser, "second@example.org")
    work()
    second = link_in(mailoutbox)
    assert browser.post(first).status_code == 404
    assert browser.post(second).status_code == 303
    assert browser.post(second).status_code == 404
    assert "no longer works" in browser.get(second).content.decode()
    person.refresh_from_db()
    assert person.email == "second@example.org"


def test_row_29_a_link_works_only_for_its_account_while_signed_in(
    browser: Client, person: User, mailoutbox: list[Any]
) -> None:
    ask(browser)
    work()
    link = link_in(mailoutbox)
    anonymous = Client().post(link)
    assert anonymous.status_code == 303
    assert Client().get(link)["Location"].startswith("/auth/sign_in?next=%2Fauth%2Femail%2Fconfirm")
    stranger, bob = Client(), make_user("bob")
    stranger.force_login(bob)
    User.objects.filter(pk=bob.pk).update(new_email="lovelace@example.org")
    assert stranger.get(link).status_code == stranger.post(link).status_code == 404
    person.refresh_from_db()
    assert person.email == "ada@example.com"


def test_row_29_a_link_is_valid_for_three_days(browser: Client, person: User, mailoutbox: list[Any]) -> None:
    ask(browser)
    work()
    link = link_in(mailoutbox)
    with time_machine.travel(clock.now() + timedelta(days=3, minutes=1), tick=False):
        assert browser.get(link).status_code == browser.post(link).status_code == 404


@pytest.mark.parametrize("path", ["forged", "W10:1abc:def", "-" * 200])
def test_row_29_forged_links_change_nothing(browser: Client, person: User, path: str) -> None:
    ask(browser)
    assert browser.get(f"/auth/email/confirm/{path}").status_code == 404
    assert browser.post(f"/auth/email/confirm/{path}").status_code == 404


def test_row_29_the_link_of_a_sign_up_cannot_confirm_a_change_of_address(
    browser: Client, person: User, mailoutbox: list[Any]
) -> None:
    waiting = make_user("eve", confirmed=False)
    send_confirmation_mails([ConfirmationRequested(user_id=waiting.pk)])
    key = re.search(r"/auth/confirm/(\S+)", mailoutbox[0].body)
    assert key is not None
    ask(browser)
    assert browser.post(f"/auth/email/confirm/{key[1]}").status_code == 404


def test_row_24_changing_the_address_needs_the_password_once_more(browser: Client, person: User) -> None:
    for asked in (browser.get("/auth/email"), browser.post("/auth/email", {"email": "x@example.org"})):
        assert asked["Location"].startswith("/auth/reauthenticate?next=%2Fauth%2Femail")
    person.refresh_from_db()
    assert person.new_email is None
    checked = Client(enforce_csrf_checks=True)
    checked.force_login(person)
    assert checked.post("/auth/email", {"email": "x@example.org"}).status_code == 403


def test_a_new_password_invalidates_the_link(browser: Client, person: User, mailoutbox: list[Any]) -> None:
    ask(browser)
    work()
    change_password(user=person, password="another horse")
    again = Client()
    again.post("/auth/sign_in", {"login": "ada", "password": "another horse"})
    assert again.post(link_in(mailoutbox)).status_code == 404


def test_a_change_of_address_can_be_cancelled(browser: Client, person: User, mailoutbox: list[Any]) -> None:
    ask(browser)
    work()
    assert "lovelace@example.org" in browser.get("/auth/email").content.decode()
    assert browser.post("/auth/email/cancel")["Location"] == "/auth/email"
    assert "lovelace@example.org" not in browser.get("/auth/email").content.decode()
    assert browser.post(link_in(mailoutbox)).status_code == 404


def test_a_link_for_a_new_password_is_invalid_after_the_address_has_changed(
    browser: Client, person: User, mailoutbox: list[Any]
) -> None:
    Client().post("/auth/password/reset", {"email": "ada@example.com"})
    ask(browser)
    work()
    reset = re.search(r"http://social.localhost(/auth/password/reset/\S+)", "\n".join(m.body for m in mailoutbox))
    assert reset is not None
    browser.post(link_in(mailoutbox))
    assert "no longer works" in Client().get(reset[1], follow=True).content.decode()


@pytest.mark.parametrize(
    ("email", "message"),
    [
        ("bob@example.com", "Has already been taken"),
        ("BOB@example.com", "Has already been taken"),
        ("ada@example.com", "Has already been taken"),
        ("nonsense", "Is invalid"),
        ("a@b@c", "Is invalid"),
        ("x@blocked.example", "disallowed e-mail provider"),
        (f"{'x' * 330}@example.org", "at most 320 characters"),
        ("", "This field is required"),
    ],
)
def test_an_invalid_address_is_refused_at_its_field(browser: Client, person: User, email: str, message: str) -> None:
    make_user("bob")
    block_email_domain(by=OPERATOR, domain="blocked.example")
    text = ask(browser, email).content.decode()
    assert message in text
    person.refresh_from_db()
    assert person.new_email is None


def test_an_address_that_somebody_else_has_taken_meanwhile_is_refused(
    browser: Client, person: User, mailoutbox: list[Any]
) -> None:
    ask(browser, "bob@example.com")
    work()
    make_user("bob")
    refused = browser.post(link_in(mailoutbox))
    assert refused.status_code == 422
    assert "has already been taken" in refused.content.decode()
    person.refresh_from_db()
    assert person.email == "ada@example.com"


def test_mails_to_new_addresses_are_rate_limited(browser: Client, person: User, counted: None) -> None:
    for number in range(5):
        assert ask(browser, f"x{number}@example.org").status_code == 303
    assert ask(browser, "x6@example.org").status_code == 429


def test_no_mail_is_sent_for_a_cancelled_change(person: User, mailoutbox: list[Any]) -> None:
    request_email_change(user=person, email="x@example.org", address="127.0.0.1")
    User.objects.filter(pk=person.pk).update(new_email=None)
    work()
    assert [mail.to for mail in mailoutbox] == [["ada@example.com"]]
