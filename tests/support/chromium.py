"""A headless Chromium, driven by the DevTools protocol, for what only a browser can show: scripts and passkeys."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome")
_SECONDS = 60.0
#: Names of keys: the code of the key, and what it types.
_KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "Escape": (27, "")}
#: How often a page is asked whether something is to be seen.
_PAUSE = 0.05
_FOCUSED = """(() => { const style = getComputedStyle(document.activeElement);
    return style.outlineStyle !== 'none' && style.outlineWidth !== '0px'; })()"""
# The middle of an element, once it is in sight; null while there is none, or while something else covers it there.
_PLACE = """(() => {
  const found = document.querySelector(%s);
  if (!found) return null;
  found.scrollIntoView({block: 'center', behavior: 'instant'});
  const box = found.getClientRects()[0];
  if (!box) return null;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const hit = document.elementFromPoint(x, y);
  return found.contains(hit) || hit?.contains(found) ? [x, y] : null;
})()"""


def find_chromium() -> str | None:
    """The browser of this machine, if it has one."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Tab:
    """One tab: it goes to addresses and runs scripts there; `problems` is what its console has reported."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.number = 0
        self.problems: list[str] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of one command of the protocol. Raises RuntimeError for what the browser refuses."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        answer = self._read(lambda message: message.get("id") == self.number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def run(self, script: str) -> Any:
        """The value of an expression in the page, run as if a person had asked for it."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, userGesture=True)
        return answer["result"].get("value")

    def go(self, url: str) -> None:
        """Open an address and wait until its page is there."""
        self.call("Page.navigate", url=url)
        self._read(_is("Page.loadEventFired"))

    def fill(self, **values: str) -> None:
        """Type into the fields with these names."""
        for name, value in values.items():
            self.run(f"document.querySelector('[name={name}]').value = {json.dumps(value)}")

    def press(self, selector: str) -> str:
        """Press a button and wait until the page it leads to is there; the path of that page."""
        self.run(f"document.querySelector({json.dumps(selector)}).click()")
        self._read(_is("Page.frameNavigated"))
        self._read(_is("Page.loadEventFired"))
        return str(self.run("location.pathname"))

    def wait(self, expression: str, seconds: float = _SECONDS) -> Any:
        """The value of an expression, as soon as it is true in this page or in the one that is being opened."""
        deadline = time.monotonic() + seconds
        while True:
            # A page that goes while it is asked answers with an error.
            with contextlib.suppress(RuntimeError):
                if value := self.run(expression):
                    return value
            assert time.monotonic() < deadline, f"not seen on {self.run('location.href')}: {expression}"
            time.sleep(_PAUSE)

    def click(self, selector: str) -> None:
        """Click an element with the mouse, as soon as it is in sight and nothing covers it; needs no script of the page."""
        x, y = self.wait(_PLACE % json.dumps(selector))
        for event in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=event, x=x, y=y, button="left", clickCount=1)

    def type(self, selector: str, text: str) -> None:
        """Replace what stands in a field by a text, typed in."""
        self.click(selector)
        self.run(f"document.querySelector({json.dumps(selector)}).select()")
        self.call("Input.insertText", text=text)

    def attach(self, selector: str, path: Path) -> None:
        """Choose a file in a field for files."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def key(self, name: str) -> None:
        """Press a key of the keyboard: Tab, Enter, Escape or the space bar (" ")."""
        code, text = _KEYS[name]
        options = {"key": name, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **options)
        self.call("Input.dispatchKeyEvent", type="keyUp", **options)

    def letter(self, letter: str) -> None:
        """Press the key of a letter or a sign."""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def tab_to(self, selector: str, presses: int = 100) -> None:
        """Press Tab until an element has the focus. Fails when it never gets it, or when the focus cannot be seen there."""
        for _press in range(presses):
            self.key("Tab")
            if self.run(f"document.activeElement.matches({json.dumps(selector)})"):
                assert self.run(_FOCUSED), f"the focus on {selector} is not to be seen"
                return
        raise AssertionError(f"the Tab key does not lead to {selector}")

    def write(self, selector: str, text: str) -> None:
        """Go to a field by the keyboard and type."""
        self.tab_to(selector)
        self.call("Input.insertText", text=text)

    def enter(self, selector: str) -> str:
        """Go to a link or a button by the keyboard and press Enter; the path of the page it leads to."""
        self.tab_to(selector)
        self.key("Enter")
        self._read(_is("Page.frameNavigated"))
        self._read(_is("Page.loadEventFired"))
        return str(self.run("location.pathname"))

    def _read(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv(timeout=_SECONDS))
            entry = message.get("params", {}).get("entry", {})
            if entry.get("level") == "error" or message.get("method") == "Runtime.exceptionThrown":
                self.problems.append(json.dumps(message["params"]))
            if wanted(message):
                return message


def _is(event: str) -> Callable[[dict[str, Any]], bool]:
    return lambda message: message.get("method") == event


@contextlib.contextmanager
def open_tab(folder: Path) -> Iterator[Tab]:
    """A tab in a browser of its own, whose profile is kept in this folder."""
    browser = find_chromium()
    assert browser is not None
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={folder}"]
    with subprocess.Popen([browser, *options], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stderr is not None
            listening = (re.search(r"ws://([\d.:]+)/\S+", line) for line in process.stderr)
            found = next(match for match in listening if match)
            with connect(found[0], max_size=None) as control:
                target = Tab(control).call("Target.createTarget", url="about:blank")["targetId"]
                with connect(f"ws://{found[1]}/devtools/page/{target}", max_size=None) as socket:
                    tab = Tab(socket)
                    for domain in ("Page", "Runtime", "Log"):
                        tab.call(f"{domain}.enable")
                    yield tab
        finally:
            process.terminate()
            process.communicate(timeout=_SECONDS)
