"""Measures how quickly one worker pushes a notification to very many devices, by way of a push service on this machine.

    python -m benchmarks.pushes [--subscriptions 1000] [--posts 5] [--drafted] [--latency 0]

It starts the server on a data directory of its own, with people who all follow an author with `notify` and have a
subscription each. A post is asked for as clients do, and timed from the request until the push service has the message of
everybody; the rate is that between the first and the last of them. The CPU milliseconds are those of all processes of
the server together, for one message, with those of making the notifications. `--drafted` has messages encoded as
`aesgcm`, `--latency` has the push service answer after so many milliseconds. Each message is looked at: the exit code is
1 when one is missing or came twice.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from typing import Final

from benchmarks.client import Client
from benchmarks.fan_out import follow, wait_until_idle
from benchmarks.measuring import attach, insert, make_people, make_tokens
from benchmarks.processes import Tree
from tests.support.instance import Instance
from tests.support.receiver import Manner, Receiver

FIRST_ID: Final = 1_000_000


def subscribe(first_id: int, count: int, port: int, *, standard: bool) -> None:
    """A subscription for the token of each of these people, to posts of people whom they follow."""
    from notifications.models import PushSubscription
    from tests.support.push import Device

    keys = Device(29).keys
    insert(
        PushSubscription,
        {
            "token_id": "t.id",
            "endpoint": f"'http://127.0.0.1:{port}/' || t.user_id",
            "host": f"'127.0.0.1:{port}'",
            "p256dh": f"'{keys['p256dh']}'",
            "auth": f"'{keys['auth']}'",
            "standard": str(standard).lower(),
            "alerts": "'{\"status\": true}'::jsonb",
            "policy": "'all'",
            "created_at": "now()",
        },
        f"accounts_accesstoken t WHERE t.user_id BETWEEN {first_id} AND {first_id + count - 1}",
    )


def main() -> int:
    """Fill, post, and count; 1 when a message was lost or repeated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subscriptions", type=int, default=1000)
    parser.add_argument("--posts", type=int, default=5)
    parser.add_argument("--drafted", action="store_true")
    parser.add_argument("--latency", type=float, default=0.0)
    options = parser.parse_args()
    wanted = options.subscriptions
    with (
        Receiver(Manner(b"201 Created", options.latency / 1000)).running() as service,
        Instance(WEB_WORKERS="1", FEDERATION_LOOPBACK="yes") as server,
    ):
        assert server.process is not None
        attach(server)
        from accounts.models import Follow
        from tests.factories.accounts import make_application, make_token, make_user

        make_people(FIRST_ID, wanted, name="reader")
        make_tokens(FIRST_ID, wanted, make_application("read write").pk)
        subscribe(FIRST_ID, wanted, service.port, standard=not options.drafted)
        author = make_user("author")
        follow(author.account_id, FIRST_ID, wanted)
        Follow.objects.filter(target_id=author.account_id).update(notify=True)
        client = Client(server.base_url, make_token(author))
        tree = Tree(server.process.pid)
        took: list[float] = []
        rates: list[float] = []
        cpu: list[float] = []
        faults = 0
        # The first one finds a service of which nothing is known.
        for number in range(options.posts + 1):
            service.came.clear()
            before = wait_until_idle(tree)
            began = time.perf_counter()
            client.call("POST", "/api/v1/statuses", {"status": f"A post, number {number}"})
            while len(service.came) < wanted and time.perf_counter() - began < 120:
                time.sleep(0.005)
            used = wait_until_idle(tree) - before
            times = Counter(one.path for one in service.came)
            faults += wanted - len(times) + sum(times.values()) - len(times)
            if number and service.came:
                moments = sorted(one.at for one in service.came)
                took.append(moments[-1] - began)
                rates.append(len(moments) / (moments[-1] - moments[0]))
                cpu.append(used * 1000 / wanted)
    print(f"{wanted:,} subscriptions, {options.posts} posts, {'aesgcm' if options.drafted else 'aes128gcm'}")
    print(f"from the request to the last message: p50 {statistics.median(took):.2f} s, worst {max(took):.2f} s")
    print(f"messages per second of one worker: p50 {statistics.median(rates):.0f}, least {min(rates):.0f}")
    print(f"CPU ms of a message, with its notification: p50 {statistics.median(cpu):.2f}")
    print(f"lost or repeated: {faults}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
