"""Tests that all pages can be used with the keyboard alone, with a visible focus (WCAG 2.2, 2.1.1 and 2.4.7)."""

from pathlib import Path
from typing import Any

import pytest

from accounts.models import Account
from tests.factories.accounts import make_user
from tests.support.axe import show_at, sign_in
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
        # In a narrow window most links are inside a menu.
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
        # The browser reports refused forms (status 422) as network errors.
        assert [problem for problem in tab.problems if "status of 4" not in problem] == []


_SIDEBAR = "document.getElementById('nav-sidebar').getClientRects().length > 0"


@pytest.mark.parametrize("width", [390, 1279])
def test_staff_open_and_close_the_sidebar_of_the_admin_by_keyboard(
    live_server: Any, settings: Any, tmp_path: Path, width: int
) -> None:
    settings.BASE_URL, settings.STAFF_SECOND_FACTOR = live_server.url, False
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    opener = "button[aria-controls=nav-sidebar][aria-label=Menu][aria-expanded=false]"
    with open_tab(tmp_path) as tab:
        sign_in(tab, live_server.url, make_user("boss", role="Owner"))
        show_at(tab, width, "light")
        tab.go(f"{live_server.url}/admin/")
        assert not tab.run(_SIDEBAR)
        tab.tab_to(opener)
        tab.key("Enter")
        assert tab.wait(f"{_SIDEBAR} && document.activeElement.ariaLabel === 'Close the menu'")
        assert tab.run("document.querySelector('button[aria-expanded=true]') !== null")
        for close in ("Escape", " "):
            tab.key(close)
            assert tab.wait(f"!({_SIDEBAR}) && document.activeElement.matches({opener!r})")
            tab.key(" ")
            tab.wait(f"{_SIDEBAR} && document.activeElement.matches('#nav-sidebar button')")
        assert tab.enter("#nav-sidebar a[href='/admin/accounts/account/']") == "/admin/accounts/account/"


def test_staff_hide_the_sidebar_on_a_desktop_by_keyboard(live_server: Any, settings: Any, tmp_path: Path) -> None:
    settings.BASE_URL, settings.STAFF_SECOND_FACTOR = live_server.url, False
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    with open_tab(tmp_path) as tab:
        sign_in(tab, live_server.url, make_user("boss", role="Owner"))
        show_at(tab, 1280, "light")
        tab.go(f"{live_server.url}/admin/")
        assert tab.run(_SIDEBAR)
        tab.tab_to("button[aria-controls=nav-sidebar][aria-expanded=true]")
        tab.key("Enter")
        tab.wait(f"!({_SIDEBAR}) && document.activeElement.matches('[aria-expanded=false]')")
