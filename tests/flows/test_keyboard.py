"""Everything on the pages can be done by the keyboard alone, and one sees where one is (WCAG 2.2, 2.1.1 and 2.4.7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accounts.models import Account
from tests.support.chromium import find_chromium, open_tab

pytestmark = [
    pytest.mark.verify,
    pytest.mark.timeout(300),
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine"),
]


def test_a_person_signs_up_and_deletes_the_account_by_keyboard(live_server: Any, settings: Any, tmp_path: Path) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    submit, password = "main form [type=submit]", "correct horse"
    with open_tab(tmp_path) as tab:
        tab.go(f"{live_server.url}/auth/sign_up")
        tab.write("[name=username]", "ada")
        tab.write("[name=email]", "ada@example.com")
        tab.write("[name=password]", password)
        tab.tab_to("[name=agreement]")
        tab.key(" ")
        assert tab.enter(submit) == "/"

        tab.tab_to(".skip", presses=1)
        tab.key("Enter")
        assert tab.run("document.querySelector(location.hash) !== null")
        # In a narrow window most pages stand in a menu.
        tab.tab_to('[href="#menu"]')
        tab.key("Enter")
        assert tab.enter('#menu a[href="/settings"]') == "/settings"
        assert tab.enter('a[href="/settings/delete"]') == "/settings/delete"
        tab.write("main [type=password]", "another horse")
        assert tab.enter(submit) == "/settings/delete"
        assert Account.objects.get(username="ada").deleted_at is None
        tab.write("main [type=password]", password)
        assert tab.enter(submit) == "/settings/deleted"
        assert Account.objects.get(username="ada").deleted_at is not None

        tab.go(f"{live_server.url}/auth/sign_in")
        tab.write("[name=login]", "ada")
        tab.write("[name=password]", password)
        assert tab.enter("main form:not([data-passkey]) [type=submit]") == "/auth/disabled"
        # The browser reports the refusals (422) as problems of the network.
        assert [problem for problem in tab.problems if "status of 4" not in problem] == []
