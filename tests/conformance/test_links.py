"""Tests that no page and no document of this server links to an address of this server that does not exist."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

import pytest
from django.conf import settings as django_settings
from django.test import Client

from accounts.models import User
from accounts.services.audit import write_setting
from moderation.models import InstanceRule
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import make_media, make_remote_status, make_status
from tests.support.client import Api, signed_in
from tests.support.federation_server import needs_federation

pytestmark = pytest.mark.django_db
_LIMIT = 400
# A page in another language, or an admin list in another order, contains no additional links.
_VARIANT = re.compile(r"[?&]lang=|^/admin/[^?]*\?")


class Addresses(HTMLParser):
    """A parser that collects the addresses that a page links to or loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


@pytest.fixture
def world(settings: Any, tmp_path: Path) -> User:
    """A server with content on every page."""
    settings.MEDIA_ROOT = tmp_path
    boss = make_user("boss", role="Owner", note_html='<p>I run <a href="https://elsewhere.example/">this</a></p>')
    write_setting("site_contact_username", "boss")
    write_setting("site_contact_email", "boss@example.com")
    InstanceRule.objects.create(text="Be kind")
    make_status(boss.account, "Hello #world and @boss", media=[make_media(boss.account, description="A picture")])
    make_remote_status(make_remote("zoe"), "<p>hello</p>", url="https://remote.example/@zoe/1")
    return boss


def ours(address: str, page: str) -> str | None:
    """Return the path of an address of this server; None for any other address."""
    absolute = urldefrag(urljoin(f"{django_settings.BASE_URL}{page}", address))[0]
    return (
        absolute.removeprefix(django_settings.BASE_URL) or "/"
        if absolute.startswith(django_settings.BASE_URL)
        else None
    )


def opened(client: Client, path: str) -> tuple[str, Any]:
    """Follow the redirects of a path, and return the last path and its response."""
    for _redirect in range(5):
        answer = client.get(path)
        if answer.status_code not in (301, 302, 303, 307, 308):
            break
        path = ours(answer["Location"], path) or ""
    return path, answer


def broken(client: Client, *starts: str) -> dict[str, str]:
    """Follow every link of every page, and return the paths that cannot be opened, with the page that links to them."""
    waiting = dict.fromkeys(starts, "the address bar")
    seen: set[str] = set()
    wrong: dict[str, str] = {}
    while waiting:
        path, source = waiting.popitem()
        seen.add(path)
        assert len(seen) < _LIMIT, "the crawl does not end"
        page, answer = opened(client, path)
        if answer.status_code != 200:
            wrong[path] = f"{source}: {answer.status_code}"
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            for address in Addresses(answer.content.decode()).found:
                found = ours(address, page)
                if found is not None and found not in seen and not _VARIANT.search(found):
                    waiting.setdefault(found, page)
    return wrong


def strings(value: Any) -> Iterator[str]:
    """Yield every string in a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


STARTS = ("/", "/auth/sign_in", "/auth/sign_up", "/auth/password/reset", "/@boss", "/favicon.ico", "/tags/world")


# The pages of accounts are served by federation, because they share their addresses with ActivityPub documents.
@needs_federation
def test_no_link_of_a_page_is_broken(world: User) -> None:
    assert broken(Client(), *STARTS, "/nothing/here") == {"/nothing/here": "the address bar: 404"}


@pytest.mark.verify
@needs_federation
def test_no_link_of_a_page_is_broken_for_a_signed_in_user(world: User, settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    client = signed_in(world)
    # The admin lists have a URL for every ordering and filter.
    assert broken(client, *STARTS, "/admin/") == {}


@needs_federation
@pytest.mark.parametrize("path", ["/api/v1/instance", "/api/v2/instance"])
def test_no_address_of_the_instance_documents_is_broken(world: User, path: str) -> None:
    addresses = {ours(text, "/") for text in strings(Api().get(path).json()) if text.startswith("http")} - {None}
    assert f"{django_settings.STATIC_URL}thumbnail.png" in addresses
    statuses = {address: opened(Client(), str(address))[1].status_code for address in addresses}
    assert set(statuses.values()) == {200}, statuses


def test_every_instance_document_links_to_about_and_privacy(world: User) -> None:
    urls = Api().get("/api/v2/instance").json()["configuration"]["urls"]
    for name in ("about", "privacy_policy"):
        answer = Client().get(urls[name].removeprefix(django_settings.BASE_URL))
        assert (answer.status_code, answer["Content-Type"]) == (200, "text/html; charset=utf-8")


@needs_federation
def test_posts_link_to_the_pages_of_their_hashtags_and_mentioned_accounts(world: User) -> None:
    content = Api().get("/api/v1/accounts/lookup?acct=boss").json()
    post = Api().get(f"/api/v1/accounts/{content['id']}/statuses").json()[0]
    paths = [ours(address, "/") for address in Addresses(post["content"]).found]
    assert paths == ["/tags/world", "/@boss"]
    assert [Client().get(str(path)).status_code for path in paths] == [200, 200]
