"""Tests of passkeys in Chromium with its virtual authenticator: the script of the pages, and their Content-Security-Policy."""

from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator

from tests.factories.accounts import make_user
from tests.support.chromium import find_chromium, open_tab

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine"),
]
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
PASSWORD_FORM, PASSKEY_FORM = "form:not([data-passkey]) [type=submit]", "form[data-passkey] [type=submit]"


def test_a_passkey_can_be_added_and_used_alone_or_as_a_second_factor(
    live_server: Any, settings: Any, tmp_path: Path
) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    user = make_user("ada")
    with open_tab(tmp_path) as tab:
        tab.call("WebAuthn.enable")
        tab.call("WebAuthn.addVirtualAuthenticator", options=AUTHENTICATOR)
        tab.go(f"{live_server.url}/auth/sign_in?next=/auth/passkeys/add")
        tab.fill(login="ada", password="correct horse")
        assert tab.press(PASSWORD_FORM) == "/auth/reauthenticate"
        tab.fill(password="correct horse")
        assert tab.press("main [type=submit]") == "/auth/passkeys/add"
        assert tab.run("document.querySelector('[data-without-passkeys]').hidden") is True
        tab.fill(name="Laptop")
        assert tab.press(PASSKEY_FORM) == "/auth/passkeys/add"
        assert "Recovery codes" in tab.run("document.title")
        found = Authenticator.objects.get(user=user)
        assert (found.wrap().name, found.data["verified"], found.wrap().is_passwordless) == ("Laptop", True, True)

        tab.call("Network.clearBrowserCookies")
        tab.go(f"{live_server.url}/auth/sign_in")
        tab.fill(login="ada", password="correct horse")
        assert tab.press(PASSWORD_FORM) == "/auth/second_factor/sign_in"
        assert tab.press(PASSKEY_FORM) == "/"

        tab.call("Network.clearBrowserCookies")
        tab.go(f"{live_server.url}/auth/sign_in?next=/auth/sessions")
        assert tab.press(PASSKEY_FORM) == "/auth/sessions"
        assert "Chromium" in tab.run("document.querySelector('main li strong').textContent")
        assert tab.problems == []
    found.refresh_from_db()
    assert found.data["sign_count"] >= 2
