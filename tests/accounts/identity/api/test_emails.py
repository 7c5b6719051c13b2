"""Tests of client requests to resend a confirmation mail (contract, parameters section 2 "Acting on accounts", SEED-040)."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.identity.services.confirmations import confirmation_url
from accounts.models import Application, User
from social.kernel import clock
from tests.factories.accounts import make_application, make_token, make_user
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
PATH = "/api/v1/emails/confirmations"
CHECK = "/api/v1/emails/check_confirmation"
ANOTHER_APPLICATION = "This method is only available to the application the user originally signed-up with"
CONFIRMED = "This method is only available while the e-mail is awaiting confirmation"


@pytest.fixture
def application() -> Application:
    return make_application("read write")


@pytest.fixture
def newcomer(application: Application, settings: Any) -> Api:
    """A client of a user who signed up through the application and has not followed the link in the first mail."""
    settings.CONFIRM_EMAIL = True
    form = {"username": "nell", "email": "nell@example.com", "password": "correct horse", "agreement": True}
    answer = Api(make_token(None, "read write", application)).post("/api/v1/accounts", form)
    assert answer.status_code == 200, answer.content
    work()
    return Api(answer.json()["access_token"])


def address() -> EmailAddress:
    return EmailAddress.objects.get(user__account__username="nell")


def test_seed_040_the_mail_is_sent_again_until_the_address_is_confirmed(
    newcomer: Api, mailoutbox: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    first = len(mailoutbox)
    assert newcomer.get(CHECK).json() is False
    answer = newcomer.post(PATH)
    assert (answer.status_code, answer.json()) == (200, {})
    work()
    assert [mail.to for mail in mailoutbox[first:]] == [["nell@example.com"]]
    with django_capture_on_commit_callbacks(execute=True):
        Client().get(confirmation_url(address()).removeprefix("http://social.localhost"))
    assert newcomer.get(CHECK).json() is True
    answer = newcomer.post(PATH, {"email": "late@example.com"})
    assert (answer.status_code, answer.json()) == (403, {"error": CONFIRMED})
    assert User.objects.get().email == "nell@example.com"


def test_a_corrected_address_gets_the_mail_and_the_old_link_confirms_nothing(
    newcomer: Api, mailoutbox: list[Any]
) -> None:
    first, old_link = len(mailoutbox), confirmation_url(address()).removeprefix("http://social.localhost")
    assert newcomer.post(PATH, {"email": " Right@Example.com "}).status_code == 200
    work()
    assert [mail.to for mail in mailoutbox[first:]] == [["right@example.com"]]
    assert User.objects.get().email == "right@example.com"
    Client().get(old_link)
    assert not address().verified
    Client().get(confirmation_url(address()).removeprefix("http://social.localhost"))
    assert address().verified


@pytest.mark.parametrize(
    ("email", "sentence"),
    [
        ("", "E-mail address can't be blank, E-mail address is invalid"),
        ("nowhere", "E-mail address is invalid"),
        ("ADA@example.com", "E-mail address has already been taken"),
    ],
)
def test_a_corrected_address_must_follow_the_rules_of_sign_ups(newcomer: Api, email: str, sentence: str) -> None:
    make_user("ada")
    answer = newcomer.post(PATH, {"email": email})
    assert (answer.status_code, answer.json()) == (422, {"error": f"Validation failed: {sentence}"})
    assert address().email == "nell@example.com"


def test_seed_100_only_the_application_of_the_sign_up_may_resend_the_confirmation(
    newcomer: Api, application: Application
) -> None:
    nell = User.objects.get()
    for token in (make_token(nell, "read write"), make_token(None, "read write", application)):
        answer = Api(token).post(PATH)
        assert (answer.status_code, answer.json()) == (403, {"error": ANOTHER_APPLICATION})
    assert Api().post(PATH).status_code == 401
    assert Api(make_token(nell, "read", application)).post(PATH).status_code == 403
    answer = Api(make_token(make_user(), "read write", application)).post(PATH)
    assert (answer.status_code, answer.json()) == (403, {"error": ANOTHER_APPLICATION})


def test_a_disabled_user_gets_no_confirmation_mail(newcomer: Api) -> None:
    User.objects.update(disabled_at=clock.now())
    # The token now belongs to the application only, and cannot be used to request a mail (security row 80).
    answer = newcomer.post(PATH)
    assert (answer.status_code, answer.json()) == (403, {"error": ANOTHER_APPLICATION})


def test_a_user_gets_at_most_five_confirmation_mails_in_half_an_hour(newcomer: Api, settings: Any) -> None:
    settings.RATE_LIMITS = True
    answers = [newcomer.post(PATH).status_code for _time in range(6)]
    assert answers == [200] * 5 + [429]


def test_without_a_user_there_is_no_address_to_confirm(application: Application) -> None:
    for token in (None, "nobody-gave-this-out", make_token(None, "read", application)):
        answer = Api(token).get(CHECK)
        assert (answer.status_code, answer.json()) == (401, {"error": "This method requires an authenticated user"})
