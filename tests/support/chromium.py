"""A headless Chromium, controlled by the DevTools protocol, for tests of scripts and passkeys."""

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
#: Names of keys, with their codes and the characters that they type.
_KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "Escape": (27, "")}
#: The pause between two checks of a page, in seconds.
_PAUSE = 0.05
_FOCUSED = """(() => { const style = getComputedStyle(document.activeElement);
    return style.outlineStyle !== 'none' && style.outlineWidth !== '0px'; })()"""
# The centre of an element if it is visible there; null if there is no element, or another one covers it.
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
    """Return the path of this machine's browser, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Tab:
    """A tab that opens addresses and runs scripts; `problems` holds the errors of its console."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.number = 0
        self.problems: list[str] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the result of a protocol command; raise RuntimeError if the browser refuses it."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        answer = self._read(lambda message: message.get("id") == self.number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page, evaluated as a user gesture."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, userGesture=True)
        return answer["result"].get("value")

    def go(self, url: str) -> None:
        """Open an address and wait until its page is loaded."""
        self.call("Page.navigate", url=url)
        self._read(_is("Page.loadEventFired"))

    def fill(self, **values: str) -> None:
        """Set the values of the fields with these names."""
        for name, value in values.items():
            self.run(f"document.querySelector('[name={name}]').value = {json.dumps(value)}")

    def press(self, selector: str) -> str:
        """Press a button, wait until the next page is loaded, and return its path."""
        self.run(f"document.querySelector({json.dumps(selector)}).click()")
        self._read(_is("Page.frameNavigated"))
        self._read(_is("Page.loadEventFired"))
        return str(self.run("location.pathname"))

    def wait(self, expression: str, seconds: float = _SECONDS) -> Any:
        """Return the value of an expression as soon as it is true, in this page or in the next one."""
        deadline = time.monotonic() + seconds
        while True:
            # An unloading page responds with an error.
            with contextlib.suppress(RuntimeError):
                if value := self.run(expression):
                    return value
            assert time.monotonic() < deadline, f"not seen on {self.run('location.href')}: {expression}"
            time.sleep(_PAUSE)

    def click(self, selector: str) -> None:
        """Click an element with the mouse as soon as it is visible and uncovered; this needs no script of the page."""
        x, y = self.wait(_PLACE % json.dumps(selector))
        for event in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=event, x=x, y=y, button="left", clickCount=1)

    def type(self, selector: str, text: str) -> None:
        """Replace the value of a field by typing a text."""
        self.click(selector)
        self.run(f"document.querySelector({json.dumps(selector)}).select()")
        self.call("Input.insertText", text=text)

    def attach(self, selector: str, path: Path) -> None:
        """Choose a file in a file field."""
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
        """Press the key of a letter or symbol."""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def tab_to(self, selector: str, presses: int = 100) -> None:
        """Press Tab until an element has the focus; fail if the element never gets the focus, or if the focus is not
        visible.
        """
        for _press in range(presses):
            self.key("Tab")
            if self.run(f"document.activeElement.matches({json.dumps(selector)})"):
                assert self.run(_FOCUSED), f"the focus on {selector} is not visible"
                return
        raise AssertionError(f"the Tab key does not lead to {selector}")

    def write(self, selector: str, text: str) -> None:
        """Move the focus to a field with the keyboard, and type."""
        self.tab_to(selector)
        self.call("Input.insertText", text=text)

    def enter(self, selector: str) -> str:
        """Move the focus to a link or a button with the keyboard, press Enter, and return the path of the next page."""
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
    """Open a tab in a new browser, whose profile is in this folder."""
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
