"""Tests of the names of browsers and systems, as derived from user agents for the list of sessions."""

import pytest

from accounts.identity.policies.browsers import Browser, browser_of

_WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
_LINUX = f"Mozilla/5.0 (X11; Linux x86_64) {_WEBKIT} Chrome/150.0.0.0 Safari/537.36"


@pytest.mark.parametrize(
    ("user_agent", "name", "system"),
    [
        (_LINUX, "Chrome", "Linux"),
        (_LINUX.replace("Chrome", "HeadlessChrome"), "Chromium", "Linux"),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_WEBKIT} Chrome/149.0 Safari/537.36 Edg/149.0",
            "Edge",
            "Windows",
        ),
        (
            f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {_WEBKIT} Chrome/149.0 Safari/537.36 OPR/120.0",
            "Opera",
            "macOS",
        ),
        ("Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0", "Firefox", "Linux"),
        ("Mozilla/5.0 (Android 15; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0", "Firefox", "Android"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
            "Version/18.6 Mobile/15E148 Safari/604.1",
            "Safari",
            "iOS",
        ),
        (
            "Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/149.0 "
            "Mobile/15E148 Safari/604.1",
            "Chrome",
            "iPadOS",
        ),
        (
            f"Mozilla/5.0 (Linux; Android 14; SM-S911B) {_WEBKIT} SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36",
            "Samsung Internet",
            "Android",
        ),
        (f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {_WEBKIT} Chrome/149.0 Safari/537.36", "Chrome", "ChromeOS"),
        ("curl/8.5.0", "curl", ""),
        ("Mozilla/5.0", "", ""),
        ("", "", ""),
        ("<script>alert(1)</script>", "", ""),
        ("\u202eevil", "", ""),
    ],
)
def test_a_browser_and_its_system_are_named(user_agent: str, name: str, system: str) -> None:
    assert browser_of(user_agent) == Browser(name, system)


@pytest.mark.parametrize(
    ("brands", "name"),
    [
        ('"Chromium";v="150", "Not=A?Brand";v="24"', "Chromium"),
        ('"Not)A;Brand";v="8", "Chromium";v="138", "Google Chrome";v="138"', "Chrome"),
        ('"Not A(Brand";v="8", "Chromium";v="149", "Microsoft Edge";v="149"', "Edge"),
        ('"Brave";v="149", "Chromium";v="149", "Not A Brand";v="24"', "Brave"),
        ("nonsense", "Chrome"),
    ],
)
def test_browsers_that_send_the_same_user_agent_are_distinguished_by_their_brands(brands: str, name: str) -> None:
    assert browser_of(_LINUX, brands) == Browser(name, "Linux")
