"""Every page for people says what it is to who finds, previews or installs it, and has a heading for who cannot see it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from accounts.models import SiteSetting
from social.api.routing import EndpointPattern
from social.kernel.identity import forget_identity
from social.urls import urlpatterns
from tests.factories.accounts import make_user
from tests.factories.statuses import make_status
from tests.support.federation_server import needs_federation

pytestmark = pytest.mark.django_db
_VALUES = {
    "username": "alice", "name": "media", "key": "x", "uidb36": "x", "code": "x", "day": "2026-01-01", "kind": "tags",
    "origin": "local", "acct": "nobody@far.example",
}  # fmt: skip


def pages(patterns: Iterable[URLPattern | URLResolver]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names of all pages but those of the admin, and what their paths hold."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if pattern.app_name != "admin":
                yield from pages(pattern.url_patterns)
        elif pattern.name and not isinstance(pattern, EndpointPattern):
            yield pattern.name, (*pattern.pattern.converters, *pattern.pattern.regex.groupindex)


def check(path: str, answer: Any, picture: str) -> None:
    """Check one page, whose preview shows a picture of this name."""
    text = answer.content.decode()
    head, _end, body = text.partition("</head>")
    for wanted in (
        '<meta name="description" content="[^"]+">',
        '<meta property="og:title" content="[^"]+">',
        f'<meta property="og:image" content="http://[^"]+/{picture}">',
        '<link rel="icon"',
        '<link rel="manifest"',
        "<title>[^<]{3,}</title>",
    ):
        assert len(re.findall(wanted, head)) >= 1, (path, wanted)
    for once in ('<meta name="description"', '<meta property="og:image"', "<title>"):
        assert head.count(once) == 1, (path, once)
    assert len(re.findall("<h1", body)) == 1, path


@needs_federation
def test_every_page_has_a_description_a_picture_a_manifest_icons_and_one_heading() -> None:
    user = make_user("alice")
    SiteSetting.objects.create(key="site_thumbnail", value="a/of-staff.png")
    forget_identity()
    values = _VALUES | {"id": make_status(user.account, "hello #media").id}
    signed_in, seen = Client(), set()
    signed_in.force_login(user)
    for name, parameters in set(pages(urlpatterns)):
        kwargs = {parameter: values.get(parameter, 1) for parameter in parameters}
        if name == "post_people":
            kwargs["kind"] = "boosts"
        path = reverse(name, kwargs=kwargs)
        for client in (Client(), signed_in):
            answer = client.get(path, headers={"Accept": "text/html"})
            if answer.headers.get("Content-Type", "").startswith("text/html") and answer.status_code not in (301, 302):
                previewed = client is not signed_in and answer.status_code < 400
                check(path, answer, "of-staff.png" if previewed else "(?:of-staff|thumbnail).png")
                seen.add((name, answer.status_code))
    shown = {name for name, status in seen if status == 200}
    assert shown >= {
        "front",
        "profile",
        "profile_tab",
        "post",
        "embed",
        "tag",
        "explore",
        "about",
        "account_login",
        "share",
    }
    assert {status for _name, status in seen} >= {200, 404, 405}
