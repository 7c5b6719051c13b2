"""Tests of the captcha that the link in a confirmation mail leads to, if the operator has configured a captcha service."""

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from accounts.identity.services.activation import create_invite
from accounts.identity.services.confirmations import confirmation_url
from accounts.models import User
from accounts.policies.staff import OPERATOR
from social.runtime import doctor
from social.settings.captcha import read_captcha
from tests.factories.accounts import make_token, make_user
from tests.support.captcha import CaptchaService, captcha_service
from tests.support.client import Api

pytestmark = pytest.mark.django_db
SCRIPT = "https://js.hcaptcha.com/1/api.js"
FORM = {"username": "grace", "email": "grace@x.example", "password": "correct horse", "agreement": True}


@pytest.fixture
def service(settings: Any) -> Iterator[CaptchaService]:
    with captcha_service() as found:
        settings.CAPTCHA = read_captcha(f"hcaptcha+http://key:s3cret@{found.address}/siteverify", "")
        settings.CAPTCHA_LOOPBACK = True
        yield found


def link_of(user: User, back: str = "") -> str:
    return confirmation_url(EmailAddress.objects.get(user=user), back).removeprefix("http://social.localhost")


def test_after_a_sign_up_in_an_application_the_captcha_is_solved_on_the_confirmation_page(
    service: CaptchaService, client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    token = Api(make_token(None)).post("/api/v1/accounts", FORM).json()["access_token"]
    user = User.objects.get(account__username="grace")
    assert not EmailAddress.objects.get(user=user).verified
    assert Api(token).get("/api/v1/accounts/verify_credentials").status_code == 403
    link = link_of(user, "/about")
    page = client.get(link)
    assert page.status_code == 200
    text = page.content.decode()
    assert f'<script src="{SCRIPT}"' in text
    assert 'class="h-captcha" data-sitekey="key"' in text
    assert "s3cret" not in text
    policy = page.headers["Content-Security-Policy"]
    assert "script-src https://hcaptcha.com https://*.hcaptcha.com" in policy
    assert "frame-src https://hcaptcha.com" in policy
    assert "hcaptcha" not in client.get("/auth/sign_in").headers["Content-Security-Policy"]

    for answer in ({}, {"h-captcha-response": "wrong"}):
        refused = client.post(link, answer)
        assert refused.status_code == 422
        assert "was not passed" in refused.content.decode()
    # If only the operator or the captcha service can fix the error, the page says so; no address is confirmed.
    for status, body in (
        (200, b'{"success": false, "error-codes": ["invalid-input-secret"]}'),
        (200, b'{"success": "yes"}'),
        (200, b"<html>"),
        (500, b'{"success": true}'),
        (200, b" " * 100_000),
    ):
        service.answer = (status, body)
        failed = client.post(link, {"h-captcha-response": "solved"})
        assert failed.status_code == 503
        assert "is not working at the moment" in failed.content.decode()
    assert {check.name: check.state for check in doctor.examine()}["captcha"] == "failed"
    service.answer = None
    assert {check.name: check.state for check in doctor.examine()}["captcha"] == "ok"
    assert not EmailAddress.objects.get(user=user).verified

    with django_capture_on_commit_callbacks(execute=True):
        done = client.post(link, {"h-captcha-response": "solved", "next": "/about"})
    assert (done.status_code, done.headers["Location"]) == (303, "/about")
    assert EmailAddress.objects.get(user=user).verified
    assert {name for form in service.asked for name in form} == {"secret", "sitekey", "response"}
    assert Api(token).get("/api/v1/accounts/verify_credentials").status_code == 200


def test_an_invitation_with_limited_uses_needs_no_captcha(service: CaptchaService, client: Client) -> None:
    limited, unlimited = create_invite(by=OPERATOR, max_uses=1), create_invite(by=OPERATOR)
    for name, invite, solved in (("ada", limited, True), ("bob", unlimited, False)):
        user = make_user(name, confirmed=False)
        User.objects.filter(pk=user.pk).update(invite=invite, activated_at=None)
        client.get(link_of(user))
        assert EmailAddress.objects.get(user=user).verified == solved
    assert service.asked == []


def test_an_invalid_captcha_setting_is_refused_without_showing_its_secret() -> None:
    assert read_captcha("", "") is None
    found = read_captcha("hcaptcha+https://k%3Aey:s3cret@verify.example/v", "https://widget.example:8443/a.js")
    assert found is not None
    assert (found.site_key, found.secret, found.verify_url) == ("k:ey", "s3cret", "https://verify.example/v")
    assert found.sources == ("https://widget.example:8443",)
    for service, script in (
        ("https://key:s3cret@verify.example/v", ""),
        ("hcaptcha+https://s3cret@verify.example/v", ""),
        ("hcaptcha+https://key:s3cret@verify.example", ""),
        ("hcaptcha+ftp://key:s3cret@verify.example/v", ""),
        ("hcaptcha+https://key:s3cret@verify.example:port/v", ""),
        ("hcaptcha+https://key:s3cret@verify.example/v", "javascript:alert(1)"),
        ("hcaptcha+https://key:s3cret@verify.example/v", "//widget.example/a.js"),
    ):
        with pytest.raises(ImproperlyConfigured, match="CAPTCHA_SERVICE") as refusal:
            read_captcha(service, script)
        assert "s3cret" not in str(refusal.value)
