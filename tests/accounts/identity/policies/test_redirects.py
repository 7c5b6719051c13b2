"""Tests of the rules for redirect URIs of applications (contract, parameters section 1; security row 46)."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.identity.policies.authorization import (
    OUT_OF_BAND,
    form_action_source,
    redirect_uri_errors,
    split_redirect_uris,
    with_answer,
)

SOURCE = re.compile(r"(?:[a-z][a-z0-9+.-]*:)(?://[a-z0-9._-]+(?::[0-9]{1,5})?)?", re.ASCII)


def test_redirect_uris_may_be_a_list_or_lines_and_keep_their_order() -> None:
    assert split_redirect_uris("a://b\nc://d\r\n a://b ") == ("a://b", "c://d", "a://b")
    assert split_redirect_uris(["a://b", "c://d", "a://b"]) == ("a://b", "c://d", "a://b")
    assert split_redirect_uris(" \n ") == ()


@pytest.mark.parametrize(
    "uri", [OUT_OF_BAND, "x:y", "com.example.app:/path", "https://a.example:8443/p?q=1", "http://[::1]/"]
)
def test_valid_redirect_uris_are_accepted(uri: str) -> None:
    assert not redirect_uri_errors(uri)


@pytest.mark.parametrize(
    "uri",
    ["", "x:", "://x", "a", "/a", "1x:y", "a b://c", "x://y#z", "x://y\n", "JavaScript:x", "data:x", "http:///x", "https://a:b/",
     "https://a.example:99999/", "ü://x", "x://y\0",
     # Security rows 62 and 63: browsers treat a backslash as a slash, and these schemes open local resources.
     "https://bank.example\\@thief.example/", "https:\\\\thief.example", "x://a\\b",
     "file:///etc/passwd", "FILE://x", "blob:https://a.example/1", "view-source:https://a.example/", "chrome://settings",
     "filesystem:https://a.example/x", "about:blank"],
)  # fmt: skip
def test_invalid_redirect_uris_are_refused(uri: str) -> None:
    assert redirect_uri_errors(uri)


@given(st.text(max_size=60))
def test_a_registered_address_can_never_add_a_directive_to_the_policy(rest: str) -> None:
    for start in ("", "https://", "http://a.example", "x:", "com.example.app:/"):
        uri = start + rest
        if not redirect_uri_errors(uri):
            source = form_action_source(uri)
            assert source is None or SOURCE.fullmatch(source), (uri, source)


@given(
    st.text(max_size=40),
    st.sampled_from(["x://y", "x:", "https://a.example/p?q=1", "https://a.example/?", "a://b?c=d&"]),
)
def test_parameters_are_added_to_a_redirect_uri_without_changing_it(state: str, uri: str) -> None:
    called = with_answer(uri, {"code": "abc", "state": state, "none": None})
    assert called.startswith(uri)
    assert "\n" not in called
    query = parse_qs(urlsplit(called).query, keep_blank_values=True)
    assert query["code"] == ["abc"]
    assert query["state"] == [state]
    assert "none" not in query
