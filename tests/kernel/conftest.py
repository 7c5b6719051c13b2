"""Fixtures for the kernel's tests: reactions, a table for their effects, and intercepted wake-ups."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection

from social.kernel import redis, wakes
from social.kernel.subscriptions import Event, Subscription, on, registry
from tests.kernel import reactions
from tests.kernel.valkey import close_circuits


@pytest.fixture
def transactional_db(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Allow transactions that commit, without emptying every table afterwards.

    pytest-django's fixture of this name empties the tables, which takes longer than these tests; each test deletes its own
    rows.
    """
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def listen() -> Iterator[Callable[..., Subscription[Any]]]:
    """A function like `on`, whose subscriptions end with the test."""
    made: list[Subscription[Any]] = []

    def subscribe(event: type[Event], reaction: Any, **terms: Any) -> Subscription[Any]:
        subscription = on(event, reaction, **terms)
        made.append(subscription)
        return subscription

    yield subscribe
    for subscription in made:
        registry.remove(subscription)


@pytest.fixture
def effects(transactional_db: None) -> Iterator[None]:
    """A table for the effects of reactions, and an empty outbox."""
    reactions.reset()
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS test_effect")
        cursor.execute("CREATE TABLE test_effect (id bigserial PRIMARY KEY, key text, number int, who text)")
        cursor.execute("TRUNCATE social_outbox")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS test_effect")
        # Other tests also run the jobs in the outbox, but in their processes these reactions do not exist.
        cursor.execute("TRUNCATE social_outbox")


@pytest.fixture
def woken() -> Iterator[list[str]]:
    """The queues for which a wake-up would be sent; at the start Redis has no record of an earlier wake-up."""
    queues: list[str] = []
    close_circuits()
    for key in redis.client("cache").scan_iter(match=redis.key("cache", "wake", "*")):
        redis.client("cache").delete(key)
    with wakes.waker.replaced(queues.extend):
        yield queues
