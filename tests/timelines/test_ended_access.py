"""Tests that streams close within a second after access has ended in any way, even if no worker runs (security row 24)."""

import getpass
from collections.abc import Callable
from typing import Any

import pytest
from allauth.account import app_settings
from allauth.account.utils import user_pk_to_url_str
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.models import AccessToken, Application
from tests.factories.accounts import make_user
from tests.support.client import signed_in
from tests.support.patience import SOON
from tests.timelines.conftest import Person, person
from tests.timelines.listeners import Socket, open_from_page, open_socket
from tests.timelines.server import StreamingServer

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD, NEW = "correct horse", "another horse"
Way = Callable[[Person, Client], Any]


def application_of(reader: Person) -> Application:
    application = AccessToken.objects.get(token=reader.api.token).application
    assert isinstance(application, Application)
    return application


def by_the_application(reader: Person, browser: Client) -> Any:
    application = application_of(reader)
    credentials = {"client_id": application.client_id, "client_secret": application.client_secret}
    return Client().post("/oauth/revoke", {"token": reader.api.token, **credentials})


def by_the_page_of_applications(reader: Person, browser: Client) -> Any:
    return browser.post(f"/oauth/authorized_applications/{application_of(reader).pk}")


def by_another_password(reader: Person, browser: Client) -> Any:
    return browser.post("/auth/password", {"oldpassword": PASSWORD, "password1": NEW})


def by_a_link_from_a_mail(reader: Person, browser: Client) -> Any:
    key = app_settings.PASSWORD_RESET_TOKEN_GENERATOR().make_token(reader.user)
    values = {"uidb36": user_pk_to_url_str(reader.user), "key": key}
    stranger = Client()
    form = stranger.get(reverse("account_reset_password_from_key", kwargs=values), follow=True)
    return stranger.post(form.redirect_chain[-1][0], {"password1": NEW})


def by_command(*arguments: str) -> Way:
    def act(reader: Person, browser: Client) -> Any:
        call_command(arguments[0], reader.account.username, *arguments[1:])

    return act


def by_staff(reader: Person, browser: Client) -> Any:
    moderator = signed_in(make_user(role="Moderator"))
    chosen = {"action": "disable", "_selected_action": [reader.user.pk], "confirmed": "yes"}
    return moderator.post("/admin/accounts/user/", chosen, follow=True)


WAYS: dict[str, tuple[Way, int, bool]] = {
    "the application revokes": (by_the_application, 401, False),
    "the person takes it back": (by_the_page_of_applications, 401, False),
    "password changed": (by_another_password, 401, True),
    "password forgotten": (by_a_link_from_a_mail, 401, True),
    "changepassword": (by_command("changepassword"), 401, True),
    "modify_account --reset-password": (by_command("modify_account", "--reset-password"), 401, True),
    "modify_account --reset-second-factor": (by_command("modify_account", "--reset-second-factor"), 401, True),
    "modify_account --disable": (by_command("modify_account", "--disable"), 403, True),
    "delete_account": (by_command("delete_account", "--yes"), 401, True),
    "disabled in the admin": (by_staff, 403, True),
}


@pytest.mark.parametrize("name", WAYS)
def test_row_24_every_way_to_end_access_closes_streams_and_sessions_immediately(
    server: StreamingServer, reader: Person, name: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    monkeypatch.setattr(getpass, "getpass", lambda prompt: NEW)
    act, status, signs_out = WAYS[name]
    browser, other = Client(), person()
    browser.force_login(reader.user)
    browser.get("/")
    verify = "/api/v1/accounts/verify_credentials"
    assert reader.api.get(verify).status_code == 200
    with (
        open_socket(server, reader, "user") as first,
        open_socket(server, reader, "public") as second,
        open_from_page(server, browser) as page,
        Socket(server, other.api.token, stream="user") as bystander,
    ):
        answer = act(reader, browser)
        assert answer is None or answer.status_code in (200, 302, 303), answer.content[:300]
        assert first.is_closed(SOON) == second.is_closed(SOON) == 1008
        assert bystander.is_silent()
        assert page.is_closed(SOON) == 1008 if signs_out else page.is_silent()
    assert reader.api.get(verify).status_code == status
    assert other.api.get(verify).status_code == 200
    assert (browser.get("/auth/password").status_code == 302) is signs_out
