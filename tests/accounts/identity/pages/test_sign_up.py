"""Tests of the pages for signing up, confirming an address and a forgotten password (contract, behaviours sections 4 and 6)."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.events import ConfirmationRequested
from accounts.identity.services import staff
from accounts.identity.services.activation import create_invite
from accounts.identity.services.confirmations import confirmation_url, request_confirmation, send_confirmation_mails
from accounts.identity.services.sign_up_blocks import block_email_domain, block_network
from accounts.identity.services.tokens import issue_token, register_application
from accounts.models import Invite, Severity, SiteSetting, User
from accounts.policies.staff import OPERATOR
from social.kernel import clock
from social.kernel.errors import RateLimited, Unavailable
from tests.factories.accounts import make_application, make_user
from tests.support.work import work

pytestmark = pytest.mark.django_db
FORM = {"username": "Grace", "email": "Grace@example.com", "password": "correct horse", "agreement": "on"}


def test_after_signing_up_users_return_to_the_requested_page(client: Client) -> None:
    response = client.post("/auth/sign_up?next=/oauth/authorized_applications", FORM)
    assert (response.status_code, response["Location"]) == (303, "/oauth/authorized_applications")
    user = User.objects.get(account__username="Grace")
    assert user.check_password("correct horse")
    assert user.sign_up_ip == "127.0.0.1"
    assert EmailAddress.objects.get(user=user).verified
    assert "@Grace@social.localhost" in client.get("/").content.decode()
    for typed in ("Grace@example.com", "grace@example.com", "grace"):
        again = Client().post("/auth/sign_in", {"login": typed, "password": "correct horse"})
        assert again.status_code == 303, typed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"username": "ada"}, "Username: Has already been taken"),
        ({"username": "ADA"}, "Username: Has already been taken"),
        ({"username": "no spaces"}, "Username: Must contain only letters, numbers and underscores"),
        ({"username": "admin"}, "Username: Is reserved"),
        ({"username": ""}, "Username: "),
        ({"email": "ada@example.com"}, "E-mail address: Has already been taken"),
        ({"email": "nonsense"}, "E-mail address: "),
        ({"password": "short"}, "Password: Is too short (minimum is 8 characters)"),
        ({"password": "x" * 73}, "Password: Is too long (maximum is 72 characters)"),
        ({"agreement": ""}, "I agree to the rules of this server: "),
    ],
)
def test_errors_are_shown_at_their_field_and_at_the_top(client: Client, change: dict[str, str], message: str) -> None:
    make_user("ada")
    page = client.post("/auth/sign_up", {**FORM, **change})
    assert page.status_code == 200
    text = page.content.decode()
    assert message in text
    assert 'role="alert"' in text
    name = next(iter(change))
    assert re.search(rf'name="{name}"[^>]*aria-invalid="true"', text)
    assert f'aria-describedby="id_{name}' in text
    assert f'id="id_{name}_error"' in text
    assert User.objects.count() == 1


def test_all_errors_of_the_form_are_shown_together(client: Client, settings: Any) -> None:
    settings.REGISTRATIONS, settings.MINIMUM_AGE = "approval", 16
    make_user("ada")
    empty = client.post("/auth/sign_up", {}).content.decode()
    labels = ("Username", "E-mail address", "Password", "Why do you want to join?", "Date of birth", "I agree")
    assert all(f"{label}" in empty for label in labels)
    assert len(re.findall(r'aria-invalid="true"', empty)) == 6
    wrong = {"username": "ada", "email": "ada@example.com", "password": "short", "reason": " ", "date_of_birth": "x"}
    text = client.post("/auth/sign_up", wrong).content.decode()
    for message in (
        "Username: Has already been taken",
        "E-mail address: Has already been taken",
        "Password: Is too short (minimum is 8 characters)",
        "Why do you want to join?: Can&#x27;t be blank",
        "Date of birth: ",
        "I agree to the rules of this server: Must be accepted",
    ):
        assert message in text
    assert text.count(" required") >= 6, "browsers report missing values before the form is sent"
    assert User.objects.count() == 1


def test_closed_registrations_show_a_page_and_accept_nobody(client: Client, settings: Any) -> None:
    settings.REGISTRATIONS = "closed"
    assert "does not accept new accounts" in client.get("/auth/sign_up").content.decode()
    client.post("/auth/sign_up", FORM)
    assert not User.objects.exists()
    assert "Create an account" not in client.get("/").content.decode()


def test_while_registrations_are_closed_the_page_shows_the_text_of_staff(client: Client, settings: Any) -> None:
    settings.REGISTRATIONS = "closed"
    SiteSetting.objects.create(key="site_closed_message", value="Back in *May* <script>")
    page = client.get("/auth/sign_up").content.decode()
    assert "Back in <em>May</em> &lt;script&gt;" in page


def test_sign_up_asks_for_a_reason_where_staff_approve(client: Client, settings: Any) -> None:
    settings.REGISTRATIONS = "approval"
    assert client.post("/auth/sign_up", FORM).status_code == 200
    client.post("/auth/sign_up", {**FORM, "reason": "I like it here"})
    user = User.objects.get()
    assert not user.approved
    assert user.sign_up_reason == "I like it here"
    assert "A person reviews every request" in client.get("/").content.decode()


def test_sign_up_signs_nobody_in_before_the_address_is_confirmed(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CONFIRM_EMAIL, settings.ACCOUNT_EMAIL_VERIFICATION = True, "mandatory"
    said: list[Any] = []
    monkeypatch.setattr("accounts.identity.services.signing_up.publish", lambda *events: said.extend(events))
    monkeypatch.setattr("accounts.identity.services.confirmations.publish", lambda *events: said.extend(events))
    assert client.post("/auth/sign_up", FORM)["Location"] == "/auth/confirm"
    assert b"@Grace@" not in client.get("/").content
    assert [type(event) for event in said].count(ConfirmationRequested) == 1, "one mail, not two"
    # The page shows the address to which the mail was sent, and a wrong address can be corrected in the same browser.
    wrong = FORM["email"].lower()
    assert wrong in client.get("/auth/confirm").content.decode()
    assert Client().post("/auth/confirm", {"email": "right@example.com"}).status_code == 200
    assert User.objects.get().email == wrong
    assert client.post("/auth/confirm", {"email": "right"}).status_code == 422
    assert client.post("/auth/confirm", {"email": "right@example.com"})["Location"] == "/auth/confirm"
    assert "right@example.com" in client.get("/auth/confirm").content.decode()
    assert EmailAddress.objects.get().email == "right@example.com"
    assert [type(event) for event in said].count(ConfirmationRequested) == 2


def test_the_link_in_the_mail_confirms_once_and_tokens_work_immediately(
    client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    user = make_user("ada", confirmed=False)
    token = issue_token(application=make_application("profile"), user=user, scopes=["profile"])
    headers = {"Authorization": f"Bearer {token.token}"}
    assert client.get("/oauth/userinfo", headers=headers).status_code == 403
    link = confirmation_url(EmailAddress.objects.get(user=user))
    assert link.startswith("http://social.localhost/auth/confirm/")
    with django_capture_on_commit_callbacks(execute=True):
        done = client.get(link.removeprefix("http://social.localhost"), headers={"Host": "evil.localhost"})
    assert (done.status_code, done["Location"]) == (302, "/auth/sign_in")
    assert EmailAddress.objects.get(user=user).verified
    assert client.get("/oauth/userinfo", headers=headers).status_code == 200
    assert "no longer works" in client.get(link.removeprefix("http://social.localhost")).content.decode()
    assert "no longer works" in client.get("/auth/confirm/forged:key:here").content.decode()


AUTHORIZE = "/oauth/authorize?client_id=x&redirect_uri=x%3A%2F%2Fy&response_type=code&state=a+b"


@pytest.fixture
def confirming(settings: Any) -> None:
    """Require that new users confirm their e-mail address."""
    settings.CONFIRM_EMAIL, settings.ACCOUNT_EMAIL_VERIFICATION = True, "mandatory"


def _confirmation_link(mail: Any) -> str:
    found = re.search(r"http://social.localhost(/auth/confirm/\S+)", mail.body)
    assert found is not None, mail.body
    return found[1]


def test_after_confirming_the_address_the_authorization_of_an_application_continues(
    client: Client, confirming: None, mailoutbox: list[Any]
) -> None:
    client.post(f"/auth/sign_up?next={quote(AUTHORIZE)}", FORM)
    work()
    (mail,) = mailoutbox
    link = _confirmation_link(mail)
    done = client.get(link)
    assert (done.status_code, done["Location"]) == (302, AUTHORIZE)
    assert b"@Grace@" in client.get("/").content, "the sign-in continues where it had stopped"


def test_in_another_browser_the_confirmation_link_continues_after_signing_in(
    client: Client, confirming: None, mailoutbox: list[Any]
) -> None:
    client.post(f"/auth/sign_up?next={quote(AUTHORIZE)}", FORM)
    work()
    other = Client()
    done = other.get(_confirmation_link(mailoutbox[0]))
    assert (done.status_code, done["Location"]) == (302, AUTHORIZE)
    assert b"@Grace@" not in other.get("/").content


def test_signing_in_before_confirming_sends_a_link_that_leads_to_the_requested_page(
    client: Client, confirming: None, mailoutbox: list[Any]
) -> None:
    make_user("ada", confirmed=False)
    form = {"login": "ada", "password": "correct horse"}
    assert client.post(f"/auth/sign_in?next={quote(AUTHORIZE)}", form)["Location"] == "/auth/confirm"
    work()
    assert Client().get(_confirmation_link(mailoutbox[0]))["Location"] == AUTHORIZE


def test_row_30_a_confirmation_link_never_leads_to_another_site(client: Client, mailoutbox: list[Any]) -> None:
    user = make_user("ada", confirmed=False)
    link = confirmation_url(EmailAddress.objects.get(user=user), "//evil.example/")
    done = client.get(link.removeprefix("http://social.localhost"))
    assert done["Location"] == "/auth/sign_in"


@pytest.mark.parametrize(
    ("redirect_uris", "website", "url", "opens"),
    [
        ("urn:ietf:wg:oauth:2.0:oob icecubesapp://", None, "icecubesapp://", True),
        ("https://elk.example/callback", None, "https://elk.example/", False),
        ("https://elk.example/callback", "https://elk.example/about", "https://elk.example/about", False),
    ],
)
def test_after_confirming_a_sign_up_in_an_application_a_link_leads_back_to_it(
    client: Client, redirect_uris: str, website: str | None, url: str, opens: bool
) -> None:
    application = register_application(name="Elk & Co", redirect_uris=redirect_uris, website=website)
    user = make_user("ada", confirmed=False)
    User.objects.filter(pk=user.pk).update(created_by_application=application)
    page = client.get(_path(user))
    assert page.status_code == 200
    text = page.content.decode()
    assert "Your address is confirmed" in text
    assert f'href="{url}"' in text
    assert "Back to Elk &amp; Co" in text
    assert page.headers.get("Refresh") == (f"0; url={url}" if opens else None)


def test_for_a_program_without_a_redirect_uri_the_confirmation_page_says_how_to_continue(
    client: Client, settings: Any
) -> None:
    settings.REGISTRATIONS = "approval"
    application = register_application(name="toot", redirect_uris="urn:ietf:wg:oauth:2.0:oob")
    user = make_user("ada", confirmed=False)
    User.objects.filter(pk=user.pk).update(created_by_application=application, approved=False)
    text = client.get(_path(user)).content.decode()
    assert "Go back to <bdi>toot</bdi>." in text
    assert "A person reviews every request to join." in text


def _path(user: User) -> str:
    return confirmation_url(EmailAddress.objects.get(user=user)).removeprefix("http://social.localhost")


def test_the_confirmation_mail_can_be_asked_for_five_times(
    client: Client, counted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Any] = []
    monkeypatch.setattr("accounts.identity.services.confirmations.publish", lambda *events: said.extend(events))
    user = make_user("ada", confirmed=False)
    client.force_login(user)
    assert 'action="/auth/confirm/again"' in client.get("/").content.decode()
    for _time in range(5):
        assert client.post("/auth/confirm/again")["Location"] == "/auth/confirm"
    assert client.post("/auth/confirm/again").status_code == 429
    with pytest.raises(RateLimited):
        request_confirmation(user=user, address="10.0.0.1")
    assert said == [ConfirmationRequested(user_id=user.pk)] * 5
    assert client.get("/auth/confirm/again").status_code == 405


def test_the_announced_mail_is_sent_once_on_approval(client: Client, settings: Any, mailoutbox: list[Any]) -> None:
    settings.REGISTRATIONS = "approval"
    page = client.post("/auth/sign_up?lang=de", {**FORM, "reason": "I like it here"}, follow=True)
    assert page.status_code == 200
    user = User.objects.get()
    work()
    assert mailoutbox == []
    staff.approve(by=OPERATOR, user=user)
    staff.approve(by=OPERATOR, user=user)
    work()
    (mail,) = mailoutbox
    assert mail.to == ["grace@example.com"]
    assert mail.subject == "Willkommen bei social.localhost"
    assert "http://social.localhost/auth/sign_in" in mail.body


def test_a_new_link_can_be_asked_for_five_times(client: Client, counted: None) -> None:
    for _time in range(5):
        assert client.post("/auth/password/reset", {"email": "a@example.com"}).status_code == 303
    assert client.post("/auth/password/reset", {"email": "A@example.com "}).status_code == 429


def test_sign_ups_on_the_page_are_rate_limited(client: Client, counted: None) -> None:
    for _time in range(5):
        assert client.post("/auth/sign_up", {}).status_code == 200
    assert client.post("/auth/sign_up", FORM).status_code == 429


def test_a_confirmation_mail_is_sent_only_if_it_is_still_needed(client: Client, mailoutbox: list[Any]) -> None:
    waiting, done = make_user("ada", confirmed=False), make_user("bob")
    send_confirmation_mails([ConfirmationRequested(user_id=user.pk) for user in (waiting, done, waiting)])
    (mail,) = mailoutbox
    assert mail.to == ["ada@example.com"]
    assert mail.subject == "Confirm your address for social.localhost"
    assert "@ada@social.localhost" in mail.body
    link = re.search(r"http://social.localhost(/auth/confirm/\S+)", mail.body)
    assert link is not None
    client.get(link[1])
    assert EmailAddress.objects.get(user=waiting).verified


def test_a_dead_mail_server_leaves_the_mail_to_the_outbox(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    with pytest.raises(Unavailable):
        send_confirmation_mails([ConfirmationRequested(user_id=make_user(confirmed=False).pk)])


def test_an_invitation_leads_to_the_form_where_registrations_are_closed(client: Client, settings: Any) -> None:
    settings.REGISTRATIONS = "closed"
    invite = create_invite(by=OPERATOR, max_uses=1)
    page = client.get(f"/invite/{invite.code}", follow=True)
    assert "You have been invited" in page.content.decode()
    url = page.redirect_chain[-1][0]
    assert client.post(url, FORM).status_code == 303
    assert User.objects.get().invite == invite
    page = Client().get(url).content.decode()
    assert "does not accept new accounts" in page
    assert "This invitation cannot be used any more" in page
    settings.REGISTRATIONS = "open"
    assert "This invitation cannot be used any more" in Client().get(url).content.decode()
    assert "This invitation" not in Client().get("/auth/sign_up?invite_code=unknown").content.decode()
    assert client.get("/invite/unknown").status_code == 404


def test_the_json_of_an_invitation_says_what_it_is_for(client: Client) -> None:
    invite = create_invite(by=OPERATOR, max_uses=1)
    answer = client.get(f"/invite/{invite.code}", headers={"Accept": "application/json"})
    assert answer.json() == {"invite_code": invite.code, "instance_api_url": "http://social.localhost/api/v2/instance"}
    Invite.objects.update(uses=1)
    answer = client.get(f"/invite/{invite.code}", headers={"Accept": "application/json"})
    assert (answer.status_code, list(answer.json())) == (401, ["error"])


def test_with_a_minimum_age_the_page_asks_for_the_date_of_birth(client: Client, settings: Any) -> None:
    assert "date_of_birth" not in client.get("/auth/sign_up").content.decode()
    settings.MINIMUM_AGE = 16
    assert 'type="date"' in client.get("/auth/sign_up").content.decode()
    young = client.post("/auth/sign_up", {**FORM, "date_of_birth": f"{clock.now().year - 10}-01-01"})
    assert "Is below the age limit" in young.content.decode()
    assert client.post("/auth/sign_up", {**FORM, "date_of_birth": "1990-12-31"}).status_code == 303


def test_the_page_obeys_the_same_blocks_as_the_api(client: Client) -> None:
    block_email_domain(by=OPERATOR, domain="example.com")
    assert "disallowed e-mail provider" in client.post("/auth/sign_up", FORM).content.decode()
    block_network(by=OPERATOR, network="127.0.0.1", severity=Severity.SIGN_UP_BLOCK)
    assert client.post("/auth/sign_up", {**FORM, "email": "grace@example.org"}).status_code == 403
    assert not User.objects.exists()
