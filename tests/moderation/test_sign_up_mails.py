"""Tests of mails to staff about sign-ups waiting for approval, one for each account (contract, behaviours section 6)."""

from dataclasses import replace
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail

from accounts.identity.policies.sign_up import SignUpDraft
from accounts.identity.services import staff
from accounts.identity.services.activation import activate_if_ready
from accounts.identity.services.signing_up import sign_up
from accounts.models import User
from accounts.policies.staff import OPERATOR
from tests.factories.accounts import make_user
from tests.support.client import signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
DRAFT = SignUpDraft(
    username="newcomer",
    email="new@example.com",
    password="correct horse battery",
    agreement=True,
    reason="For the birds",
)


@pytest.fixture(autouse=True)
def boss(settings: Any) -> User:
    settings.REGISTRATIONS = "approval"
    settings.CONFIRM_EMAIL = True
    make_user("moderator", role="Moderator")
    make_user("nobody")
    return make_user("boss", role="Owner")


def confirm(user: User) -> None:
    EmailAddress.objects.filter(user=user).update(verified=True)
    activate_if_ready(user_id=user.pk)


def letters() -> list[tuple[str, str]]:
    work()
    found = [(letter.to[0], str(letter.body)) for letter in mail.outbox if "wants to join" in letter.subject]
    mail.outbox.clear()
    return found


def test_staff_who_may_approve_get_one_mail_when_the_address_is_confirmed() -> None:
    user = sign_up(draft=DRAFT)
    assert letters() == [], "staff cannot decide before the address is confirmed"
    confirm(user)
    found = dict(letters())
    assert "boss@example.com" in found
    assert "nobody@example.com" not in found
    body = found["boss@example.com"]
    assert "@newcomer" in body
    assert "For the birds" in body
    assert f"/admin/accounts/user/{user.pk}/change/" in body
    confirm(user)
    assert letters() == [], "the mail is sent once"


def test_without_confirmation_of_addresses_the_mail_is_sent_immediately(settings: Any) -> None:
    settings.CONFIRM_EMAIL = False
    sign_up(draft=DRAFT)
    assert "boss@example.com" in dict(letters())


def test_no_mail_asks_staff_about_users_who_need_no_approval(settings: Any) -> None:
    user = sign_up(draft=DRAFT)
    staff.approve(by=OPERATOR, user=user)
    confirm(user)
    assert letters() == []
    staff.create_user(by=OPERATOR, draft=replace(DRAFT, username="made", email="made@example.com"), confirmed=True)
    assert letters() == [], "the operator approves whom the operator creates"
    settings.REGISTRATIONS = "open"
    confirm(
        sign_up(draft=SignUpDraft(username="other", email="o@example.com", password=DRAFT.password, agreement=True))
    )
    assert letters() == []


def test_no_mail_is_sent_about_a_user_who_was_decided_about_meanwhile() -> None:
    user = sign_up(draft=DRAFT)
    confirm(user)
    staff.approve(by=OPERATOR, user=user)
    assert letters() == []


def test_staff_can_disable_these_mails_on_the_preferences_page(boss: User) -> None:
    browser = signed_in(boss)
    form = browser.get("/settings/preferences").context["form"]
    assert form["sign_up_mails"].value() is True
    sent = {name: form[name].value() for name in form.fields if form[name].value() and name != "sign_up_mails"}
    assert browser.post("/settings/preferences", sent).status_code == 303
    confirm(sign_up(draft=DRAFT))
    assert "boss@example.com" not in dict(letters())
