"""Tests of the pages for forgotten passwords and for changing a password."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.identity.services.tokens import issue_token
from accounts.models import AccessToken, User
from social.kernel import clock
from social.kernel.outbox import OutboxRow, drain
from tests.factories.accounts import make_application, make_user
from tests.support.client import is_signed_in, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db


def _reset_link(mail: Any) -> str:
    found = re.search(r"http\S+/auth/password/reset/\S+", mail.body)
    assert found is not None, mail.body
    return found[0]


def test_row_24_replacing_a_forgotten_password_ends_all_sessions_and_tokens(
    client: Client, mailoutbox: list[Any]
) -> None:
    user = make_user("ada")
    token = issue_token(application=make_application(), user=user, scopes=["read"])
    old = signed_in(user)
    sent = client.post("/auth/password/reset", {"email": "ADA@example.com"}, headers={"Host": "evil.localhost"})
    assert sent["Location"] == "/auth/password/reset/sent"
    work()
    (mail,) = mailoutbox
    assert mail.to == ["ada@example.com"]
    assert "evil.localhost" not in mail.body + mail.subject, "links never come from the Host header"
    link = _reset_link(mail)
    assert link.startswith("http://social.localhost/")
    form = client.get(link.removeprefix("http://social.localhost"), follow=True)
    assert "Choose a new password" in form.content.decode()
    url = form.redirect_chain[-1][0]
    assert "Is too short" in client.post(url, {"password1": "short"}).content.decode()
    assert "Is too long" in client.post(url, {"password1": "x" * 73}).content.decode()
    assert client.post(url, {"password1": "another horse"})["Location"] == "/auth/password/reset/done"
    user.refresh_from_db()
    assert user.check_password("another horse")
    assert not AccessToken.objects.filter(pk=token.pk).exists()
    assert not is_signed_in(old)
    again = Client().get(link.removeprefix("http://social.localhost"), follow=True)
    assert "no longer works" in again.content.decode()


def test_an_unknown_address_gets_the_same_answer_and_no_mail(client: Client, mailoutbox: list[Any]) -> None:
    sent = client.post("/auth/password/reset", {"email": "nobody@example.com"})
    assert sent["Location"] == "/auth/password/reset/sent"
    work()
    assert mailoutbox == []


def test_known_and_unknown_addresses_get_the_same_page_and_the_same_headers(client: Client) -> None:
    make_user("ada")
    pages = [
        Client().post("/auth/password/reset", {"email": f"{name}@example.com"}, follow=True)
        for name in ("ada", "nobody")
    ]
    known, unknown = pages
    assert known.content == unknown.content
    varying = ("X-Request-Id",)
    assert {name: known[name] for name in known.headers if name not in varying} == {
        name: unknown[name] for name in unknown.headers if name not in varying
    }


def test_a_link_for_a_new_password_expires_after_three_days_or_the_next_sign_in(
    client: Client, mailoutbox: list[Any]
) -> None:
    make_user("ada")
    client.post("/auth/password/reset", {"email": "ada@example.com"})
    work()
    path = _reset_link(mailoutbox[0]).removeprefix("http://social.localhost")
    assert "Choose a new password" in Client().get(path, follow=True).content.decode()
    with time_machine.travel(clock.now() + timedelta(days=3, minutes=1), tick=False):
        assert "no longer works" in Client().get(path, follow=True).content.decode()
    client.post("/auth/sign_in", {"login": "ada", "password": "correct horse"})
    assert "no longer works" in Client().get(path, follow=True).content.decode()


def test_row_64_known_and_unknown_addresses_are_answered_alike_while_mail_is_down(
    client: Client, settings: Any, django_assert_max_num_queries: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    make_user("ada")
    answers = [client.post("/auth/password/reset", {"email": f"{name}@example.com"}) for name in ("ada", "nobody")]
    assert [(answer.status_code, answer["Location"]) for answer in answers] == [(303, "/auth/password/reset/sent")] * 2
    (row,) = OutboxRow.objects.filter(event="PasswordResetRequested")
    drain(row.queue)
    row.refresh_from_db()
    assert row.attempts == 1, "the outbox will retry"


def test_row_24_changing_the_password_needs_the_old_one_and_ends_sessions_and_tokens(
    browser: Client, person: User, mailoutbox: list[Any]
) -> None:
    token = issue_token(application=make_application(), user=person, scopes=["read"])
    wrong = browser.post("/auth/password", {"oldpassword": "wrong", "password1": "another horse"})
    assert "This is not your current password." in wrong.content.decode()
    done = browser.post("/auth/password", {"oldpassword": "correct horse", "password1": "another horse"})
    assert done.status_code == 303
    person.refresh_from_db()
    assert person.check_password("another horse")
    assert not AccessToken.objects.filter(pk=token.pk).exists()
    assert not is_signed_in(browser)
    work()
    (mail,) = mailoutbox
    assert mail.to == ["ada@example.com"]
    assert "Your password has been changed." in mail.body
    assert "127.0.0.1" in mail.body
