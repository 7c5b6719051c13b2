"""Finds the names of browsers and of their operating systems in request headers."""

import re
from dataclasses import dataclass
from typing import Final

# The first match counts, because nearly every browser also sends the names of other browsers, for compatibility.
_BROWSERS: Final = (
    ("Edge", re.compile(r"\bEdg(?:e|A|iOS)?/")),
    ("Opera", re.compile(r"\b(?:OPR|OPT|Opera)/")),
    ("Vivaldi", re.compile(r"\bVivaldi/")),
    ("Yandex Browser", re.compile(r"\bYaBrowser/")),
    ("Samsung Internet", re.compile(r"\bSamsungBrowser/")),
    ("DuckDuckGo", re.compile(r"\b(?:DuckDuckGo|Ddg)/")),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS|Focus)/")),
    ("Chromium", re.compile(r"\b(?:HeadlessChrome|Chromium)/")),
    ("Chrome", re.compile(r"\b(?:Chrome|CriOS)/")),
    ("Safari", re.compile(r"\bVersion/[\d.]+ (?:Mobile/\w+ )?Safari/")),
)
_SYSTEMS: Final = (
    ("Android", re.compile(r"\bAndroid\b")),
    ("iPadOS", re.compile(r"\biPad\b")),
    ("iOS", re.compile(r"\biP(?:hone|od)\b")),
    ("ChromeOS", re.compile(r"\bCrOS\b")),
    ("Windows", re.compile(r"\bWindows\b")),
    ("macOS", re.compile(r"\bMac(?:intosh|OS)?\b")),
    ("Linux", re.compile(r"\bLinux\b")),
    ("BSD", re.compile(r"\b(?:Free|Open|Net)BSD\b")),
)
# `"Chromium";v="150", "Google Chrome";v="150", "Not=A?Brand";v="24"` (User-Agent Client Hints, section 3.1).
_BRAND: Final = re.compile(r'"([A-Za-z][A-Za-z ]{1,30})";\s*v="')
_BRAND_NAMES: Final = {"Google Chrome": "Chrome", "Microsoft Edge": "Edge"}
_PROGRAM: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]{1,30}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Browser:
    """Names of a browser and of the system that it runs on; empty if unknown."""

    name: str
    system: str


def browser_of(user_agent: str, brands: str = "") -> Browser:
    """Return the browser or other program that the headers `User-Agent` and `Sec-CH-UA` (`brands`) name."""
    system = next((name for name, pattern in _SYSTEMS if pattern.search(user_agent)), "")
    return Browser(_brand(brands) or _name(user_agent), system)


def _brand(brands: str) -> str:
    names = [name for name in _BRAND.findall(brands) if not name.startswith("Not")]
    own = [name for name in names if name != "Chromium"]
    return _BRAND_NAMES.get(own[0], own[0]) if own else next(iter(names), "")


def _name(user_agent: str) -> str:
    browser = next((name for name, pattern in _BROWSERS if pattern.search(user_agent)), "")
    if browser or user_agent.startswith("Mozilla/"):
        return browser
    program = _PROGRAM.match(user_agent)
    return program[0] if program else ""
