"""`make bench`: measures a new server with two web workers and a data directory of its own.

Compare the CPU milliseconds per request, summed over all processes (web, worker, scheduler, streaming, PostgreSQL, Valkey): the
requests per second also depend on the load of the machine. As in the harness that measures other servers, reads come before
writes, each workload runs after a warm-up, the whole list runs once per round, and the medians are printed.
"""

import argparse
import statistics
import time
from collections.abc import Sequence

from benchmarks.probes import fan_out, stream
from benchmarks.processes import Tree
from benchmarks.seeding import Seeded, seed
from benchmarks.workloads import WORKLOADS, Figures, describe, run
from tests.support.instance import Instance

CONCURRENCIES = (1, 8)
WARM_UP = 2.0


def measure(
    names: Sequence[str], seeded: Seeded, tree: Tree, *, rounds: int, seconds: float
) -> dict[tuple[str, int], list[Figures]]:
    """Return the figures of each workload at each concurrency, one per round."""
    found: dict[tuple[str, int], list[Figures]] = {(name, at_once): [] for name in names for at_once in CONCURRENCIES}
    for _round in range(rounds):
        for name in names:
            run(name, seeded, tree, concurrency=max(CONCURRENCIES), seconds=WARM_UP)
            for at_once in CONCURRENCIES:
                found[name, at_once].append(run(name, seeded, tree, concurrency=at_once, seconds=seconds))
    return found


def show(found: dict[tuple[str, int], list[Figures]]) -> None:
    """Print the medians, and the lowest and highest CPU time of the rounds."""
    for (name, at_once), rounds in found.items():
        row = [
            statistics.median(column) for column in zip(*((f.cpu, f.p50, f.p95, f.rate) for f in rounds), strict=True)
        ]
        shown = " ".join(f"{describe(value):>8}" for value in row)
        spread = f"{describe(min(f.cpu for f in rounds))}-{describe(max(f.cpu for f in rounds))}"
        print(f"{name:4} {WORKLOADS[name][0]:32} {at_once:>7} {shown}   {spread}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="benchmarks",
        description=__doc__,
        epilog="Others, each with --help: python -m benchmarks.federation, .media, .pages, .scale",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--workloads", default=",".join(WORKLOADS), help="comma separated names")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--statuses", type=int, default=1000)
    arguments = parser.parse_args()
    with Instance(WEB_WORKERS="2") as server:
        tree = Tree(server)
        time.sleep(3)
        print(f"memory after the start: {tree.memory()}")
        began = time.monotonic()
        seeded = seed(server.base_url, users=arguments.users, statuses=arguments.statuses, follows=20)
        print(f"seeded in {time.monotonic() - began:.0f} s, memory: {tree.memory()}\n")
        print(f"{'':37} {'at once':>7} {'CPU ms':>8} {'p50 ms':>8} {'p95 ms':>8} {'per s':>8}   CPU ms of the rounds")
        names = arguments.workloads.split(",")
        for kind in ("R", "W"):
            chosen = [name for name in names if name.startswith(kind)]
            show(measure(chosen, seeded, tree, rounds=arguments.rounds, seconds=arguments.seconds))
        for name, what, found in (
            ("W2", "a follower sees a post", fan_out(seeded)),
            ("S1", "public stream, 200 sockets", stream(seeded, f"ws://localhost:{server.streaming_port}")),
        ):
            print(f"{name:4} {what:32} p50 {found.p50:.0f} ms, p99 {found.p99:.0f} ms, lost {found.lost}", flush=True)
        print(f"\nmemory after all load: {tree.memory()}")
        print(f"stopped in {server.stop():.1f} s, warm start to the first answer {server.start():.1f} s")


if __name__ == "__main__":
    main()
