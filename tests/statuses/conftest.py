"""Fixtures for the tests of the statuses app."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import pytest

from accounts.models import Account, User
from social.kernel.events import Event, on
from social.kernel.subscriptions import registry
from statuses.events import (
    StatusDeleted,
    StatusEdited,
    StatusFavourited,
    StatusPublished,
    StatusReblogged,
    StatusUnfavourited,
)
from tests.factories import accounts
from tests.factories.accounts import make_token, make_user
from tests.support.client import Api
from tests.support.entities import check

accounts.rsa_pair()

EVENTS = (StatusPublished, StatusEdited, StatusDeleted, StatusReblogged, StatusFavourited, StatusUnfavourited)


def ignore(events: Sequence[Event]) -> None:
    """Fail if called: the condition of the subscription never lets an event through."""
    raise AssertionError(events)


@pytest.fixture
def published() -> Iterator[list[Event]]:
    """Every event of this app that is published during the test."""
    received: list[Event] = []

    def listen(event: Event) -> bool:
        received.append(event)
        return False

    subscriptions: list[Any] = [on(event, ignore, when=listen) for event in EVENTS]
    yield received
    for subscription in subscriptions:
        registry.remove(subscription)


@pytest.fixture
def bob(db: None) -> Account:
    return make_user("bob").account


@pytest.fixture
def carol(db: None) -> Account:
    return make_user("carol").account


@lru_cache(maxsize=8)
def _token_of(account_id: int, scopes: str) -> str:
    return make_token(User.objects.get(account_id=account_id), scopes)


def api_of(account: Account, scopes: str = "read write follow push") -> Api:
    """Return an API client that is signed in as the account. All clients of an account share one token during a test;
    accounts of different tests have different ids.
    """
    return Api(_token_of(account.id, scopes))


def post_as(account: Account, **values: Any) -> dict[str, Any]:
    """Publish a post over HTTP, and return the response's body."""
    response = api_of(account).post("/api/v1/statuses", {"status": "hello", **values})
    assert response.status_code == 200, response.content
    body: dict[str, Any] = response.json()
    check("StatusOfUser", body)
    return body
