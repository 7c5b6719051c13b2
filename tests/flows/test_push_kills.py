"""Tests of killed processes during push notifications: each device gets every message, with at most one repetition per kill."""

import time
from collections import Counter
from contextlib import suppress

import psycopg
import pytest
import requests

from social.runtime.embedded import Embedded
from tests.support.instance import Instance
from tests.support.push import Device, PushService, Received, push_service

pytestmark = [pytest.mark.verify, pytest.mark.timeout(300)]

DEVICE = Device(23)
MESSAGES = 200
# The worker is killed only twice, because its jobs can be claimed again only after their lease has ended.
KILLED = ("worker", "postgres", "FLUSHALL", "worker")


def subscribe(server: Instance, token: str, service: PushService, name: str) -> None:
    answer = requests.post(
        f"{server.base_url}/api/v1/push/subscription",
        json={
            "subscription": {"endpoint": service.endpoint(name), "keys": DEVICE.keys, "standard": True},
            "data": {"alerts": {"mention": True}},
        },
        headers={"Authorization": f"Bearer {token}"},
        timeout=10,
    )
    assert answer.status_code == 200, answer.text


def post(server: Instance, token: str, number: int) -> None:
    """Publish exactly one post that mentions both readers, even if the server is killed meanwhile."""
    deadline = time.monotonic() + 60
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"number {number}"}
    while time.monotonic() < deadline:
        with suppress(requests.RequestException):
            data = {"status": f"@near @far number {number}"}
            answer = requests.post(f"{server.base_url}/api/v1/statuses", data=data, headers=headers, timeout=10)
            if answer.status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError(f"post {number} was not accepted")


def waiting(server: Instance) -> int:
    """Return the number of messages that are queued."""
    with psycopg.connect(Embedded(server.data_dir).database_url) as connection:
        row = connection.execute("SELECT count(*) FROM notifications_push").fetchone()
    assert row is not None
    return int(row[0])


def test_every_message_arrives_and_is_repeated_at_most_once_per_kill() -> None:
    def answer_slowly(_request: Received) -> None:
        time.sleep(0.05)

    with Instance(FEDERATION_LOOPBACK="yes") as server, push_service() as service:
        author, *readers = (server.sign_up(name) for name in ("author", "near", "far"))
        for reader, name in zip(readers, ("near", "far"), strict=True):
            subscribe(server, str(reader.access_token), service, name)
        service.before = answer_slowly
        for number in range(MESSAGES):
            post(server, str(author.access_token), number)
            if (number + 1) % (MESSAGES // len(KILLED)) == 0:
                name = KILLED[number * len(KILLED) // MESSAGES]
                before = len(service.received)
                if name == "FLUSHALL":
                    server.redis().flushall()
                else:
                    server.kill(name)
                print(f"{name} was killed when {before} messages had arrived")
        deadline = time.monotonic() + 90
        while waiting(server) or min(len(service.at(name)) for name in ("near", "far")) < MESSAGES:
            assert time.monotonic() < deadline, f"{waiting(server)} messages have not arrived"
            time.sleep(0.5)
        for reader, name in zip(readers, ("near", "far"), strict=True):
            notified = [note.id for note in reader.fetch_remaining(reader.notifications(types=["mention"]))]
            times = Counter(message["notification_id"] for message in service.opened(DEVICE, name))
            assert len(notified) == MESSAGES
            assert set(times) == {str(number) for number in notified}, (
                "each mention created one notification, which is pushed"
            )
            repeated = sum(times.values()) - len(times)
            print(
                f"{name}: {len(times)} messages, {repeated} of them more than once, at most {max(times.values())} times"
            )
            assert max(times.values()) <= 1 + len(KILLED)
