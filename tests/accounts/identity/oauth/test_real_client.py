"""Tests that Mastodon.py registers, authorizes and signs in, with a browser that only handles HTML forms."""

import re
from typing import Any

import pytest
import requests
from mastodon import Mastodon, MastodonUnauthorizedError

from tests.factories.accounts import make_user
from tests.support.browser import submit

SCOPES = ["read", "write", "follow", "push", "profile"]


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
    sign_in = browser.get(url, timeout=60)
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
