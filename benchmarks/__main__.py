"""`make bench`: starts the server on a data directory of its own with two web workers and measures it.

CPU milliseconds per request, of all processes together (web, worker, scheduler, streaming, PostgreSQL, Valkey), are the
figure to compare: requests per second suffer from whatever else the machine does.
"""

from __future__ import annotations

import argparse
import time

from benchmarks.probes import fan_out, stream
from benchmarks.processes import Tree
from benchmarks.seeding import seed
from benchmarks.workloads import WORKLOADS, describe, run
from tests.support.instance import Instance


def main() -> None:
    """Seed, measure, print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--workloads", default=",".join(WORKLOADS), help="comma separated names")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one run")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--statuses", type=int, default=1000)
    arguments = parser.parse_args()
    with Instance(WEB_WORKERS="2") as server:
        assert server.process is not None
        tree = Tree(server.process.pid)
        time.sleep(3)
        print(f"memory after the start: {tree.memory():.0f} MiB")
        began = time.monotonic()
        seeded = seed(
            server.base_url,
            users=arguments.users,
            statuses=arguments.statuses,
            follows=20,
            favourites=arguments.statuses,
            reblogs=arguments.statuses // 3,
        )
        print(f"seeded in {time.monotonic() - began:.0f} s, memory: {tree.memory():.0f} MiB\n")
        print(f"{'':4} {'workload':32} {'at once':>7} {'CPU ms':>8} {'p50 ms':>8} {'p95 ms':>8} {'per s':>8}")
        for _round in range(arguments.rounds):
            for name in arguments.workloads.split(","):
                for concurrency in (1, 8):
                    figures = run(name, seeded, tree, concurrency=concurrency, seconds=arguments.seconds)
                    row = (figures.cpu, figures.p50, figures.p95, figures.rate)
                    shown = " ".join(f"{describe(value):>8}" for value in row)
                    print(f"{name:4} {WORKLOADS[name][0]:32} {concurrency:>7} {shown}", flush=True)
        for name, what, found in (
            ("W2", "a follower sees a post", fan_out(seeded)),
            ("S1", "public stream, 200 sockets", stream(seeded, f"ws://localhost:{server.streaming_port}")),
        ):
            print(f"{name:4} {what:32} p50 {found.p50:.0f} ms, p99 {found.p99:.0f} ms, lost {found.lost}", flush=True)
        print(f"\nmemory after all load: {tree.memory():.0f} MiB")
        print(f"stopped in {server.stop():.1f} s, warm start to the first answer {server.start():.1f} s")


if __name__ == "__main__":
    main()
