"""Pages of the site in Chromium: accessible by axe-core, still while they load, and asking no other server."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.factories.accounts import make_user
from tests.factories.statuses import make_media, make_poll, make_status
from tests.support.chromium import Tab, find_chromium, open_tab
from tests.support.federation_server import needs_federation

#: The path of axe.min.js, of the npm package axe-core.
AXE = Path(os.environ.get("AXE_CORE") or "axe.min.js")
pytestmark = [
    pytest.mark.verify,
    needs_federation,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine"),
    pytest.mark.skipif(not AXE.is_file(), reason="AXE_CORE does not name the script of axe-core"),
]
OPEN = ("/", "/about", "/privacy-policy", "/explore", "/explore/people", "/public", "/tags/tree", "/@ada", "/@ada/media",
        "/@ada/with_replies", "/@ada/followers", "/@ada/follow", "/auth/sign_in", "/auth/sign_up", "/auth/password/reset",
        "/nothing")  # fmt: skip
OWN = ("/", "/settings", "/settings/profile", "/settings/preferences", "/auth/second_factor", "/auth/sessions",
       "/auth/password", "/settings/imports", "/settings/export", "/settings/delete", "/share")  # fmt: skip
# The script of passkeys reveals its button on the sign-in page; everything else is where it stays.
_SEEN_SHIFT = 0.01
_SHIFTS = """window.shifted = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({type: 'layout-shift', buffered: true});"""
_VIOLATIONS = "axe.run().then(found => JSON.stringify(found.violations.map(each => [each.id, each.nodes[0].html])))"
_LOADED = "JSON.stringify(performance.getEntriesByType('resource').map(each => each.name))"


def problems(tab: Tab, url: str) -> list[Any]:
    """What is wrong with a page."""
    tab.go(url)
    site = "/".join(url.split("/")[:3])
    loaded: list[Any] = [name for name in json.loads(tab.run(_LOADED)) if not name.startswith(site)]
    shifted = tab.run("window.shifted")
    tab.run(AXE.read_text() + "; 0")
    answer = tab.call("Runtime.evaluate", expression=_VIOLATIONS, awaitPromise=True, returnByValue=True)
    return [
        *loaded,
        *([f"shifted by {shifted}"] if shifted > _SEEN_SHIFT else []),
        *json.loads(answer["result"]["value"]),
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_accessible_still_and_ask_no_other_server(
    live_server: Any, settings: Any, tmp_path: Path, theme: str, width: int
) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    settings.MEDIA_ROOT = tmp_path / "media"
    account = make_user("ada", discoverable=True).account
    status = make_status(account, "one #tree", media=[make_media(account, "A tree"), make_media(account)])
    make_status(account, "two", spoiler_text="careful", sensitive=True, media=[make_media(account, "A bee")])
    poll = make_poll(account, "yes", "no")
    posts = [f"/@ada/{number}{end}" for number in (status.id, poll.status_id) for end in ("", "/embed", "/interact")]
    with open_tab(tmp_path / "browser") as tab:
        tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
        tab.call("Emulation.setDeviceMetricsOverride", **size)
        tab.call("Page.addScriptToEvaluateOnNewDocument", source=_SHIFTS)
        wrong = {path: found for path in (*OPEN, *posts) if (found := problems(tab, live_server.url + path))}
        tab.go(f"{live_server.url}/auth/sign_in")
        tab.fill(login="ada", password="correct horse")
        assert tab.press("form:not([data-passkey]) [type=submit]") == "/"
        wrong |= {f"own {path}": found for path in OWN if (found := problems(tab, live_server.url + path))}
    assert wrong == {}
