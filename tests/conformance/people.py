"""A user with a client program, and functions that follow the Link headers of lists, for the tests of numbered rules."""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from accounts.models import Account, User
from tests.factories.accounts import ALL_SCOPES, make_token, make_user
from tests.support.client import Api
from tests.support.work import work

_LINK = re.compile(r'<([^>]+)>; rel="(next|prev)"')


@dataclass
class Person:
    """A local user, whose actions are HTTP requests."""

    username: str
    scopes: str = ALL_SCOPES
    user: User = field(init=False)
    api: Api = field(init=False)

    def __post_init__(self) -> None:
        self.user = make_user(self.username)
        self.api = Api(make_token(self.user, self.scopes))

    @property
    def account(self) -> Account:
        """Return the current row of the account."""
        return Account.objects.get(id=self.user.account_id)

    @property
    def id(self) -> str:
        """Return the account's id as clients get it."""
        return str(self.user.account_id)

    def post(self, text: str = "hello", **more: Any) -> dict[str, Any]:
        """Publish a post, run all jobs, and return the post."""
        answer = self.api.post("/api/v1/statuses", {"status": text, **more})
        assert answer.status_code == 200, answer.content
        work()
        body: dict[str, Any] = answer.json()
        return body

    def do(self, path: str, data: Any = None) -> dict[str, Any]:
        """Send `POST /api/v1/PATH`, which must return 200, run all jobs, and return the body."""
        answer = self.api.post(f"/api/v1/{path}", data)
        assert answer.status_code == 200, answer.content
        work()
        body: dict[str, Any] = answer.json()
        return body

    def read(self, path: str, **query: Any) -> Any:
        """Send `GET /api/v1/PATH`, which must return 200, and return the body."""
        answer = self.api.get(f"/api/v1/{path}", query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def ids(self, path: str, **query: Any) -> list[str]:
        return [item["id"] for item in self.read(path, **query)]


def links(answer: Any) -> dict[str, str]:
    """Return the addresses in the Link header, keyed by relation, in the order of the header."""
    return {name: url for url, name in _LINK.findall(answer.headers.get("Link", ""))}


def here(url: str) -> str:
    """Return an absolute address of this server without scheme and host."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def walk(api: Api, path: str, rel: str = "next", pages: int = 20) -> list[Any]:
    """Return all items of a page and of the pages after it, by following the links with this relation."""
    items: list[Any] = []
    while path and pages:
        answer = api.get(path)
        assert answer.status_code == 200, answer.content
        items += answer.json()
        found = links(answer).get(rel)
        path, pages = here(found) if found else "", pages - 1
    assert pages, "the links form a loop"
    return items
