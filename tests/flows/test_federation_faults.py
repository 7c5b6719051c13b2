"""Tests of killed processes and dead servers during federation: each activity has its effect once (issue G, 5)."""

import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg
import pytest
import requests

from social.kernel.runner import TERMS
from social.runtime.embedded import Embedded
from tests.federation.remote_server import ACTIVITY, pair, signed
from tests.flows.test_kills import unfinished, wait
from tests.support.instance import Instance
from tests.support.receiver import Manner, Receiver

pytestmark = [pytest.mark.verify, pytest.mark.timeout(600)]

PUBLIC: Final = "https://www.w3.org/ns/activitystreams#Public"
SECONDS: Final = 150.0
#: The pause in seconds between two activities of one sender, so that sending continues while processes are killed.
PAUSE: Final = 0.3
KILLED: Final = ("worker", "postgres", "worker", "postgres", "worker")

# Remote accounts with known keys, one at each address, who follow the author and are followed by the reader.
_PEOPLE = """
import json, sys
from accounts.models import Account, Follow, KeyPair
from social.kernel import clock
author, reader = (Account.objects.get(username=name, domain=None) for name in ("author", "reader"))
for name, domain, key in json.loads({people!r}):
    uri = f"http://{{domain}}/users/{{name}}"
    account = Account.objects.create(
        username=name,
        domain=domain,
        uri=uri,
        inbox_url=f"{{uri}}/inbox",
        followers_url=f"{{uri}}/followers",
        fetched_at=clock.now(),
    )
    KeyPair.objects.create(account=account, key_id=f"{{uri}}#main-key", public_key=key)
    Follow.objects.create(account=account, target=author)
    Follow.objects.create(account=reader, target=account)
"""


@dataclass
class Scene:
    """A server with an author and a reader, and remote servers, each with a user who follows and is followed by them."""

    server: Instance
    others: Receiver
    author: Any
    reader: Any
    addresses: Sequence[str]

    def uri(self, address: str) -> str:
        return f"http://{address}:{self.others.port}/users/friend"

    def post(self, text: str) -> Any:
        """Publish a post of the author, and repeat the request until it succeeds."""
        return self.ask("POST", "/api/v1/statuses", {"status": text}, key=text)

    def edit(self, status_id: str, text: str) -> Any:
        return self.ask("PUT", f"/api/v1/statuses/{status_id}", {"status": text})

    def ask(self, method: str, path: str, data: dict[str, str], key: str = "") -> Any:
        deadline = time.monotonic() + SECONDS
        headers = {"Authorization": f"Bearer {self.author.access_token}"} | ({"Idempotency-Key": key} if key else {})
        while time.monotonic() < deadline:
            with suppress(requests.RequestException):
                answer = requests.request(method, self.server.base_url + path, data=data, headers=headers, timeout=10)
                if answer.status_code < 500:
                    assert answer.status_code == 200, answer.text
                    return answer.json()
            time.sleep(0.1)
        raise AssertionError(f"{method} {path} was not answered")


@pytest.fixture
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    addresses = [f"127.0.0.{number}" for number in range(2, 2 + request.param)]
    with (
        Receiver(addresses=addresses).running() as others,
        Instance(FEDERATION_LOOPBACK="yes") as server,
    ):
        author, reader = server.sign_up("author"), server.sign_up("reader")
        people = [("friend", f"{address}:{others.port}", pair()[1]) for address in addresses]
        server.manage("shell", "-v", "0", "-c", _PEOPLE.format(people=json.dumps(people)))
        yield Scene(server, others, author, reader, addresses)


def arrived(scene: Scene, count: int) -> int:
    """Return the number of deliveries that are still missing."""
    return count - len({(one.address, json.loads(one.body)["id"]) for one in scene.others.came})


@pytest.mark.parametrize("scene", [100], indirect=True)
def test_twenty_dead_servers_do_not_delay_eighty_living_ones(scene: Scene) -> None:
    # Each server has received something before, because deliveries to unknown servers are sent one at a time.
    scene.post("Good morning")
    assert not wait(lambda: arrived(scene, len(scene.addresses)), time.monotonic() + 60)
    dead = scene.addresses[:20]
    manners = (
        Manner(seconds=3600),
        Manner(b"500 Internal Server Error"),
        Manner(b"302 Found\r\nLocation: http://127.0.0.1/", 5),
    )
    scene.others.manners = {address: manners[place % len(manners)] for place, address in enumerate(dead)}
    scene.others.came.clear()
    asked: dict[str, float] = {}
    for number in range(15):
        began = time.perf_counter()
        asked[scene.post(f"number {number}")["uri"]] = began
        time.sleep(1.0)
    living = [address for address in scene.addresses if address not in dead]

    def missing() -> int:
        return len(asked) * len(living) - len(
            {(one.address, one.body) for one in scene.others.came if one.address in living}
        )

    assert not wait(missing, time.monotonic() + 60)
    took = sorted(
        one.at - asked[json.loads(one.body)["object"]["id"]] for one in scene.others.came if one.address in living
    )
    p50, p99 = took[len(took) // 2], took[int(len(took) * 0.99)]
    print(
        f"{len(took)} deliveries to {len(living)} living servers: p50 {p50:.2f} s, p99 {p99:.2f} s, worst {took[-1]:.2f} s"
    )
    assert len(took) == len(asked) * len(living), "no activity arrived twice"
    assert p99 < 2.0


@dataclass
class Sender:
    """A remote user who sends posts, edits and deletions, each repeated until the response is 202."""

    scene: Scene
    address: str
    repeated: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    liked: list[str] = field(default_factory=list)

    def send_all(self, count: int, posts: Sequence[str]) -> None:
        uri = self.scene.uri(self.address)
        for number in range(count):
            note_uri = f"{uri}/statuses/{number}"
            self.texts[note_uri] = f"{number} as it was"
            self._send("Create", f"{note_uri}/activity", self._note(note_uri))
            self.texts[note_uri] = f"{number} as it is"
            self._send("Update", f"{note_uri}#updates/1", self._note(note_uri, updated="2026-01-02T00:00:00Z"))
            liked = posts[number % len(posts)]
            self._send("Like", f"{uri}#likes/{number}", liked)
            self.liked.append(liked)
            if number % 3 == 0:
                self._send("Delete", f"{note_uri}#delete", {"id": note_uri, "type": "Tombstone"})
                del self.texts[note_uri]
            else:
                # Two of three likes are undone; only every third like remains.
                self._send(
                    "Undo",
                    f"{uri}#likes/{number}/undo",
                    {"id": f"{uri}#likes/{number}", "type": "Like", "actor": uri, "object": liked},
                )
                self.liked.pop()

    def _note(self, uri: str, **more: str) -> dict[str, Any]:
        return {
            "id": uri,
            "type": "Note",
            "attributedTo": self.scene.uri(self.address),
            "content": f"<p>{self.texts[uri]}</p>",
            "published": "2026-01-01T00:00:00Z",
            "to": [PUBLIC],
            "cc": [f"{self.scene.uri(self.address)}/followers"],
        } | more

    def _send(self, kind: str, activity_id: str, obj: Any) -> None:
        actor = self.scene.uri(self.address)
        document = {
            "@context": "https://www.w3.org/ns/activitystreams",
            "id": activity_id,
            "type": kind,
            "actor": actor,
            "to": [PUBLIC],
            "object": obj,
        }
        body = json.dumps(document).encode()
        base = self.scene.server.base_url
        headers = signed(pair()[0], f"{actor}#main-key", "/inbox", body, host=base.partition("//")[2])
        deadline = time.monotonic() + SECONDS
        while True:
            with suppress(requests.RequestException):
                answer = requests.post(
                    f"{base}/inbox", data=body, headers={**headers, "Content-Type": ACTIVITY}, timeout=10
                )
                if answer.status_code == 202:
                    time.sleep(PAUSE)
                    return
                assert answer.status_code >= 500, answer.text
            assert time.monotonic() < deadline, f"{kind} was not accepted"
            self.repeated += 1
            time.sleep(0.1)


def shown_posts(scene: Scene) -> dict[str, list[str]]:
    """Return the texts of the remote posts that are stored here, keyed by the posts' ids."""
    found = defaultdict(list)
    with psycopg.connect(Embedded(scene.server.data_dir).database_url) as connection:
        rows = connection.execute(
            "SELECT uri, content FROM statuses_status WHERE NOT local AND deleted_at IS NULL"
        ).fetchall()
    for uri, content in rows:
        found[str(uri)].append(str(content).removeprefix("<p>").removesuffix("</p>"))
    return found


@pytest.mark.parametrize("scene", [25], indirect=True)
def test_a_thousand_activities_each_way_have_their_effect_once_and_in_order_through_kills(scene: Scene) -> None:
    """20 posts, each edited once, go to 25 servers; 10 users send about 100 activities each."""
    liked = {post["uri"]: post["id"] for post in (scene.post(f"to be liked {number}") for number in range(3))}
    senders = [Sender(scene, address) for address in scene.addresses[:10]]
    written: dict[str, str] = {}

    def write() -> None:
        for number in range(20):
            status = scene.post(f"post {number}")
            scene.edit(status["id"], f"post {number}, edited")
            written[status["uri"]] = f"post {number}, edited"
            time.sleep(5 * PAUSE)

    began = time.monotonic()
    with ThreadPoolExecutor(len(senders) + 1) as pool:
        sending = [pool.submit(sender.send_all, 25, list(liked)) for sender in senders]
        writing = pool.submit(write)
        for name in KILLED:
            time.sleep(2.0)
            took = scene.server.kill(name)
            busy = sum(not one.done() for one in (*sending, writing))
            print(
                f"{name} was back after {took:.1f} s; {busy} were still sending, {len(scene.others.came)} had arrived"
            )
        for one in (*sending, writing):
            one.result()
    left = wait(lambda: unfinished(scene.server), time.monotonic() + SECONDS)
    assert not left, left
    print(f"all was done after {time.monotonic() - began:.0f} s, {sum(one.repeated for one in senders)} sent again")
    # Incoming: every post exists once, with its latest text, deleted posts are gone, and every like exists once.
    expected = {uri: [text] for sender in senders for uri, text in sender.texts.items()}
    assert shown_posts(scene) == expected
    counts = {uri: sum(sender.liked.count(uri) > 0 for sender in senders) for uri in liked}
    with psycopg.connect(Embedded(scene.server.data_dir).database_url) as connection:
        (failed,) = connection.execute(
            "SELECT count(*) FROM federation_inboundactivity WHERE outcome NOT IN ('done')"
        ).fetchone() or (None,)
        (taken,) = connection.execute("SELECT count(*) FROM federation_inboundactivity").fetchone() or (None,)
    assert {uri: scene.author.status(number).favourites_count for uri, number in liked.items()} == counts
    assert failed == 0
    # Outgoing: every server got each post before its edit; only deliveries in transit during a kill arrived twice.
    repeated = 0
    for address in scene.addresses:
        bodies = [json.loads(one.body) for one in scene.others.came if one.address == address]
        for uri, text in written.items():
            about = [body for body in bodies if body.get("object", {}).get("id") == uri]
            kinds = [body["type"] for body in about]
            assert set(kinds) == {"Create", "Update"}, (address, uri, kinds)
            assert kinds == sorted(kinds), "an edit came before its post"
            assert text in about[-1]["object"]["content"]
            repeated += len(kinds) - 2
    print(f"{taken} activities came in; {len(scene.others.came)} deliveries arrived, {repeated} of them once more")
    assert repeated <= len(KILLED) * TERMS["deliveries"].at_once
