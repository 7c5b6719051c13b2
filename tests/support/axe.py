"""Checks pages in Chromium with axe-core; the environment variable AXE_CORE names its script (docs/CONTRIBUTING.md)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
from tests.support.chromium import Tab, find_chromium

#: The path of axe.min.js, of the npm package axe-core.
AXE = Path(os.environ.get("AXE_CORE") or "axe.min.js")
needs_axe = [
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine"),
    pytest.mark.skipif(not AXE.is_file(), reason="AXE_CORE does not name the script of axe-core"),
]
# The rule about the size of click targets is off by default.
_EVERYTHING = {"rules": {"target-size": {"enabled": True}}}
_COLOURS = {"runOnly": ["color-contrast"]}
# Wait until transitions of colours have ended, so that no intermediate colour is measured.
_VIOLATIONS = """(async () => {
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  await Promise.allSettled(document.getAnimations().map(each => each.finished));
  const found = await axe.run(%s);
  return JSON.stringify(found.violations.map(each => [each.id, each.nodes[0].html, each.nodes[0].failureSummary]));
})()"""
_LOADED = "JSON.stringify(performance.getEntriesByType('resource').map(each => each.name))"


def show_at(tab: Tab, width: int, theme: str) -> None:
    """Set the width of the window, 844 pixels high, and the preferred theme."""
    tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
    tab.call("Emulation.setDeviceMetricsOverride", **size)


def violations(tab: Tab, *, colours_only: bool = False) -> list[Any]:
    """Return the violated rules of axe-core, each with its first element.

    With `colours_only` only colours are checked, which is enough for a page that was checked in another theme.
    """
    tab.run(f"window.axe || (() => {{ {AXE.read_text()}; }})(); 0")
    script = _VIOLATIONS % json.dumps(_COLOURS if colours_only else _EVERYTHING)
    answer = tab.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
    found: list[Any] = json.loads(answer["result"]["value"])
    return found


def loaded_from_elsewhere(tab: Tab, site: str) -> list[str]:
    """Return the addresses on other hosts that the page has requested."""
    return [name for name in json.loads(tab.run(_LOADED)) if not name.startswith(site)]


def sign_in(tab: Tab, url: str, user: User) -> None:
    """Give the browser a session of the user."""
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    share_session(tab, url, client)


def share_session(tab: Tab, url: str, client: Client) -> None:
    """Give the browser the session of a client."""
    name = settings.SESSION_COOKIE_NAME
    tab.call("Network.setCookie", url=url, name=name, value=client.cookies[name].value, path="/")
