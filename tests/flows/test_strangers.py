"""Tests that activities which name slow servers do not delay other users (security row 58)."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any

import mastodon
import psycopg
import pytest
import requests

from social.runtime.embedded import Embedded
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer, pair, signed
from tests.federation.test_lanes import Dripping
from tests.flows.people import wait
from tests.support.instance import Instance

pytestmark = [pytest.mark.verify, pytest.mark.timeout(300)]

ACTIVITIES = 200
PAUSE = 0.15
SECONDS = 1.0
STRANGERS = 24
TOGETHER = 10


def send(server: Instance, someone: RemotePerson, activity: dict[str, Any]) -> int:
    body = json.dumps(activity).encode()
    headers = someone.headers("/inbox", body, host=f"localhost:{server.port}") | {"content-type": ACTIVITY}
    return requests.post(f"{server.base_url}/inbox", body, headers=headers, timeout=20).status_code


def attack(server: Instance, someone: RemotePerson, dripping: Dripping, victim: str) -> list[int]:
    """Send replies to posts on the slow server, and boosts of such posts, at twice the rate that once stopped the server."""
    answers = []
    for number in range(ACTIVITIES):
        slow = f"{dripping.url}/notes/{number}"
        tag = {"type": "Mention", "href": victim}
        activity = (
            someone.activity("Create", someone.note(number=number, to=[victim], tag=[tag], inReplyTo=slow))
            if number % 2
            else someone.activity("Announce", slow)
        )
        answers.append(send(server, someone, activity))
        time.sleep(PAUSE)
    return answers


@contextmanager
def attacked(server: Instance, someone: RemotePerson, dripping: Dripping, victim: str) -> Iterator[list[int]]:
    answers: list[int] = []
    thread = threading.Thread(target=lambda: answers.extend(attack(server, someone, dripping, victim)))
    thread.start()
    try:
        yield answers
    finally:
        thread.join()


def arrivals(server: Instance) -> list[float]:
    """Return how many seconds of the server's clock passed between each local post and the notification of the mention in
    it.
    """
    with psycopg.connect(Embedded(server.data_dir).database_url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT extract(epoch FROM n.created_at - s.created_at)::float8 FROM notifications_notification n"
            " JOIN statuses_status s ON s.id = n.status_id WHERE s.local ORDER BY n.id"
        ).fetchall()
    return [float(seconds) for (seconds,) in rows]


def waiting(server: Instance) -> int:
    """Return the number of fetches that are waiting for the slow server."""
    with psycopg.connect(Embedded(server.data_dir).database_url, autocommit=True) as connection:
        row = connection.execute("SELECT count(*) FROM federation_fetch").fetchone()
    assert row is not None
    return int(row[0])


def mention(writer: mastodon.Mastodon, server: Instance, text: str) -> None:
    """Mention Bob and wait for his notification."""
    known = len(arrivals(server))
    writer.status_post(f"@bob {text}")
    wait(lambda: len(arrivals(server)) > known, 20.0)


def test_a_local_mention_arrives_within_a_second_while_strangers_name_slow_servers() -> None:
    with (
        Instance(FEDERATION_LOOPBACK="yes") as server,
        RemoteServer().running() as elsewhere,
        Dripping().running() as slow,
    ):
        anna, bob = server.sign_up("anna"), server.sign_up("bob")
        zoe = elsewhere.person("zoe")
        found = bob.account_search(f"zoe@{elsewhere.domain}", resolve=True)
        bob.account_follow(found[0].id)
        victim = f"{server.base_url}/users/bob"
        # The timeout is long, because a new worker may find its first event only in the periodic check for due jobs.
        asked = wait(lambda: next((item for item in elsewhere.delivered() if item["type"] == "Follow"), None), 20.0)
        assert send(server, zoe, zoe.activity("Accept", asked)) == 202
        wait(lambda: bob.account_relationships(found[0].id)[0].following, 20.0)
        with attacked(server, zoe, slow, victim) as answers:
            while not answers:
                mention(anna, server, "hello")
                time.sleep(0.3)
        assert answers == [202] * ACTIVITIES
        times = arrivals(server)
        print(
            f"{len(times)} mentions, median {median(times):.2f} s, slowest {max(times):.2f} s;"
            f" {slow.connections} connections to the slow server, {waiting(server)} fetches wait"
        )
        assert waiting(server) > ACTIVITIES / 2, "no fetch was waiting for the slow server during the attack"
        assert len(times) > 10
        assert max(times) < SECONDS, times


def test_users_are_served_while_strangers_sign_with_keys_on_slow_servers() -> None:
    """Each key is on a different server, which sends single bytes; fetching such a key occupies a thread of the web server."""
    with ExitStack() as stack:
        server = stack.enter_context(Instance(FEDERATION_LOOPBACK="yes"))
        slow = [stack.enter_context(Dripping().running()) for _ in range(STRANGERS)]
        elsewhere = stack.enter_context(RemoteServer().running())
        elsewhere.person("zoe")
        anna = server.sign_up("anna")
        answers: list[tuple[int, float]] = []
        begun, ended = threading.Event(), threading.Event()

        def press(dripping: Dripping) -> None:
            body = b"{}"
            number = 0
            while not ended.is_set():
                number += 1
                key_id = f"{dripping.url}/users/{number}#main-key"
                headers = signed(pair()[0], key_id, "/inbox", body, host=f"localhost:{server.port}")
                start = time.monotonic()
                answer = requests.post(
                    f"{server.base_url}/inbox", body, headers=headers | {"content-type": ACTIVITY}, timeout=20
                )
                answers.append((answer.status_code, time.monotonic() - start))
                begun.set()

        threads = [threading.Thread(target=press, args=(dripping,)) for dripping in slow]
        for thread in threads:
            thread.start()
        try:
            assert begun.wait(20)
            times, found = [], []
            for number in range(20):
                start = time.monotonic()
                anna.timeline_home()
                times.append(time.monotonic() - start)
                if number == 10:
                    found = anna.account_search(f"zoe@{elsewhere.domain}", resolve=True)
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        held = [seconds for _status, seconds in answers if seconds > 1]
        print(
            f"home: median {median(times):.2f} s, slowest {max(times):.2f} s; {len(answers)} requests of strangers,"
            f" {len(held)} of them waited, {max(seconds for _status, seconds in answers):.1f} s at most"
        )
        assert {status for status, _seconds in answers} == {503}
        assert [account.acct for account in found] == [f"zoe@{elsewhere.domain}"]
        assert max(times) < SECONDS * 3, times


def test_simultaneous_unknown_senders_of_one_server_are_all_accepted_immediately() -> None:
    """No sender should have to repeat a request, because some programs never do."""
    with Instance(FEDERATION_LOOPBACK="yes") as server, RemoteServer().running() as elsewhere:
        server.sign_up("anna")
        people = [elsewhere.person(f"unknown{number}") for number in range(TOGETHER)]
        # The delay of a server on another continent.
        elsewhere.before_answer = lambda: time.sleep(0.1)
        victim = f"{server.base_url}/users/anna"

        def press(someone: RemotePerson) -> tuple[int, float]:
            start = time.monotonic()
            return send(server, someone, someone.activity("Follow", victim)), time.monotonic() - start

        with ThreadPoolExecutor(TOGETHER) as pool:
            answers = list(pool.map(press, people))
        print(
            f"answered after {', '.join(f'{seconds:.1f}' for _status, seconds in sorted(answers, key=lambda it: it[1]))} s"
        )
        assert [status for status, _seconds in answers] == [202] * TOGETHER
