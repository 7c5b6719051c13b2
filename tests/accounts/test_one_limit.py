"""Tests that a page and the endpoint with the same effect share a limit, and that mails to one address are limited (security
rows 84 and 85).
"""

from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.events import ConfirmationRequested, EmailChangeRequested, PasswordResetRequested, SecurityChanged
from accounts.identity.services.confirmations import (
    request_confirmation,
    send_confirmation_mails,
    send_email_change_mails,
)
from accounts.identity.services.mails import MAILS_A_DAY, send_password_reset_mails, send_security_mails
from accounts.models import User
from social.kernel import redis
from social.kernel.errors import RateLimited, Unavailable
from tests.factories.accounts import make_application, make_token, make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db
NOON = "2026-03-01T12:00:00Z"
FORM = {"username": "grace", "email": "grace@example.com", "password": "a long password", "agreement": "true"}


@pytest.fixture
def counted(settings: Any) -> None:
    """Enable rate limits, with empty counters."""
    settings.RATE_LIMITS = True
    redis.client("cache").flushdb()


@time_machine.travel(NOON, tick=False)
def test_row_84_sign_ups_on_the_page_and_through_applications_share_a_counter(counted: None) -> None:
    page, app = Client(), Api(make_token(None, "read write"))
    for _time in range(3):
        assert page.post("/auth/sign_up", {}).status_code == 200
    answers = [app.post("/api/v1/accounts", {**FORM, "username": ""}).status_code for _time in range(3)]
    assert answers == [422, 422, 429]
    assert page.post("/auth/sign_up", FORM).status_code == 429


@time_machine.travel(NOON, tick=False)
def test_row_84_all_requests_for_confirmation_mails_share_a_counter(counted: None) -> None:
    application = make_application()
    user = make_user("nell", confirmed=False)
    User.objects.filter(pk=user.pk).update(created_by_application=application)
    app = Api(make_token(user, "read write", application))
    for _time in range(3):
        request_confirmation(user=user, address="10.0.0.1")
    assert [app.post("/api/v1/emails/confirmations").status_code for _time in range(3)] == [200, 200, 429]
    with pytest.raises(RateLimited):
        request_confirmation(user=user, address="10.0.0.1")


@time_machine.travel(NOON, tick=False)
@pytest.mark.parametrize(
    ("body", "kind"), [("{", "application/json"), ("x", "multipart/form-data; boundary=b"), ("a[b=1", "")]
)
def test_row_84_a_request_with_an_unreadable_body_is_counted(counted: None, body: str, kind: str) -> None:
    browser = Client()
    before = int(Api().get("/api/v1/timelines/public")["X-RateLimit-Remaining"])
    for _time in range(3):
        refused = browser.generic("POST", "/api/v1/accounts", body, content_type=kind)
        assert refused.status_code in (400, 401)
    assert int(Api().get("/api/v1/timelines/public")["X-RateLimit-Remaining"]) == before - 4


@time_machine.travel(NOON, tick=False)
def test_row_84_a_request_with_an_unreadable_body_is_refused_beyond_the_limit(counted: None) -> None:
    app = Client(headers={"Authorization": f"Bearer {make_token(None, 'read write')}"})
    answers = [app.generic("POST", "/api/v1/accounts", "{", content_type="application/json") for _time in range(6)]
    assert [answer.status_code for answer in answers] == [400] * 5 + [429]


def test_row_85_an_address_gets_ten_links_a_day_from_all_requests_in_any_spelling(mailoutbox: list[Any]) -> None:
    victim = "vic.tim@example.org"
    newcomers = [make_user(f"new{number}", confirmed=False) for number in range(3)]
    for number, user in enumerate(newcomers):
        spelled = ("victim@example.org", "Vic.Tim+x@example.org", victim)[number]
        EmailAddress.objects.filter(user=user).update(email=spelled)
    changing, owner = make_user("changing"), make_user("owner")
    User.objects.filter(pk=changing.pk).update(new_email=victim)
    User.objects.filter(pk=owner.pk).update(email="vict.im@example.org")
    for _time in range(6):
        send_confirmation_mails([ConfirmationRequested(user_id=user.pk) for user in newcomers])
        send_email_change_mails([EmailChangeRequested(user_id=changing.pk)])
        send_password_reset_mails([PasswordResetRequested(user_id=owner.pk)])
    assert len(mailoutbox) == MAILS_A_DAY
    # The user still gets mails about changes to the account, and other users still get all mails.
    send_security_mails([SecurityChanged(user_id=owner.pk, kind="password_changed", address="")])
    send_confirmation_mails([ConfirmationRequested(user_id=make_user("else", confirmed=False).pk)])
    assert len(mailoutbox) == MAILS_A_DAY + 2
    (counter,) = redis.client("cache").keys("*mails*links*" + "*")[:1]
    assert 0 < redis.client("cache").ttl(counter) <= 24 * 3600


def test_row_85_a_mail_that_could_not_be_sent_does_not_count(
    mailoutbox: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    user = make_user("ada", confirmed=False)
    with monkeypatch.context() as patch:

        def fail(*_args: Any, **_options: Any) -> None:
            raise Unavailable

        patch.setattr("accounts.identity.services.mails.mail.send", fail)
        for _time in range(MAILS_A_DAY + 1):
            with pytest.raises(Unavailable):
                send_confirmation_mails([ConfirmationRequested(user_id=user.pk)])
    send_confirmation_mails([ConfirmationRequested(user_id=user.pk)])
    assert len(mailoutbox) == 1
