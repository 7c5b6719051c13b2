"""Tests in Chromium that axe-core finds no fault on any page of the site, and that no page has layout shifts or foreign
requests.
"""

from collections.abc import Iterator
from pathlib import Path
from pprint import pformat
from typing import Any
from urllib.parse import quote

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.test import Client

from accounts.models import Application, User
from tests.factories.accounts import make_user
from tests.factories.statuses import make_poll, make_status
from tests.support.all_pages import all_paths, furnish, signed_in
from tests.support.axe import loaded_from_elsewhere, needs_axe, share_session, show_at, violations
from tests.support.chromium import Tab, open_tab
from tests.support.federation_server import needs_federation
from timelines.models import List

pytestmark = [pytest.mark.verify, needs_federation, pytest.mark.django_db(transaction=True), *needs_axe]
#: Addresses of pages in other states: errors, search results, an unknown user, an unknown application.
_STATES = ("/nothing", "/search?q=ada", "/search?q=tree&type=statuses", "/authorize_interaction?uri=nobody@nowhere.example",
           "/oauth/authorize?client_id=nobody")  # fmt: skip
# Swagger UI, which has its own colours.
_OF_OTHERS = ("/api/docs",)
_WITH_SECOND_FACTOR = ("/auth/second_factor?again", "/auth/second_factor/app/deactivate")
# On the sign-in page the script for passkeys reveals its button; nothing else may move.
_SEEN_SHIFT = 0.01
_SHIFTS = """window.shifted = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({type: 'layout-shift', buffered: true});"""
_TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"


def problems(tab: Tab, url: str, width: int) -> Iterator[Any]:
    """Yield the problems of a page, in the light and the dark theme."""
    show_at(tab, width, "light")
    tab.go(url)
    yield from loaded_from_elsewhere(tab, "/".join(url.split("/")[:3]))
    if (shifted := tab.run("window.shifted")) > _SEEN_SHIFT:
        yield f"shifted by {shifted}"
    if tab.run(_TOO_WIDE):
        yield "wider than the window"
    yield from violations(tab)
    show_at(tab, width, "dark")
    yield from violations(tab, colours_only=True)


@pytest.mark.parametrize("reader", ["visitor", "member"])
@pytest.mark.parametrize("width", [390, 1280])
def test_every_page_is_accessible_without_layout_shifts_or_foreign_requests(
    live_server: Any, settings: Any, tmp_path: Path, reader: str, width: int
) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    settings.MEDIA_ROOT = tmp_path / "media"
    user = make_user("ada", discoverable=True)
    values = furnish(user)
    application = Application.objects.get(client_id=values["client_id"])
    consent = f"/oauth/authorize?client_id={application.client_id}&redirect_uri={quote(application.redirect_uris)}"
    poll = f"/@ada/{values['poll_id']}"
    asked = [
        *all_paths(values),
        poll,
        f"/write?reply_to={values['id']}",
        f"{consent}&response_type=code&scope=read",
        *_STATES,
    ]
    client = signed_in("ada") if reader == "member" else Client()
    with open_tab(tmp_path / "browser") as tab:
        tab.call("Page.addScriptToEvaluateOnNewDocument", source=_SHIFTS)
        wrong, seen = {}, 0
        for path in (path for path in asked if path not in _OF_OTHERS):
            if path == _WITH_SECOND_FACTOR[0]:
                TOTP.activate(user, generate_totp_secret())
            answer = client.get(path, headers={"Accept": "text/html"})
            is_page = answer.headers.get("Content-Type", "").startswith("text/html")
            if is_page and (answer.status_code == 200 or path in _STATES):
                if reader == "member":
                    share_session(tab, live_server.url, client)
                seen += 1
                if found := list(problems(tab, live_server.url + path, width)):
                    wrong[path] = found
    assert not wrong, pformat(wrong)
    assert seen > (30 if reader == "visitor" else 80)


# A script that finds words of the navigation that are broken across lines, and tabs that must be scrolled into view.
_BROKEN = """[...document.querySelectorAll('.side nav li span')].filter(each => each.getClientRects().length).flatMap(each =>
  [...each.textContent.matchAll(/[^ ]+/g)].filter(word => {
    const range = document.createRange(), text = each.firstChild;
    if (!text?.data) return false;
    range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
    return range.getClientRects().length > 1;
  }).map(String)).concat([...document.querySelectorAll('.tabs ul')].filter(each => each.scrollWidth > each.clientWidth)
    .map(each => each.textContent))"""


def test_long_words_of_the_navigation_are_not_broken_and_all_tabs_are_visible_on_a_desktop(
    live_server: Any, settings: Any, tmp_path: Path
) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    settings.MEDIA_ROOT = tmp_path / "media"
    furnish(make_user("ada"))
    User.objects.update(locale="de")
    with open_tab(tmp_path / "browser") as tab:
        share_session(tab, live_server.url, signed_in("ada"))
        for path in ("/", "/notifications", "/@ada"):
            for width in (1024, 1280):
                show_at(tab, width, "light")
                tab.go(live_server.url + path)
                assert tab.run("document.documentElement.lang") == "de"
                assert tab.run(_BROKEN) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_for_the_second_factor_is_accessible(
    live_server: Any, settings: Any, tmp_path: Path, width: int
) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    user = make_user("ada")
    TOTP.activate(user, generate_totp_secret())
    assert Authenticator.objects.filter(user=user).exists()
    with open_tab(tmp_path / "browser") as tab:
        show_at(tab, width, "light")
        tab.go(f"{live_server.url}/auth/sign_in")
        tab.fill(login="ada", password="correct horse")
        assert tab.press("form:not([data-passkey]) [type=submit]") == "/auth/second_factor/sign_in"
        assert violations(tab) == []
        show_at(tab, width, "dark")
        assert violations(tab, colours_only=True) == []


def _readable(live_server: Any, settings: Any, tmp_path: Path) -> User:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_user("ada")


@pytest.mark.parametrize("reader", ["visitor", "member"])
def test_the_page_of_a_reply_opens_at_the_reply_even_without_scripts(
    live_server: Any, settings: Any, tmp_path: Path, reader: str
) -> None:
    ada = _readable(live_server, settings, tmp_path).account
    post = first = make_status(ada, "the first")
    for number in range(12):
        post = make_status(ada, f"reply {number}", reply_to=post)
    with open_tab(tmp_path / "browser") as tab:
        show_at(tab, 390, "light")
        tab.call("Emulation.setScriptExecutionDisabled", value=True)
        if reader == "member":
            share_session(tab, live_server.url, signed_in("ada"))
        tab.go(f"{live_server.url}/@ada/{post.pk}")
        place = "(box => box.top >= 0 && box.bottom <= innerHeight)(document.querySelector('.current').getBoundingClientRect())"
        tab.wait(place)
        tab.go(f"{live_server.url}/@ada/{first.pk}")
        assert tab.run("scrollY") == 0


def test_long_texts_fit_the_screen_of_a_phone(live_server: Any, settings: Any, tmp_path: Path) -> None:
    ada = _readable(live_server, settings, tmp_path)
    List.objects.create(account=ada.account, title="L" * 80)
    poll = make_poll(make_user("bob").account, "W" * 50, "no")
    with open_tab(tmp_path / "browser") as tab:
        share_session(tab, live_server.url, signed_in("ada"))
        show_at(tab, 390, "light")
        tab.go(f"{live_server.url}/lists")
        assert not tab.run(_TOO_WIDE)
        tab.go(f"{live_server.url}/@bob/{poll.status_id}")
        assert (
            tab.run("""(label => label.querySelector('bdi').getBoundingClientRect().top
            - label.getBoundingClientRect().top)(document.querySelector('form.poll label'))""")
            > 4
        )
        tab.go(f"{live_server.url}/#menu")
        edges = tab.run("""[...new Set([...document.querySelectorAll('.more li .icon')].map(
            icon => icon.getBoundingClientRect().left))]""")
        assert len(edges) == 1, "all icons of the menu are in one column"
        show_at(tab, 320, "light")
        tab.go(f"{live_server.url}/notifications")
        assert tab.run("document.querySelector('.bar .opener').getBoundingClientRect().right <= innerWidth")
