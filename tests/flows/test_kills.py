"""Tests of killed processes while users post: each accepted post arrives once, here and on the other server (issue B, 3)."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import mastodon
import psycopg
import pytest
import requests

from social.runtime.embedded import Embedded
from tests.support.instance import Instance

pytestmark = [pytest.mark.verify, pytest.mark.timeout(400)]

#: The worker is killed last, because other workers can claim its jobs only after their lease has ended.
KILLED = ("valkey", "postgres", "FLUSHALL", "streaming", "web worker", "web", "scheduler", "worker")
SECONDS = 60.0
_POSTING = 2.5
_PAUSE = 0.08


@dataclass
class Reader:
    """A user who reads the home timeline or a public timeline."""

    server: Instance
    token: str
    name: str
    timeline: str = "home"

    def read(self) -> list[str]:
        """Return the ids of all posts of the timeline, newest first, read page by page."""
        seen: list[str] = []
        last: str | None = None
        while page := self._page(last):
            seen += [status["uri"] for status in page]
            last = page[-1]["id"]
        return seen

    def _page(self, before: str | None) -> list[dict[str, str]]:
        answer = self.look(before)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, str]] = answer.json()
        return found

    def look(self, before: str | None = None) -> requests.Response:
        """Request one page, and return the response whatever its status."""
        return requests.get(
            f"{self.server.base_url}/api/v1/timelines/{self.timeline}",
            params={"limit": "40"} | ({"max_id": before} if before else {}),
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=10,
        )


@dataclass
class Author:
    """A user who publishes and deletes posts continuously on a server whose processes are killed.

    Every fifth post is requested only once; the others are repeated with their Idempotency-Key until the response is 200. Every
    sixth accepted post is deleted, some immediately and some later; a deletion is also repeated until it is answered.
    """

    server: Instance
    token: str
    name: str
    kept: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    unknown: int = 0
    repeated: int = 0
    _doomed: list[tuple[int, str, str]] = field(default_factory=list)
    _chance: random.Random = field(default_factory=lambda: random.Random(11))
    _end: threading.Event = field(default_factory=threading.Event)

    def post_until(self, seconds: float) -> None:
        """Publish posts until `stop` is called, and then finish pending requests within this many seconds."""
        for number in count():
            if self._end.is_set():
                break
            self._post(number, seconds)
            self._delete_due(number, seconds)
            time.sleep(_PAUSE)
        for _due, uri, status_id in self._doomed:
            self._delete(uri, status_id, seconds)

    def stop(self) -> None:
        """Publish no more posts."""
        self._end.set()

    def _request(self, method: str, path: str, seconds: float, **more: Any) -> requests.Response | None:
        """Return the first response that is not a server error; None if the request failed and may not be repeated."""
        deadline = time.monotonic() + seconds
        while True:
            with suppress(requests.RequestException):
                answer = requests.request(
                    method,
                    self.server.base_url + path,
                    timeout=10,
                    **more,
                )
                if answer.status_code < 500:
                    return answer
            if time.monotonic() > deadline:
                return None
            self.repeated += 1
            time.sleep(0.1)

    def _post(self, number: int, seconds: float) -> None:
        once = number % 5 == 4
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": f"{self.name}-{number}"}
        data = {"status": f"Number {number} of {self.name}"}
        answer = self._request("POST", "/api/v1/statuses", 0.0 if once else seconds, headers=headers, data=data)
        if answer is None:
            assert once, f"post {number} was not answered within {seconds} s"
            self.unknown += 1
            return
        assert answer.status_code == 200, answer.text
        status = answer.json()
        self.kept[status["uri"]] = data["status"]
        if len(self.kept) % 6 == 0:
            self._doomed.append((number + self._chance.choice((0, 1, 3, 20)), status["uri"], status["id"]))

    def _delete_due(self, number: int, seconds: float) -> None:
        due = [item for item in self._doomed if item[0] <= number]
        self._doomed = [item for item in self._doomed if item[0] > number]
        for _due, uri, status_id in due:
            self._delete(uri, status_id, seconds)

    def _delete(self, uri: str, status_id: str, seconds: float) -> None:
        before = self.repeated
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = self._request("DELETE", f"/api/v1/statuses/{status_id}", seconds, headers=headers)
        assert answer is not None, f"the deletion of {uri} was not answered within {seconds} s"
        # A repeated deletion gets 404 if the first one succeeded but its response was lost.
        assert answer.status_code == 200 or (answer.status_code == 404 and self.repeated > before), answer.text
        self.deleted.add(uri)
        del self.kept[uri]

    def faults(self, read: list[str]) -> list[str]:
        """Return the errors in a timeline that should contain the author's posts."""
        times = Counter(uri for uri in read if f"/users/{self.name}/" in uri)
        unexplained = [uri for uri in times if uri not in self.kept and uri not in self.deleted]
        found = [f"missing {uri} ({text})" for uri, text in self.kept.items() if uri not in times]
        found += [f"{number} times {uri}" for uri, number in times.items() if number > 1]
        found += [f"deleted, but there: {uri}" for uri in self.deleted if uri in times]
        if len(unexplained) > self.unknown:
            found.append(f"{len(unexplained)} posts nobody knows of: {unexplained}")
        return found


_UNFINISHED = """
SELECT concat_ws(' ', 'outbox', queue, key, event, 'after', attempts, 'attempts:', last_error) FROM social_outbox
UNION ALL SELECT concat_ws(' ', 'delivery', key, 'after', attempts, 'attempts:', last_error) FROM federation_delivery
UNION ALL SELECT concat_ws(' ', 'received', uri, 'after', attempts, 'attempts:', outcome) FROM federation_inboundactivity
 WHERE processed_at IS NULL
"""


def unfinished(server: Instance) -> list[str]:
    """Return the deliveries and jobs that the server has not finished."""
    with psycopg.connect(Embedded(server.data_dir).database_url) as connection:
        return [str(text) for (text,) in connection.execute(_UNFINISHED).fetchall()]


def wait(look: Callable[[], object], deadline: float) -> object:
    """Call `look` until it returns a false value or the deadline has passed, and return its last value."""
    while found := look():
        if time.monotonic() > deadline:
            break
        time.sleep(0.5)
    return found


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Instance, Instance]]:
    with Instance(FEDERATION_LOOPBACK="yes") as one, Instance(FEDERATION_LOOPBACK="yes") as other:
        yield one, other


def follow(reader: mastodon.Mastodon, server: Instance, author: mastodon.Mastodon, home: Instance) -> None:
    """Let the reader follow the author, and wait until both servers have stored the follow."""
    name = author.me().acct
    account = reader.account_search(name if server is home else f"{name}@localhost:{home.port}", resolve=True)[0]
    reader.account_follow(account.id)
    # On a busy machine a first delivery may fail; it is retried after 15 to 23 seconds.
    deadline = time.monotonic() + 60
    while not reader.account_relationships(account.id)[0].following:
        assert time.monotonic() < deadline, "the follow was not accepted"
        time.sleep(0.1)


def people(servers: tuple[Instance, Instance], case: str) -> tuple[Author, list[Reader]]:
    """Create an author on the first server, and on each server two followers and a reader of the public timeline."""
    client = servers[0].sign_up(f"author{case}")
    readers = []
    for server, where in zip(servers, ("near", "far"), strict=True):
        for number in (1, 2):
            reader = server.sign_up(f"{where}{number}{case}")
            follow(reader, server, client, servers[0])
            readers.append(Reader(server, str(reader.access_token), f"{where}{number}"))
        readers.append(Reader(server, readers[-1].token, f"everybody {where}", "public"))
    return Author(servers[0], str(client.access_token), f"author{case}"), readers


@pytest.mark.parametrize("victim", [0, 1], ids=["the writing server", "the reading server"])
def test_an_accepted_request_takes_effect_once_whichever_process_is_killed(
    servers: tuple[Instance, Instance], victim: int
) -> None:
    author, readers = people(servers, f"{victim}")
    killed = servers[victim]
    # One follower of each pair reads all the time, so that posts are added to an existing feed; the other follower reads only
    # at the end.
    looking = [reader for reader in readers if "1" in reader.name]
    with ThreadPoolExecutor(1) as pool:
        posting = pool.submit(author.post_until, SECONDS)
        try:
            for name in KILLED:
                time.sleep(_POSTING)
                for reader in looking:
                    with suppress(requests.RequestException):
                        reader.look()
                assert not posting.done(), posting.result()
                if name == "FLUSHALL":
                    killed.redis().flushall()
                else:
                    took = killed.kill(name)
                    print(f"{name} was back after {took:.1f} s, {len(author.kept)} posts stand")
        finally:
            author.stop()
        deadline = time.monotonic() + SECONDS
        posting.result()
    print(f"{len(author.kept)} kept, {len(author.deleted)} deleted, {author.unknown} open, {author.repeated} repeated")
    assert len(author.kept) > 50
    assert len(author.deleted) > 10

    def faults() -> dict[str, list[str]]:
        return {who.name: found for who in readers if (found := author.faults(who.read()))}

    def waiting() -> dict[int, list[str]]:
        return {server.port: found for server in servers if (found := unfinished(server))}

    began = time.monotonic()
    wrong = wait(faults, deadline)
    assert not wrong, f"{wrong}\nnot yet done: {waiting()}"
    print(f"all was well {time.monotonic() - began:.1f} s after the last restart")
    # No job that is still queued may restore a deleted post.
    assert not wait(waiting, deadline + SECONDS)
    assert not faults()
