"""The two workloads that measure latency instead of CPU time: fan-out to followers, and the public stream."""

import asyncio
import contextlib
import itertools
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.client import Client
from benchmarks.seeding import Seeded

POSTS: Final = 20
SOCKETS: Final = 200  # a multiple of the twenty that are opened at the same time


@dataclass(frozen=True)
class Latencies:
    """Latencies in milliseconds; `lost` is the number of messages that did not arrive."""

    p50: float
    p99: float
    lost: int = 0

    @classmethod
    def of(cls, seconds: Sequence[float], lost: int = 0) -> "Latencies":
        ordered = sorted(seconds) or [float("inf")]
        return cls(statistics.median(ordered) * 1000, ordered[int((len(ordered) - 1) * 0.99)] * 1000, lost)


def fan_out(seeded: Seeded) -> Latencies:
    """W2: return how long it takes until a follower, alternately the first and the last one, sees a new post of user 0."""
    author = Client(seeded.base, seeded.tokens[0])
    followers = [Client(seeded.base, token) for token in (seeded.tokens[1], seeded.tokens[-1])]
    found = []
    for number in range(POSTS):
        reader = followers[number % 2]
        reader.raw("GET", "/api/v1/timelines/home?limit=5")
        time.sleep(0.3)
        began = time.perf_counter()
        post = author.call("POST", "/api/v1/statuses", {"status": f"Fan-out probe {number}"})["id"]
        while post not in [item["id"] for item in reader.call("GET", "/api/v1/timelines/home?limit=5")]:
            assert time.perf_counter() - began < 30, "the post does not arrive"
        found.append(time.perf_counter() - began)
    return Latencies.of(found)


async def _open(url: str, tokens: Sequence[str]) -> list[ClientConnection]:
    sockets: list[ClientConnection] = []
    chosen = itertools.cycle(tokens)
    while len(sockets) < SOCKETS:
        urls = [url + token for token in itertools.islice(chosen, 20)]
        sockets += await asyncio.gather(*(connect(address, compression=None) for address in urls))
    return sockets


async def _listen(url: str, seeded: Seeded) -> Latencies:
    sent: dict[str, float] = {}
    received: list[tuple[str, float]] = []

    async def listen(socket: ClientConnection) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            async for message in socket:
                arrived = time.perf_counter()
                event = json.loads(message)
                if event["event"] == "update":
                    received.append((json.loads(event["payload"])["id"], arrived))

    opened = await _open(url, seeded.tokens)
    listeners = [asyncio.create_task(listen(socket)) for socket in opened]
    author = Client(seeded.base, seeded.tokens[0])
    for number in range(POSTS):
        form = {"status": f"Stream probe {number}"}
        began = time.perf_counter()
        post = await asyncio.to_thread(author.call, "POST", "/api/v1/statuses", form)
        sent[post["id"]] = began
        await asyncio.sleep(0.5)
    await asyncio.sleep(2)
    for task in listeners:
        task.cancel()
    await asyncio.gather(*(socket.close() for socket in opened))
    took = [arrived - sent[post] for post, arrived in received if post in sent]
    return Latencies.of(took, lost=SOCKETS * POSTS - len(took))


def stream(seeded: Seeded, streaming_url: str) -> Latencies:
    """S1: return the time from the request that publishes a post until each socket on the public stream has received it."""
    return asyncio.run(_listen(f"{streaming_url}/api/v1/streaming?stream=public&access_token=", seeded))
