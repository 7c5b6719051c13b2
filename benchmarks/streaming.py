"""Measures the public stream of a running server with very many listeners, each of whom gets other posts.

    python -m benchmarks.streaming [--sockets 2000] [--rate 4] [--seconds 15] [--slow 200] [--highest 64]

It starts the server on a data directory of its own; all WebSockets are in its one streaming process, and their other ends in
a process that does nothing but read. Eight authors post in four languages. Of the viewers one in two blocks one of them, one
in two mutes one, one in four reads two languages, one in four has a filter; each also blocks thirty others. First a quarter
of the sockets, then half, then all listen while posts are written through the API, `--rate` a second; a time is from the
request until the socket has the post. What must come, what must not and what must be marked is worked out here. Then one
such message, with another number each time, is published to the streaming process directly at `--rate` and twice that, and
again twice, until one in a hundred takes a second, something is lost, or `--highest` is reached. At last `--slow` clients
that read nothing listen beside them, until `--drowning` messages have been sent.

Prints times, CPU microseconds of the streaming process and of the reading one per delivery, memory per socket, and when the
slow clients were disconnected and how much memory they took until then; writes the CPU milliseconds of a post against the
number of sockets to `results/streaming.svg`. The exit code is 1 when at `--rate` one in a hundred took a second, something
was lost or wrongly shown, or when slow clients were kept or hurt others.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import psutil

from benchmarks.client import Client
from benchmarks.measuring import attach, insert, make_people, make_tokens
from benchmarks.plots import draw
from benchmarks.sockets import Listeners
from tests.support.instance import Instance

LONGEST_SECONDS: Final = 1.0
FIRST_ID: Final = 1_000_000
LANGUAGES: Final = ("en", "de", "fr", "ja")
AUTHORS: Final = 8
CLOSE_CODE: Final = 1013


@dataclass(frozen=True)
class Viewer:
    """What decides what one gets: authors by number, languages, and whether there is a filter."""

    number: int

    @property
    def blocked(self) -> int:
        """The author whom the viewer blocks; nobody's number from AUTHORS on."""
        return self.number % (2 * AUTHORS)

    @property
    def muted(self) -> int:
        """The same for mutes."""
        return self.number // (2 * AUTHORS) % (2 * AUTHORS)

    @property
    def chooses(self) -> bool:
        """Tell whether only the first two languages are wanted."""
        return self.number % 4 == 1

    @property
    def filters(self) -> bool:
        """Tell whether posts with coffee are marked."""
        return self.number % 4 == 2

    def wants(self, author: int) -> bool:
        """Tell whether the posts of an author are to come; each writes in one language."""
        return author not in (self.blocked, self.muted) and not (self.chooses and author % 4 > 1)


def text_of(number: int) -> str:
    """Every third post is about coffee."""
    return f"Stream probe {number} about {'coffee' if number % 3 == 0 else 'tea'}, as long as posts usually are. " * 2


@dataclass(frozen=True)
class Figures:
    """Seconds of all deliveries; how many did not come, came to somebody they must not, or had the wrong mark; and CPU
    seconds of the streaming process and of the reading one.
    """

    took: list[float]
    lost: int
    wrong: int
    cpu: float
    reading: float

    @property
    def p99(self) -> float:
        """Seconds."""
        ordered = sorted(self.took) or [float("inf")]
        return ordered[int((len(ordered) - 1) * 0.99)]

    @property
    def holds(self) -> bool:
        """Tell whether it was quick enough and right."""
        return self.p99 < LONGEST_SECONDS and not self.lost and not self.wrong

    def __str__(self) -> str:
        median = statistics.median(self.took) * 1000 if self.took else float("inf")
        return (
            f"{len(self.took):>8,} deliveries: p50 {median:6.0f} ms  p99 {self.p99 * 1000:6.0f} ms  lost {self.lost}  wrong "
            f"{self.wrong}  {self.cpu / max(1, len(self.took)) * 1e6:6.1f} CPU us each (reading them "
            f"{self.reading / max(1, len(self.took)) * 1e6:.1f})"
        )


@dataclass
class Watch:
    """Bytes that the process took at most beside what it had, how many of some sockets it has left, and the second in which
    it had none."""

    memory: float = 0.0
    left: int = 0
    seconds: float | None = None


def fill(sockets: int, slow: int) -> tuple[list[str], list[str], list[str]]:
    """People and how they stand to each other; the tokens of authors, viewers and slow viewers."""
    from django.db import connection

    from accounts.models import Block, Mute
    from statuses.models import Filter, FilterKeyword
    from tests.factories.accounts import make_application, make_token, make_user

    authors = [make_user(f"author{number}") for number in range(AUTHORS)]
    make_people(FIRST_ID, sockets + slow, name="viewer")
    tokens = make_tokens(FIRST_ID, sockets + slow, make_application("read write").id)
    viewers = [Viewer(number) for number in range(sockets)]
    own = {"account_id": "n", "target_id": "target", "created_at": "now()"}
    for model, chosen in (
        (Block, [(v.number, authors[v.blocked].account_id) for v in viewers if v.blocked < AUTHORS]),
        (Mute, [(v.number, authors[v.muted].account_id) for v in viewers if v.muted < AUTHORS]),
    ):
        pairs = [[FIRST_ID + number for number, _author in chosen], [author for _number, author in chosen]]
        insert(model, own, "unnest(%s::bigint[], %s::bigint[]) pair (n, target)", pairs)
    others = f"generate_series({FIRST_ID}, {FIRST_ID + sockets - 1}) n, generate_series(1, 30) other"
    last = FIRST_ID + sockets + slow
    insert(Block, own | {"target_id": f"{FIRST_ID} + (n - {FIRST_ID} + other) % {last - FIRST_ID}"}, others)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE accounts_user SET preferences = preferences || %s::jsonb WHERE account_id = ANY(%s)",
            ['{"chosen_languages": ["en", "de"]}', [FIRST_ID + v.number for v in viewers if v.chooses]],
        )
        filters = Filter.objects.bulk_create(
            (Filter(account_id=FIRST_ID + v.number, title="Coffee", context=["public"]) for v in viewers if v.filters),
            batch_size=500,
        )
        FilterKeyword.objects.bulk_create(
            (FilterKeyword(filter=each, keyword="coffee") for each in filters), batch_size=500
        )
        cursor.execute("VACUUM ANALYZE")
    return [make_token(author) for author in authors], tokens[:sockets], tokens[sockets:]


class Run:
    """The listeners so far, and the streaming process they are connected to."""

    def __init__(self, server: Instance, listeners: Listeners, authors: Sequence[str], tokens: Sequence[str]) -> None:
        pid = server.part("streaming")
        assert pid is not None
        self.process, self.port = psutil.Process(pid), server.streaming_port
        self.authors = [Client(server.base_url, token) for token in authors]
        self.listeners, self.tokens = listeners, tokens
        self.size = 0
        self.next = 0

    @staticmethod
    def path(token: str) -> str:
        """Where the public stream is."""
        return f"/api/v1/streaming?stream=public&access_token={token}"

    async def open(self, count: int) -> None:
        """Have this many listeners in all, and new ones for those that were disconnected."""
        listening = await asyncio.to_thread(self.listeners.listening)
        wanted = [(n, self.path(self.tokens[n])) for n in range(count) if n not in listening]
        await asyncio.to_thread(self.listeners.open, self.port, wanted)
        self.size = count
        await asyncio.sleep(1)

    def memory(self) -> float:
        """Bytes of the streaming process that are its own."""
        return float(self.process.memory_full_info().uss)

    def cpu(self) -> float:
        """Seconds so far."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    async def post(self, rate: float, seconds: float, send: Callable[[int, int], None]) -> Figures:
        """Send posts at this rate; what became of them, two seconds after the last at the earliest."""
        loop = asyncio.get_running_loop()
        sent: dict[int, tuple[int, float]] = {}
        before, reading, began = self.cpu(), self.listeners.cpu(), time.perf_counter()
        with ThreadPoolExecutor(4) as pool:
            work = []
            for place in range(int(rate * seconds)):
                await asyncio.sleep(max(0.0, began + place / rate - time.perf_counter()))
                number, author = self.next, self.next % AUTHORS
                self.next += 1
                sent[number] = author, time.perf_counter()
                work.append(loop.run_in_executor(pool, partial(send, number, author)))
            await asyncio.gather(*work)
        viewers = [Viewer(number) for number in range(self.size)]
        wants = [[viewer.wants(author) for author in range(AUTHORS)] for viewer in viewers]
        wanted = sum(wants[n][author] for n in range(self.size) for author, _at in sent.values())
        for _second in range(20):
            await asyncio.sleep(1)
            if await asyncio.to_thread(self.listeners.count) >= wanted:
                break
        await asyncio.sleep(1)
        used, read = self.cpu() - before, self.listeners.cpu() - reading
        came = await asyncio.to_thread(self.listeners.take)
        took: list[float] = []
        seen: set[tuple[int, int]] = set()
        wrong = 0
        for listener, number, moment, mark in zip(came.listeners, came.posts, came.times, came.marks, strict=True):
            author, at = sent.get(number, (0, 0.0))
            if not at or not wants[listener][author] or (listener, number) in seen:
                wrong += 1
                continue
            seen.add((listener, number))
            took.append(moment - at)
            wrong += bool(mark) != (viewers[listener].filters and number % 3 == 0)
        await self.forget()
        return Figures(took, wanted - len(took), wrong, used, read)

    async def forget(self) -> None:
        """Wait until nothing has come for two seconds, and forget what came."""
        before = -1
        while before != (before := await asyncio.to_thread(self.listeners.count)):
            await asyncio.sleep(2)
        await asyncio.to_thread(self.listeners.take)

    @asynccontextmanager
    async def watched(self, sockets: int) -> AsyncIterator[Watch]:
        """Look four times a second at the memory, and at when there are no more files than with so many sockets."""
        watch = Watch()
        others, memory, began = self.process.num_fds() - sockets, self.memory(), time.perf_counter()

        async def look() -> None:
            while True:
                await asyncio.sleep(0.25)
                watch.memory = max(watch.memory, self.memory() - memory)
                watch.left = self.process.num_fds() - others
                if watch.left <= 0 and watch.seconds is None:
                    watch.seconds = time.perf_counter() - began

        task = asyncio.create_task(look())
        try:
            yield watch
            await asyncio.sleep(0.5)
        finally:
            task.cancel()

    def write(self, number: int, author: int) -> None:
        """A post by the API."""
        form = {"status": text_of(number), "language": LANGUAGES[author % 4]}
        self.authors[author].call("POST", "/api/v1/statuses", form)


async def record(run: Run) -> dict[int, bytes]:
    """A message of the public channel by author, as it goes from a worker to the streaming process."""
    from social.kernel.streams import Hub
    from timelines.stores import channels

    found: asyncio.Queue[bytes] = asyncio.Queue()
    hub = Hub()
    hub.start()
    hub.subscribe(channels.PUBLIC_LOCAL, lambda _channel, data: found.put_nowait(data))
    assert await hub.settled(channels.PUBLIC_LOCAL, seconds=10)
    messages = {}
    for author in range(AUTHORS):
        # Number 0 is about coffee, 1 is not.
        for number in (0, 1):
            await asyncio.to_thread(run.write, number, author)
            async with asyncio.timeout(20):
                messages[2 * author + number] = await found.get()
    await hub.stop()
    await run.forget()
    return messages


async def measure(server: Instance, listeners: Listeners, options: argparse.Namespace) -> int:
    """Listen, post, compare."""
    authors, tokens, slow_tokens = await asyncio.to_thread(fill, options.sockets, options.slow)
    run = Run(server, listeners, authors, tokens)
    await run.open(20)
    await run.post(2, 2, run.write)
    empty = run.memory()
    sizes = sorted({max(20, options.sockets // 4), max(20, options.sockets // 2), options.sockets})
    costs: list[tuple[float, float]] = []
    for size in sizes:
        began = time.perf_counter()
        await run.open(size)
        opened = time.perf_counter() - began
        figures = await run.post(options.rate, options.seconds, run.write)
        posts = int(options.rate * options.seconds)
        costs.append((size, figures.cpu * 1000 / posts))
        print(f"{size:>6,} sockets (opened in {opened:.0f} s), {options.rate:g} posts/s: {figures}", flush=True)
    each = (run.memory() - empty) / max(1, options.sockets - 20)
    print(f"memory of a socket: {each / 1024:.1f} KiB")
    good = figures.holds

    from social.kernel import streams
    from timelines.stores import channels

    messages = await record(run)

    def publish(number: int, author: int) -> None:
        data = messages[2 * author + (number % 3 != 0)]
        old = text_of(1 if number % 3 else 0)[:15].encode()
        streams.publish(channels.PUBLIC_LOCAL, data.replace(old, f"Stream probe {number} ".encode()))

    highest, rate = 0.0, options.rate
    while rate <= options.highest:
        figures = await run.post(rate, options.seconds, publish)
        print(f"{options.sockets:>6,} sockets, {rate:g} messages/s: {figures}", flush=True)
        if not figures.holds:
            break
        highest, rate = rate, rate * 2
    print(f"the highest rate that holds: {highest:g} posts a second")
    good = await drown(run, slow_tokens, options, publish) and good
    title = f"The public stream at {options.rate:g} posts a second"
    print(
        draw(
            "streaming",
            title,
            across="sockets",
            up="CPU ms of a post",
            lines={"streaming process": costs},
            logarithmic=False,
        )
    )
    return 0 if good else 1


async def drown(
    run: Run, tokens: Sequence[str], options: argparse.Namespace, publish: Callable[[int, int], None]
) -> bool:
    """Send more than those who read nothing can hold; whether everybody else got all of it in time, and they are gone."""
    await run.open(options.sockets)
    paths = [(options.sockets + number, Run.path(token)) for number, token in enumerate(tokens)]
    before = run.process.num_fds()
    await asyncio.to_thread(run.listeners.open, run.port, paths, slow=True)
    async with run.watched(run.process.num_fds() - before) as watch:
        figures = await run.post(options.flood, options.drowning / options.flood, publish)
        deadline = time.perf_counter() + 20
        while watch.seconds is None and time.perf_counter() < deadline:
            await asyncio.sleep(0.5)
    codes = await asyncio.to_thread(run.listeners.read_on)
    print(f"{options.sockets:>6,} sockets beside {len(tokens)} that read nothing, {options.flood:g}/s: {figures}")
    gone = "not all" if watch.seconds is None else f"after {watch.seconds:.0f} s"
    print(
        f"slow clients disconnected: {gone} ({watch.left} left), until then {watch.memory / len(tokens) / 1024:.0f} KiB "
        f"each, or fewer; with the reason when they read on: {codes.count(CLOSE_CODE)} of {len(codes)}",
        flush=True,
    )
    return figures.holds and watch.seconds is not None


def main() -> int:
    """Start and measure; 1 when it is too slow, or wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sockets", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=4.0)
    parser.add_argument("--seconds", type=float, default=15.0, help="length of each run")
    parser.add_argument("--slow", type=int, default=200)
    parser.add_argument("--flood", type=float, default=16.0, help="messages a second beside slow clients")
    parser.add_argument("--drowning", type=int, default=1000, help="messages that are too many for who reads none")
    parser.add_argument("--highest", type=float, default=64.0)
    options = parser.parse_args()
    with Instance(WEB_WORKERS="1") as server:
        attach(server)
        with Listeners() as listeners:
            return asyncio.run(measure(server, listeners, options))


if __name__ == "__main__":
    sys.exit(main())
