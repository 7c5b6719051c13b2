"""Tests of events for streaming, observed on the channels between the processes (contract, seed coverage: SEED-141)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import pytest

from social.kernel import redis, streams
from tests.conformance.people import Person
from tests.support.entities import check, check_ids
from tests.support.work import work
from timelines.stores import channels

pytestmark = pytest.mark.django_db


@contextmanager
def subscribed(*names: str) -> Iterator[list[tuple[str, bytes]]]:
    """Collect the messages that are published on these channels inside the block, as pairs of channel and message."""
    received: list[tuple[str, bytes]] = []
    keys = {streams.channel_key(name): name for name in names}
    listener = redis.client("streams").pubsub()
    listener.subscribe(*keys)
    waiting = len(keys)
    while waiting:
        waiting -= listener.get_message(timeout=60) is not None
    yield received
    quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < 0.3:
        message = listener.get_message(timeout=0.1)
        if message is not None and message["type"] == "message":
            received.append((keys[message["channel"].decode()], message["data"]))
            quiet_since = time.monotonic()
    listener.close()


def test_seed_141_ids_are_strings_in_everything_that_is_streamed() -> None:
    alice, bob = Person("alice"), Person("bob")
    alice.do(f"accounts/{bob.id}/follow")
    names = [
        channels.home(int(alice.id)),
        channels.home(int(bob.id)),
        channels.notifications(int(alice.id)),
        channels.notifications(int(bob.id)),
        channels.PUBLIC_LOCAL,
        channels.HOMES,
        channels.hashtag("cats"),
    ]
    with subscribed(*names) as received:
        post = bob.post("@alice #cats")
        alice.do(f"statuses/{post['id']}/favourite")
        alice.do(f"statuses/{post['id']}/reblog")
        bob.api.delete(f"/api/v1/statuses/{post['id']}")
        work()
    events: set[str] = set()
    for channel, data in received:
        head, separator, payload = data.partition(b"\n")
        header: dict[str, Any] = orjson.loads(head)
        check_ids(header, channel)
        events.add(header["event"])
        if not separator:
            continue
        if header["event"] == "delete":
            assert payload.isdigit(), "the payload is only the id, as text"
            continue
        body = orjson.loads(payload)
        check_ids(body, channel)
        if header["event"] == "notification":
            check("Notification", body)
        elif header["event"] == "update":
            check("Status", body)
    assert {"update", "delete", "notification"} <= events, [name for name, _data in received]
