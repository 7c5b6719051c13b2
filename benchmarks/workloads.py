"""The workloads, with the names that the harness for other servers uses."""

import io
import itertools
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PIL import Image

from benchmarks.client import Client
from benchmarks.measuring import IDLE_SECONDS, wait_until_idle
from benchmarks.processes import Tree
from benchmarks.seeding import WORDS, Seeded, in_threads

Request = Callable[[Client, Seeded, random.Random], None]


@dataclass(frozen=True)
class Figures:
    """Results of a run: requests per second, milliseconds per request, and CPU milliseconds of all processes per request."""

    rate: float
    p50: float
    p95: float
    cpu: float


def _get(path: str, ids: str | None = None) -> Request:
    def ask(client: Client, seeded: Seeded, chance: random.Random) -> None:
        chosen = chance.choice(getattr(seeded, ids)) if ids else ""
        client.raw("GET", path.replace(":id", chosen))

    return ask


def _relationships(client: Client, seeded: Seeded, chance: random.Random) -> None:
    chosen = chance.sample(seeded.account_ids, min(20, len(seeded.account_ids)))
    client.raw("GET", "/api/v1/accounts/relationships?" + "&".join(f"id[]={number}" for number in chosen))


def _search(client: Client, seeded: Seeded, chance: random.Random) -> None:
    kind = chance.choice(("accounts", "hashtags", "statuses"))
    if kind == "accounts":
        name = f"bench{chance.randrange(len(seeded.tokens)):03d}"
        term = chance.choice((name, name[:-1]))
    elif kind == "hashtags":
        term = chance.choice(seeded.tags)[: chance.randint(4, 6)]
    else:
        term = chance.choice(WORDS)
    client.raw("GET", f"/api/v2/search?q={term}&type={kind}&resolve=false&limit=20")


def _instance(client: Client, seeded: Seeded, chance: random.Random) -> None:
    client.token, token = None, client.token
    client.raw("GET", "/api/v2/instance")
    client.token = token


def _post(client: Client, seeded: Seeded, chance: random.Random) -> None:
    client.call("POST", "/api/v1/statuses", {"status": f"A plain post, number {chance.random()}"})


def _toggle(client: Client, seeded: Seeded, chance: random.Random) -> None:
    chosen = chance.choice(seeded.status_ids)
    client.call("POST", f"/api/v1/statuses/{chosen}/favourite")
    client.call("POST", f"/api/v1/statuses/{chosen}/unfavourite")


def _picture() -> bytes:
    gradient = Image.linear_gradient("L").resize((1600, 1200))
    noise = Image.effect_noise((1600, 1200), 40)
    file = io.BytesIO()
    Image.merge("RGB", (gradient, noise, gradient.rotate(180))).save(file, "JPEG", quality=88)
    return file.getvalue()


_PICTURE = _picture()
_numbers = itertools.count()


def _upload(client: Client, seeded: Seeded, chance: random.Random) -> None:
    answer = client.upload("/api/v2/media", _PICTURE + str(next(_numbers)).encode())
    assert answer["url"], "still processing"


# name -> (description, request, API calls per request)
WORKLOADS: dict[str, tuple[str, Request, int]] = {
    "R1": ("home, 20 posts", _get("/api/v1/timelines/home?limit=20"), 1),
    "R2": ("home, 40 posts", _get("/api/v1/timelines/home?limit=40"), 1),
    "R3": ("public, 20 posts", _get("/api/v1/timelines/public?limit=20"), 1),
    "R4": ("one post", _get("/api/v1/statuses/:id", "status_ids"), 1),
    "R5": ("thread", _get("/api/v1/statuses/:id/context", "threads"), 1),
    "R6": ("notifications, 20", _get("/api/v1/notifications?limit=20"), 1),
    "R7": ("an account's posts, 20", _get("/api/v1/accounts/:id/statuses?limit=20", "account_ids"), 1),
    "R8": ("verify_credentials", _get("/api/v1/accounts/verify_credentials"), 1),
    "R9": ("relationships of 20", _relationships, 1),
    "R10": ("search, of each type a third", _search, 1),
    "R11": ("instance, signed out", _instance, 1),
    "R12": ("hashtag, 20 posts", _get("/api/v1/timelines/tag/:id?limit=20", "tags"), 1),
    "W1": ("post, background work included", _post, 1),
    "W3": ("favourite and back, per call", _toggle, 2),
    "W4": ("1600x1200 JPEG", _upload, 1),
}


def run(name: str, seeded: Seeded, tree: Tree, *, concurrency: int, seconds: float) -> Figures:
    """Repeat a workload in `concurrency` threads, wait until the background jobs are done, and return the figures."""
    _what, request, calls = WORKLOADS[name]
    took: list[float] = []
    began_cpu, began = tree.cpu(), time.monotonic()

    def work(number: int) -> None:
        chance = random.Random(f"{name}/{number}")
        clients = [Client(seeded.base, token) for token in chance.sample(seeded.tokens, min(10, len(seeded.tokens)))]
        mine = []
        while time.monotonic() - began < seconds:
            start = time.perf_counter()
            request(chance.choice(clients), seeded, chance)
            mine.append((time.perf_counter() - start) * 1000 / calls)
        took.extend(mine)

    in_threads(concurrency, work)
    wall = time.monotonic() - began
    drained = 0.0
    if name.startswith("W"):
        wait_until_idle(tree)
        drained = max(0.0, time.monotonic() - began - wall - IDLE_SECONDS)
    cpu = (tree.cpu() - began_cpu) * 1000 / (len(took) * calls)
    ordered = sorted(took)
    return Figures(
        rate=len(took) * calls / (wall + drained),
        p50=statistics.median(ordered),
        p95=ordered[int(len(ordered) * 0.95)],
        cpu=cpu,
    )


def describe(value: Any) -> str:
    """Return a figure as text, with two decimal places if it is below 10, and otherwise with none."""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"
