"""A real client library goes through the doors: Mastodon.py with a browser that knows nothing but HTML forms."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import pytest
import requests
from mastodon import Mastodon, MastodonUnauthorizedError

from tests.factories.accounts import make_user

SCOPES = ["read", "write", "follow", "push", "profile"]


class Forms(HTMLParser):
    """The forms of a page: where each is sent, and what it holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "form":
            self.found.append((values.get("action") or "", {}))
        elif tag == "input" and self.found and values.get("name"):
            self.found[-1][1][str(values["name"])] = values.get("value") or ""


def submit(browser: requests.Session, page: requests.Response, **values: str) -> requests.Response:
    """Send the first form of a page as a browser without scripts does."""
    action, fields = Forms(page.text).found[0]
    answer = browser.post(urljoin(page.url, action), data={**fields, **values}, timeout=10)
    assert answer.status_code == 200, answer.text[:2000]
    return answer


@pytest.mark.django_db(transaction=True)
def test_mastodon_py_registers_authorizes_and_revokes(live_server: Any, settings: Any) -> None:
    settings.BASE_URL = live_server.url
    make_user("ada")
    client_id, client_secret = Mastodon.create_app(
        "Real client", scopes=SCOPES, api_base_url=live_server.url, website="https://client.example"
    )
    client = Mastodon(client_id, client_secret, api_base_url=live_server.url, version_check_mode="none")
    url = client.auth_request_url(scopes=SCOPES, state="s", allow_http=True)
    browser = requests.Session()
    sign_in = browser.get(url, timeout=10)
    assert "Real client" in sign_in.text
    consent = submit(browser, sign_in, login="ada", password="correct horse")
    native = submit(browser, consent, decision="allow")
    code = re.search(r'id="code"[^>]*>([^<]+)<', native.text)
    assert code is not None, native.text
    client.log_in(code=code[1], scopes=SCOPES, allow_http=True)
    assert client.app_verify_credentials().name == "Real client"
    assert client.account_verify_credentials().acct == "ada"
    token = client.access_token
    client.revoke_access_token(allow_http=True)
    again = Mastodon(access_token=token, api_base_url=live_server.url, version_check_mode="none")
    with pytest.raises(MastodonUnauthorizedError):
        again.account_verify_credentials()
