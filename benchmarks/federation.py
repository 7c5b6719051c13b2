"""Measures the cost of receiving and delivering activities, on a running server with one worker.

It starts a server with a data directory of its own. CPU milliseconds are summed over all processes of the server (web, worker,
scheduler, streaming, PostgreSQL, Valkey).

Receiving: `--activities` posts of `--actors` remote users, whose keys are known and whom a local user follows, are signed as
Mastodon signs them. They are sent over eight connections while the worker is stopped, which measures the cost of accepting
them. Then the worker continues, and the CPU time until it is idle is the cost of processing them, including the home timeline
of the follower and the search index.

Delivering: a local user with followers at `--inboxes` inboxes, spread over `--hosts` loopback addresses, publishes posts. The
first post is left out of the medians, because deliveries to unknown servers are sent one after the other. The rate is measured
between the first and the last delivery; with `--latency` the remote servers respond after this many milliseconds.

The exit code is 1 if an activity was not accepted or not processed, if an inbox got no post or one post twice, or if the memory
of the worker grew by more than a tenth during the deliveries.
"""

import argparse
import http.client
import json
import os
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.client import Client
from benchmarks.measuring import attach, wait_until_idle
from benchmarks.processes import Tree
from benchmarks.seeding import in_threads
from tests.support import past
from tests.support.instance import Instance
from tests.support.receiver import Manner, Receiver

CONNECTIONS: Final = 8
LONGEST_SECONDS: Final = 120.0
GROWTH: Final = 1.1
_CONTEXT: Final = [
    "https://www.w3.org/ns/activitystreams",
    {
        "ostatus": "http://ostatus.org#",
        "atomUri": "ostatus:atomUri",
        "inReplyToAtomUri": "ostatus:inReplyToAtomUri",
        "conversation": "ostatus:conversation",
        "sensitive": "as:sensitive",
        "toot": "http://joinmastodon.org/ns#",
        "votersCount": "toot:votersCount",
        "Hashtag": "as:Hashtag",
    },
]

Sending = tuple[bytes, dict[str, str]]


@dataclass(frozen=True)
class Figures:
    """Activities per second, and CPU milliseconds per activity."""

    per_second: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.per_second:5.0f} a second, CPU ms of one {self.cpu:5.2f}"


def create(actor: str, number: int) -> dict[str, Any]:
    """Return the Create activity of a public post, as Mastodon writes it."""
    from social.kernel import clock

    uri, published = f"{actor}/statuses/{number}", clock.iso(clock.now())
    words = "what the garden, the river and the weather of this morning have in common, as far as anybody knows"
    content = (
        f'<p>Number {number}: {words} <a href="https://a.example/tags/garden" class="mention hashtag">#garden</a></p>'
    )
    note = past.note(
        number,
        content,
        id=uri,
        published=published,
        url=f"{actor.replace('users/', '@')}/{number}",
        attributedTo=actor,
        cc=[f"{actor}/followers"],
        atomUri=uri,
        inReplyToAtomUri=None,
        conversation=f"tag:sender.example,2026-01-01:objectId={number}:objectType=Conversation",
        tag=[{"type": "Hashtag", "href": "https://sender.example/tags/garden", "name": "#garden"}],
        replies={"id": f"{uri}/replies", "type": "Collection"},
        likes={"id": f"{uri}/likes", "type": "Collection", "totalItems": 0},
        shares={"id": f"{uri}/shares", "type": "Collection", "totalItems": 0},
    )
    return {"@context": _CONTEXT} | past.create(note) | {"actor": actor}


def sign(actors: Sequence[Any], count: int, inbox: str) -> list[Sending]:
    """Return the bodies and signed headers of `count` posts, written by each actor in turn."""
    from federation.signatures import cavage
    from social.kernel import clock
    from tests.factories.accounts import rsa_pair

    signed = []
    for number in range(count):
        actor = actors[number % len(actors)].uri
        body = json.dumps(create(actor, number)).encode()
        sent = cavage.signed_headers(
            "POST",
            inbox,
            {"Content-Type": "application/activity+json"},
            body,
            key_id=f"{actor}#main-key",
            private_key_pem=rsa_pair()[0],
            now=clock.now(),
        )
        signed.append((body, sent))
    return signed


def send_all(inbox: str, sendings: Sequence[Sending]) -> Counter[int]:
    """Send the requests over CONNECTIONS parallel connections, and return how many responses had each status."""
    parts = urlsplit(inbox)
    answers: Counter[int] = Counter()

    def send(number: int) -> None:
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        mine: Counter[int] = Counter()
        for body, headers in sendings[number::CONNECTIONS]:
            connection.request("POST", parts.path, body, headers)
            answer = connection.getresponse()
            answer.read()
            mine[answer.status] += 1
        answers.update(mine)
        connection.close()

    in_threads(CONNECTIONS, send)
    return answers


def receive(server: Instance, tree: Tree, count: int, actors: int) -> int:
    """Print the cost of accepting and of processing activities; return how many were not accepted or not processed."""
    from federation.models import InboundActivity
    from tests.factories.accounts import make_remote, make_user
    from tests.factories.statuses import follow

    reader = make_user("reader").account
    people = [make_remote(f"writer{number}", "sender.example") for number in range(actors)]
    for person in people:
        follow(reader, person)
    inbox = f"{server.base_url}/inbox"
    send_all(inbox, sign(people, 200, inbox))
    sendings = sign(people, count + 200, inbox)[200:]
    worker, before = server.part("worker"), wait_until_idle(tree)
    assert worker is not None
    os.kill(worker, signal.SIGSTOP)
    try:
        began = time.perf_counter()
        answers = send_all(inbox, sendings)
        took = time.perf_counter() - began
        accepted = wait_until_idle(tree)
    finally:
        os.kill(worker, signal.SIGCONT)
    done = InboundActivity.objects.filter(outcome="done")
    there, began = done.count(), time.perf_counter()
    while (missing := count + there - done.count()) and time.perf_counter() - began < LONGEST_SECONDS:
        time.sleep(0.1)
    processing = time.perf_counter() - began
    used = wait_until_idle(tree) - accepted
    print(f"{count:,} signed posts of {actors} people elsewhere")
    print(f"accepted:  {Figures(count / took, (accepted - before) * 1000 / count)}")
    print(f"processed: {Figures(count / processing, used * 1000 / count)}", flush=True)
    return missing + count - answers[202]


def follow_from(account_id: int, inboxes: Sequence[str]) -> None:
    """Create a remote follower of the account for each of these inboxes."""
    from accounts.models import Account, Follow

    people = (
        Account(
            username=f"follower{number}",
            domain=urlsplit(inbox).netloc,
            uri=inbox.removesuffix("/inbox"),
            inbox_url=inbox,
        )
        for number, inbox in enumerate(inboxes)
    )
    made = Account.objects.bulk_create(people, batch_size=500)
    Follow.objects.bulk_create((Follow(account=one, target_id=account_id) for one in made), batch_size=500)


def deliver(server: Instance, tree: Tree, receiver: Receiver, inboxes: Sequence[str], posts: int) -> int:
    """Print the cost of deliveries; return how many were missing or repeated, plus 1 if the worker's memory has grown."""
    from tests.factories.accounts import make_token, make_user

    author = make_user("author")
    follow_from(author.account_id, inboxes)
    client = Client(server.base_url, make_token(author))
    found: list[Figures] = []
    memory: list[float] = []
    faults = 0
    for number in range(posts + 1):
        receiver.came.clear()
        before = wait_until_idle(tree)
        began = time.perf_counter()
        client.call("POST", "/api/v1/statuses", {"status": f"A post, number {number}"})
        while len(receiver.came) < len(inboxes) and time.perf_counter() - began < LONGEST_SECONDS:
            time.sleep(0.01)
        used = wait_until_idle(tree) - before
        moments = sorted(one.at for one in receiver.came)
        times = Counter(one.path for one in receiver.came)
        faults += len(inboxes) - len(times) + sum(times.values()) - len(times)
        memory.append(tree.memory().own["worker"])
        found.append(Figures(len(moments) / (moments[-1] - moments[0]), used * 1000 / len(inboxes)))
        print(
            f"post {number}: {found[-1]}, first after {moments[0] - began:.2f} s, worker {memory[-1]:.0f} MiB",
            flush=True,
        )
    rate, cpu = (statistics.median(column) for column in zip(*((f.per_second, f.cpu) for f in found[1:]), strict=True))
    print(f"delivered: {Figures(rate, cpu)} (medians without the first post)")
    # The first posts fill the pools of connections and threads, so the growth is measured from the third post on.
    return faults + (memory[-1] > memory[min(2, posts)] * GROWTH)


def main() -> int:
    """Measure receiving and delivering; return 1 if there was any fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--activities", type=int, default=2000)
    parser.add_argument("--actors", type=int, default=20)
    parser.add_argument("--inboxes", type=int, default=2000)
    parser.add_argument("--hosts", type=int, default=200, help="at most 250")
    parser.add_argument("--posts", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.0, help="milliseconds")
    options = parser.parse_args()
    hosts = [f"127.0.0.{number}" for number in range(2, options.hosts + 2)]
    with (
        Receiver(Manner(seconds=options.latency / 1000), addresses=hosts).running() as receiver,
        Instance(WEB_WORKERS="1", FEDERATION_LOOPBACK="yes") as server,
    ):
        attach(server.data_dir)
        tree = Tree(server)
        faults = receive(server, tree, options.activities, options.actors) if options.activities else 0
        inboxes = [
            f"http://{hosts[number % len(hosts)]}:{receiver.port}/users/follower{number}/inbox"
            for number in range(options.inboxes)
        ]
        if inboxes:
            faults += deliver(server, tree, receiver, inboxes, options.posts)
    print(f"faults: {faults}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
