"""Tests of the redirect from the consent page back to an application in Chromium, which enforces `form-action`."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from accounts.identity.services.tokens import register_application
from tests.factories.accounts import make_user
from tests.support.chromium import Tab, find_chromium, open_tab

pytestmark = [
    pytest.mark.verify,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine"),
]
CALLBACKS = ("toot-app://callback", "com.example.toot:/oauth", "http://127.0.0.1:9/callback")


def _where_it_ends(tab: Tab, callback: str) -> str:
    """Press "Authorize", and return the address to which the browser is redirected, or the reason for a refusal."""
    tab.run("document.querySelector('[name=decision][value=allow]').click()")
    address = ""
    while True:
        message: dict[str, Any] = json.loads(tab.socket.recv(timeout=60))
        parameters = message.get("params", {})
        asked = parameters.get("request", {}).get("url", "")
        address = asked if asked.startswith(callback) else address
        # No server responds at these addresses; the browser's error shows whether it refused the redirect or could not connect.
        if address and message["method"] == "Network.loadingFailed" and parameters["type"] == "Document":
            return str(parameters.get("blockedReason") or address)
        if parameters.get("entry", {}).get("source") == "security":
            return str(parameters["entry"]["text"])


def test_row_46_the_browser_returns_to_the_application_whatever_its_scheme(
    live_server: Any, settings: Any, tmp_path: Path
) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    make_user("ada")
    application = register_application(name="Toot", redirect_uris="\n".join(CALLBACKS), scopes="read")
    with open_tab(tmp_path) as tab:
        tab.call("Network.enable")
        for number, callback in enumerate(CALLBACKS):
            asked = {"response_type": "code", "client_id": application.client_id, "redirect_uri": callback}
            tab.go(f"{live_server.url}/oauth/authorize?{urlencode(asked | {'scope': 'read'})}")
            if number == 0:
                tab.fill(login="ada", password="correct horse")
                assert tab.press("form:not([data-passkey]) [type=submit]") == "/oauth/authorize"
            assert "?code=" in _where_it_ends(tab, callback), callback
