"""Tests of the page at /api/docs, which shows the OpenAPI document: it loads only its own files, and its requests work."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.factories.accounts import make_user
from tests.runtime.processes import eventually
from tests.support.chromium import find_chromium, open_tab
from tests.support.federation_server import needs_federation

PAGES = ("/api/docs", "/api/docs/authorized")
_ADDRESSES = "JSON.stringify(performance.getEntriesByType('resource').map(each => each.name))"


@pytest.mark.django_db
@pytest.mark.parametrize("path", PAGES)
def test_the_page_loads_from_and_sends_requests_to_this_server_only(client: Client, path: str) -> None:
    answer = client.get(path)
    policy = dict(part.split(" ", 1) for part in answer["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert {policy[name] for name in ("script-src", "connect-src", "style-src")} == {"'self'"}
    assert policy["frame-ancestors"] == "'none'"
    # The OAuth popup passes the code to the page that opened it.
    assert answer["Cross-Origin-Opener-Policy"] == "unsafe-none"
    assert "noindex" in answer.content.decode()
    assert client.post(path).status_code == 405


@pytest.mark.verify
@needs_federation
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine")
def test_endpoints_can_be_tried_in_a_browser_with_a_token_from_oauth(
    live_server: Any, tmp_path: Path, settings: Any
) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    make_user("ada")
    with open_tab(tmp_path / "browser") as tab:

        def find(selector: str) -> Any:
            return eventually(lambda: tab.run(f"!!document.querySelector({json.dumps(selector)})"))

        def click(selector: str) -> None:
            find(selector)
            tab.run(f"document.querySelector({json.dumps(selector)}).click()")

        tab.go(f"{live_server.url}/auth/sign_in")
        tab.fill(login="ada", password="correct horse")
        assert tab.press("form:not([data-passkey]) [type=submit]") == "/"
        tab.go(f"{live_server.url}/api/docs")
        find(".opblock-tag")
        # The popup with the consent page is a separate tab, to which scripts in this tab keep a reference.
        tab.run("window.open = (open => (...all) => (window.opened = open.apply(window, all)))(window.open)")
        click(".auth-wrapper .authorize")
        click(".auth-container:has(.scopes) .btn.authorize")
        button = "window.opened?.document?.querySelector('[name=decision][value=allow]')"
        eventually(lambda: tab.run(f"!!{button}"))
        tab.run(f"{button}.click()")
        click(".auth-container .btn-done")
        tab.run("document.querySelectorAll('.opblock-tag').forEach(each => each.click())")
        click(".opblock-summary-path[data-path='/api/v1/accounts/verify_credentials']")
        click(".try-out__btn")
        click(".execute")
        find(".live-responses-table .response")
        said = tab.run("document.querySelector('.live-responses-table .response').innerText")
        assert '"username": "ada"' in said
        addresses = json.loads(tab.run(_ADDRESSES))
        assert addresses
        assert [url for url in addresses if not url.startswith(live_server.url)] == []
        assert tab.problems == []
