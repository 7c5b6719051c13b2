"""Tests that every request from a browser to a page gets a page or a 303, and that every page has a place in the navigation."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, resolve, reverse

from accounts.models import User
from social.api.middleware import is_sessionless
from social.api.routing import EndpointPattern
from social.pages.errors import refused
from social.pages.navigation import ENTRIES
from social.pages.views import page
from social.urls import urlpatterns
from tests.factories.accounts import make_user
from tests.factories.statuses import make_status
from tests.support.federation_server import needs_federation

pytestmark = pytest.mark.django_db
_VALUES: dict[str, Any] = {
    "username": "alice", "name": "media", "key": "x", "uidb36": "x", "code": "x", "day": "2026-01-01", "kind": "boosts",
    "origin": "local", "acct": "nobody@far.example", "path": "x",
}  # fmt: skip
_BROWSER = {"accept": "text/html,*/*", "accept-language": "de-AT,de;q=0.9"}


def pages(patterns: Iterable[URLPattern | URLResolver]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names of all pages except those of the admin, and the parameters of their paths."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if pattern.app_name != "admin":
                yield from pages(pattern.url_patterns)
        elif pattern.name and not isinstance(pattern, EndpointPattern):
            yield pattern.name, (*pattern.pattern.converters, *pattern.pattern.regex.groupindex)


def addresses(**values: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and path of every page, except pages of the admin and pages that are also ActivityPub documents."""
    for name, parameters in sorted(dict(pages(urlpatterns)).items()):
        found = {parameter: (_VALUES | values).get(parameter, 1) for parameter in parameters}
        if name == "explore":
            found["kind"] = "tags"
        path = reverse(name, kwargs=found)
        is_wrapped = resolve(path).func.__code__ is page(lambda request: HttpResponse()).__code__
        if is_wrapped and not is_sessionless(path):
            yield name, path


def browser_of(user: User) -> Client:
    browser = Client(raise_request_exception=False)
    browser.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return browser


@needs_federation
def test_every_form_redirects_with_303() -> None:
    user = make_user("alice")
    post = make_status(user.account, "hello")
    redirected = set()
    for name, path in addresses(id=post.id):
        for browser in (browser_of(user), Client()):
            answer = browser.post(path, {"title": "t", "name": "n", "text": "t", "uri": "alice"})
            if answer.get("Location", "").startswith("/auth/reauthenticate"):
                continue  # allauth redirects, and then shows the form again
            if name == "oauth_authorize":
                continue  # 302 as in Mastodon, because applications expect it
            assert answer.status_code not in (301, 302, 307, 308), (name, answer.status_code, answer["Location"])
            if answer.status_code == 303:
                redirected.add(name)
    assert len(redirected) > 40


def is_page(answer: Any) -> bool:
    """Return whether a response is a page with a heading and a link to the front page."""
    text = answer.content.decode()
    return answer["Content-Type"].startswith("text/html") and "<h1>" in text and 'href="/"' in text


@needs_federation
def test_a_refused_form_gets_a_page_as_response() -> None:
    user = make_user("alice")
    browser, strict = browser_of(user), Client(enforce_csrf_checks=True)
    fields = "&".join(f"f{number}=1" for number in range(2001))
    number = 0
    for name, path in addresses(id=make_status(user.account, "hello").id):
        kind = "application/x-www-form-urlencoded"
        for answer in (strict.post(path), browser.post(path, fields, kind), browser.generic("BREW", path)):
            if answer.status_code >= 400:
                number += 1
                assert answer.status_code in (400, 403, 404, 405), (name, answer.status_code)
                assert is_page(answer), (name, answer.status_code, answer.content[:300])
        for status in (400, 408, 413, 429, 431, 500, 503):
            assert refused(status, path, _BROWSER) is not None, name
    assert number > 80
    assert is_page(browser.get("/nothing/here"))


def test_a_request_that_the_web_server_refuses_is_answered_in_the_language_of_the_browser() -> None:
    headers, body = refused(413, "/write", _BROWSER) or ([], b"")
    assert dict(headers)["content-type"] == "text/html; charset=utf-8"
    assert "content-security-policy" in dict(headers)
    text = body.decode()
    assert '<html lang="de"' in text
    assert text.count("<h1>") == 1
    for status, sentence in ((413, "smaller files"), (408, "in time"), (429, "too many times"), (503, "try again")):
        page = refused(status, "/write", {"accept": "text/html", "accept-language": "en"})
        assert page is not None
        assert sentence in page[1].decode()
    assert refused(413, "/api/v1/statuses", _BROWSER) is None
    assert refused(413, "/write", {"accept": "application/json"}) is None


def test_every_page_is_marked_as_current_in_the_navigation() -> None:
    parameters = dict(pages(urlpatterns))
    for name in {name for entry in ENTRIES for name in (entry.url_name, *entry.steps)} - {"public_timeline", "explore"}:
        path = reverse(name, kwargs={each: _VALUES.get(each, 1) for each in parameters[name]})
        assert resolve(path).url_name == name, f"{path} is not the page {name} for the navigation"
