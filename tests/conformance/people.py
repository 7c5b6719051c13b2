"""Somebody with a client program, and how a list is followed by its links, as the numbered tests need them."""

from __future__ import annotations

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
    """A local user who acts over HTTP only."""

    username: str
    scopes: str = ALL_SCOPES
    user: User = field(init=False)
    api: Api = field(init=False)

    def __post_init__(self) -> None:
        self.user = make_user(self.username)
        self.api = Api(make_token(self.user, self.scopes))

    @property
    def account(self) -> Account:
        """The account's row as it is now."""
        return Account.objects.get(id=self.user.account_id)

    @property
    def id(self) -> str:
        """The account's id as clients read it."""
        return str(self.user.account_id)

    def post(self, text: str = "hello", **more: Any) -> dict[str, Any]:
        """Publish, and run all reactions."""
        answer = self.api.post("/api/v1/statuses", {"status": text, **more})
        assert answer.status_code == 200, answer.content
        work()
        body: dict[str, Any] = answer.json()
        return body

    def do(self, path: str, data: Any = None) -> dict[str, Any]:
        """`POST /api/v1/PATH`, answered 200, with its consequences."""
        answer = self.api.post(f"/api/v1/{path}", data)
        assert answer.status_code == 200, answer.content
        work()
        body: dict[str, Any] = answer.json()
        return body

    def read(self, path: str, **query: Any) -> Any:
        """`GET /api/v1/PATH`, answered 200."""
        answer = self.api.get(f"/api/v1/{path}", query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def ids(self, path: str, **query: Any) -> list[str]:
        """The ids of a list."""
        return [item["id"] for item in self.read(path, **query)]


def links(answer: Any) -> dict[str, str]:
    """The addresses of an answer's Link header by their relation, in the order they stand in."""
    return {name: url for url, name in _LINK.findall(answer.headers.get("Link", ""))}


def here(url: str) -> str:
    """An absolute address of this server without its scheme and host."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def walk(api: Api, path: str, rel: str = "next", pages: int = 20) -> list[Any]:
    """Every item from a page on, following one relation to the end."""
    items: list[Any] = []
    while path and pages:
        answer = api.get(path)
        assert answer.status_code == 200, answer.content
        items += answer.json()
        found = links(answer).get(rel)
        path, pages = here(found) if found else "", pages - 1
    assert pages, "the links lead in a circle"
    return items
