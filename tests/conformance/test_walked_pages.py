"""Tests that walking any list by cursor shows each item once and in order, while posts and relations change.

The lists are walked in both directions (contract, behaviours section 2; clients.md, traps 9-12).

The endpoints come from the declarations of the viewsets: a new one fails here until `ITEMS` or `TIMELINES` says how its items
are added and removed. Lists that page by `offset` are not tested here, because an offset counts from the top of a list, which
changes; the battery tests that they show each item once while nothing changes.
"""

import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from social.api.pagination import ByCursor, read_cursor
from social.api.routing import endpoints
from social.kernel import redis
from social.kernel.cursors import Cursor
from tests.support.access_checks import ask, fill, find_endpoint
from tests.support.callers import Callers
from tests.support.paged_items import ITEMS, Items
from tests.support.timeline_items import TIMELINES
from timelines.stores import feed

pytestmark = pytest.mark.django_db
_ALL = {**ITEMS, **TIMELINES}
_PAGED = sorted(
    f"{method.upper()} {pattern.path}"
    for pattern in endpoints(importlib.import_module("social.urls").urlpatterns)
    for method in pattern.actions
    if isinstance(pattern.declared(method).paging, ByCursor)
)
_SIZE = 9
_PAGES = 40

#: An event between two pages: its kind, and the number of the item or account.
Event = tuple[str, int]
EVENTS = st.lists(
    st.lists(st.tuples(st.sampled_from(["add", "drop", "drop shown", "disturb"]), st.integers(0, 34)), max_size=3),
    min_size=3,
    max_size=6,
)


def test_every_list_that_pages_by_cursor_is_tested() -> None:
    assert sorted(_ALL) == _PAGED


@dataclass
class Walk:
    """A walk over the pages of a list."""

    endpoint: str
    items: Items
    upwards: bool
    size: int
    seen: list[tuple[str, int]] = field(default_factory=list)
    stayed: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.stayed = set(self.items.here)

    @property
    def paging(self) -> ByCursor:
        """Return the paging that the endpoint declares."""
        declared = find_endpoint(self.endpoint).declared("get").paging
        assert isinstance(declared, ByCursor)
        return declared

    def run(self, events: Sequence[Sequence[Event]], token: str) -> None:
        """Request page after page, let the next group of events happen before each page but the first, and check the items."""
        path = fill(self.endpoint.partition(" ")[2], self.items.ids)
        params: dict[str, Any] = {**self.items.params, "limit": self.size}
        response = ask("get", path, params | ({"min_id": 0} if self.upwards else {}), token=token)
        for number in range(_PAGES):
            assert response.status_code == 200, response.content
            self._look(self.items.listed(response.json()))
            following = links(response).get("prev" if self.upwards else "next")
            if following is None:
                break
            if self.upwards:
                # the list of followed hashtags accepts both parameters, but its links use only one
                following = following.replace("since_id=", "min_id=")
            if number < len(events):
                for event in events[number]:
                    self._happen(*event)
            response = ask("get", following, token=token)
        else:
            raise AssertionError("the links to further pages have no end")
        self._check()

    def _look(self, page: list[Any]) -> None:
        assert len(page) <= self.size
        names = [str(self.items.identify(item)) for item in page]
        gone = [name for name in names if name not in self.items.here]
        assert not gone, f"{gone} are shown after their removal"
        self.seen += [(name, self.items.here[name]) for name in (reversed(names) if self.upwards else names)]

    def _happen(self, kind: str, number: int) -> None:
        before = dict(self.items.here)
        last = max((key for _name, key in self.seen), default=0)
        if kind == "add":
            self.items.add()
        elif kind == "disturb":
            self.items.disturb(number)
        elif self.items.here:
            shown = [name for name, _key in self.seen if name in self.items.here]
            # A cursor must still work when the item at the end of its page is deleted.
            self.items.drop(shown[-1] if kind == "drop shown" and shown else sorted(before)[number % len(before)])
        for name, key in self.items.here.items():
            if before.get(name) != key:
                self.stayed.discard(name)  # the item was added, or moved to a different place
                if self.upwards and key > last:
                    self.stayed.add(name)
        self.stayed &= set(self.items.here)

    def _check(self) -> None:
        keys = [key for _name, key in self.seen]
        assert keys == sorted(set(keys), reverse=not self.upwards), f"out of order, or shown twice: {self.seen}"
        assert self.stayed <= {name for name, _key in self.seen}, "an item was left out"


def links(response: Any) -> dict[str, str]:
    """Return the addresses in the `Link` header, keyed by relation."""
    found = re.findall(r'<([^>]+)>; rel="([^"]+)"', response.headers.get("Link", ""))
    return {rel: f"{urlsplit(url).path}?{urlsplit(url).query}" for url, rel in found}


def walk_both_ways(endpoint: str, events: Sequence[Sequence[Event]], size: int) -> None:
    """Walk a list forwards, then backwards if it has links back, each time with all the events."""
    # The walk cannot run in a nested transaction, because the outbox cannot be drained inside a transaction.
    before = transaction.savepoint()
    try:
        callers = Callers()
        items = _ALL[endpoint](callers)
        for _number in range(_SIZE):
            items.add()
        token = items.token or callers.user_token(*find_endpoint(endpoint).declared("get").access.scopes)
        walk = Walk(endpoint, items, upwards=False, size=size)
        walk.run(events, token)
        if walk.paging.reads_min_id:
            Walk(endpoint, items, upwards=True, size=size).run(events, token)
    finally:
        transaction.set_rollback(False)  # also necessary after a database error
        transaction.savepoint_rollback(before)
    for role in ("cache", "feeds"):
        redis.client(role).flushdb()


@pytest.fixture(autouse=True)
def _short_feeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the feeds, so that the walk extends them and continues in SQL."""
    monkeypatch.setattr(feed, "MAX_ITEMS", 5)
    monkeypatch.setattr(feed, "EXTENDED_ITEMS_LIMIT", 7)


SCRIPT: list[list[Event]] = [
    [("drop shown", 0), ("add", 0), ("disturb", 0)],
    [("disturb", 2), ("drop", 1)],
    [("disturb", 5), ("add", 0), ("disturb", 6)],
    [("drop shown", 0), ("disturb", 3)],
]


@pytest.mark.parametrize("endpoint", _PAGED)
def test_each_item_is_shown_once_and_in_order_while_the_list_changes(endpoint: str) -> None:
    walk_both_ways(endpoint, SCRIPT, 3)


@pytest.mark.parametrize(
    ("endpoint", "shift", "fault"),
    [
        ("GET api/v1/blocks", 1, "twice"),
        ("GET api/v1/blocks", -1, "left out"),
        ("GET api/v1/bookmarks", 1, "twice"),
        ("GET api/v1/timelines/home", 1, "no end"),
        ("GET api/v1/timelines/public", 1, "no end"),
        ("GET api/v1/conversations", 1, "twice"),
    ],
)
def test_a_cursor_that_repeats_or_skips_an_item_is_noticed(
    endpoint: str, shift: int, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*asked: Any, **options: Any) -> Cursor:
        cursor = read_cursor(*asked, **options)
        return cursor if cursor.before is None else replace(cursor, before=cursor.before + shift)

    monkeypatch.setattr("social.api.pagination.read_cursor", wrong)
    with pytest.raises(AssertionError, match=fault):
        walk_both_ways(endpoint, [], 3)


@pytest.mark.verify
@pytest.mark.timeout(900)
@pytest.mark.parametrize("endpoint", _PAGED)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=EVENTS, size=st.integers(1, 7))
def test_each_item_is_shown_once_and_in_order_whatever_changes(
    endpoint: str, events: list[list[Event]], size: int
) -> None:
    walk_both_ways(endpoint, events, size)
