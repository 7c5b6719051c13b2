"""Tests of streams during a FLUSHALL, a killed worker and a restarted streaming process (issue F).

Clients reconnect, REST endpoints return what the stream missed, and no event arrives twice on one connection.
"""

import json
import os
import signal
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import urlencode

import mastodon
import pytest
import requests
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage
from websockets.sync.client import connect

from tests.runtime.processes import PATIENCE, eventually
from tests.support.instance import Instance

pytestmark = [pytest.mark.verify, pytest.mark.timeout(600)]
_PAUSE = 0.2
#: Errors that a client may see while a process of the server is replaced.
_BROKEN = (OSError, ConnectionClosed, InvalidHandshake, InvalidMessage, EOFError, ValueError)
#: The identity of a message: the stream, the event, and the post, notification or conversation.
Seen = tuple[str, str, str]


@dataclass
class Client:
    """A client that keeps streams open and reconnects after each failure; `connections` holds the messages of each
    connection.
    """

    address: str
    token: str
    streams: list[dict[str, str]]
    connections: list[list[Seen]] = field(default_factory=list)
    _end: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Listen until `stop` is called."""
        while not self._end.is_set():
            with suppress(*_BROKEN):
                self._listen()
            time.sleep(0.1)

    def stop(self) -> None:
        """Do not reconnect again."""
        self._end.set()

    def ids(self, stream: str, event: str = "update") -> set[str]:
        """Return the ids that arrived on a stream, over all connections."""
        return {found for some in self.connections for name, kind, found in some if (name, kind) == (stream, event)}

    def repeated(self) -> list[Seen]:
        """Return the messages that arrived more than once on one connection."""
        return [seen for some in self.connections for seen, times in Counter(some).items() if times > 1]

    def _listen(self) -> None:
        raise NotImplementedError


class Sockets(Client):
    """A client with all streams on one WebSocket."""

    def _listen(self) -> None:
        with connect(f"ws://{self.address}?{urlencode({'access_token': self.token})}", open_timeout=60) as socket:
            for stream in self.streams:
                socket.send(json.dumps({"type": "subscribe", **stream}))
            seen: list[Seen] = []
            self.connections.append(seen)
            while not self._end.is_set():
                with suppress(TimeoutError):
                    message = json.loads(socket.recv(0.5))
                    seen.append((message["stream"][0], message["event"], _named(message["payload"])))


class EventStream(Client):
    """A client with one stream as server-sent events."""

    def _listen(self) -> None:
        request = urllib.request.Request(
            f"http://{self.address}/user", headers={"Authorization": f"Bearer {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            seen: list[Seen] = []
            self.connections.append(seen)
            event = ""
            for line in map(bytes.decode, answer):
                if line.startswith("event: "):
                    event = line.removeprefix("event: ").strip()
                elif line.startswith("data: "):
                    seen.append(("user", event, _named(line.removeprefix("data: "))))
                if self._end.is_set():
                    return


def _named(payload: str) -> str:
    body = json.loads(payload)
    if not isinstance(body, dict):
        return str(body)
    last = body.get("last_status")
    return f"{body['id']} {last['id']}" if last else str(body["id"])


@dataclass
class Writer:
    """A user who publishes posts continuously, every fifth as a direct message to the reader, and repeats failed requests."""

    server: Instance
    token: str
    reader: str
    public: list[str] = field(default_factory=list)
    direct: list[str] = field(default_factory=list)
    _end: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Publish posts until `stop` is called."""
        for number in count():
            if self._end.is_set():
                return
            direct = number % 5 == 4
            data = {"status": f"@{self.reader} {number}" if direct else f"#rain {number}"}
            data["visibility"] = "direct" if direct else "public"
            (self.direct if direct else self.public).append(self._post(number, data))
            time.sleep(_PAUSE)

    def stop(self) -> None:
        """Publish no more posts."""
        self._end.set()

    def _post(self, number: int, data: dict[str, str]) -> str:
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": f"streams-{number}"}
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with suppress(requests.RequestException):
                answer = requests.post(
                    f"{self.server.base_url}/api/v1/statuses", data=data, headers=headers, timeout=10
                )
                if answer.status_code == 200:
                    return str(answer.json()["id"])
            time.sleep(0.2)
        raise AssertionError(f"post {number} was not answered")


@dataclass
class Scene:
    """A reader with open streams, and a user who posts."""

    server: Instance
    reader: mastodon.Mastodon
    writer: Writer
    socket: Sockets
    events: EventStream
    list_id: str

    @property
    def clients(self) -> tuple[Client, Client]:
        return self.socket, self.events

    def walked(self, path: str) -> list[str]:
        """Return all ids of a list, read page by page."""
        found: list[str] = []
        headers = {"Authorization": f"Bearer {self.reader.access_token}"}
        address: str | None = f"{self.server.base_url}{path}?limit=40"
        while address:
            answer = requests.get(address, headers=headers, timeout=20)
            assert answer.status_code == 200, answer.text
            found += [item["id"] for item in answer.json()]
            address = answer.links.get("next", {}).get("url")
        return found


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with Instance() as server:
        reader, writer = server.sign_up("reader"), server.sign_up("writer")
        author = writer.me()
        reader.account_follow(author.id)
        friends = reader.list_create("Friends")
        reader.list_accounts_add(friends.id, [author.id])
        address = f"localhost:{server.streaming_port}/api/v1/streaming"
        names = ("user", "public", "public:local", "direct", "user:notification")
        streams = [{"stream": name} for name in names]
        streams += [{"stream": "hashtag", "tag": "rain"}, {"stream": "list", "list": str(friends.id)}]
        made = Scene(
            server,
            reader,
            Writer(server, str(writer.access_token), "reader"),
            Sockets(address, str(reader.access_token), streams),
            EventStream(address, str(reader.access_token), []),
            str(friends.id),
        )
        threads = [threading.Thread(target=each.run, daemon=True) for each in made.clients]
        for thread in threads:
            thread.start()
        eventually(lambda: all(client.connections for client in made.clients))
        threads.append(threading.Thread(target=made.writer.run, daemon=True))
        threads[-1].start()
        yield made
        for each in (made.writer, *made.clients):
            each.stop()
        for thread in threads:
            thread.join(30)


def flush(scene: Scene) -> None:
    scene.server.redis().flushall()


def kill_worker(scene: Scene) -> None:
    scene.server.kill("worker", PATIENCE)


def kill_streaming(scene: Scene) -> None:
    scene.server.kill("streaming", PATIENCE)


def restart_streaming(scene: Scene) -> None:
    """Restart the streaming process as an operator does: it gets SIGTERM, and its supervisor starts a new one."""
    old = eventually(lambda: scene.server.part("streaming"))
    assert old is not None
    os.kill(old, signal.SIGTERM)
    eventually(lambda: scene.server.part("streaming") not in (None, old))


def all_alive(scene: Scene, what: str) -> None:
    """Wait until a post and a direct message, published from now on, have arrived on every stream."""
    posts, direct = len(scene.writer.public), len(scene.writer.direct)
    streams = ("user", "public", "public:local", "hashtag", "list")

    def look() -> bool:
        later, alone = set(scene.writer.public[posts:]), scene.writer.direct[direct:]
        return (
            all(later & scene.socket.ids(name) for name in streams)
            and bool(later & scene.events.ids("user"))
            and bool(alone)
            and bool({name.partition(" ")[2] for name in scene.socket.ids("direct", "conversation")} & set(alone))
            and bool(scene.socket.ids("user:notification", "notification"))
        )

    began = time.monotonic()
    eventually(look, PATIENCE)
    print(f"{what}: everything comes again {time.monotonic() - began:.1f} s later")


@pytest.mark.parametrize(
    ("failure", "breaks"),
    [(flush, False), (kill_worker, False), (restart_streaming, True), (kill_streaming, True)],
    ids=["FLUSHALL", "a killed worker", "a restarted streaming process", "a killed streaming process"],
)
def test_streams_continue_after_a_failure_without_repeated_events(
    scene: Scene, failure: Callable[[Scene], None], breaks: bool
) -> None:
    all_alive(scene, "before")
    before = [len(client.connections) for client in scene.clients]
    failure(scene)
    all_alive(scene, "after")
    after = [len(client.connections) for client in scene.clients]
    assert [now > then for now, then in zip(after, before, strict=True)] == [breaks, breaks]
    assert [client.repeated() for client in scene.clients] == [[], []]


def test_rest_endpoints_return_what_the_streams_missed(scene: Scene) -> None:
    """This test runs last: it checks everything that was published during the others."""
    scene.writer.stop()
    written = set(scene.writer.public), set(scene.writer.direct)

    def read(path: str) -> tuple[set[str], list[str]]:
        found = scene.walked(path)
        return set(found), [name for name, times in Counter(found).items() if times > 1]

    def look() -> bool:
        return written[0] | written[1] <= read("/api/v1/timelines/home")[0]

    eventually(look, PATIENCE)
    posts = set(scene.writer.public) | set(scene.writer.direct)
    for path, wanted in (
        ("/api/v1/timelines/home", posts),
        (f"/api/v1/timelines/list/{scene.list_id}", set(scene.writer.public)),
        ("/api/v1/timelines/public", set(scene.writer.public)),
        ("/api/v1/timelines/tag/rain", set(scene.writer.public)),
    ):
        found, twice = read(path)
        assert (wanted - found, twice) == (set(), []), path
        assert found <= posts, path
    missed = set(scene.writer.public) - scene.socket.ids("user")
    print(f"{len(posts)} posts; the socket missed {len(missed)} in {len(scene.socket.connections)} connections")
    notified = scene.walked("/api/v1/notifications")
    assert len(notified) == len(set(notified)) >= len(scene.writer.direct)
    assert [client.repeated() for client in scene.clients] == [[], []]
