"""Tests that host names which do not resolve block no other lookup (security row 72)."""

import asyncio
import functools
import threading
import time
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any

import pytest

from social.kernel.http import client, resolver
from social.kernel.http.client import GuardedClient, Policy, Request, Unreachable
from social.kernel.http.limits import context_for_asker, using_queue
from social.kernel.http.resolver import CheckedResolver
from social.kernel.terms import TERMS
from tests.kernel.http.attacker import Attacker
from tests.runtime.processes import eventually
from tests.support.patience import SOON


class Silence:
    """A resolver: lookups of names under `silent.example` hang until the end of the test, and other names resolve to this
    machine.
    """

    def __init__(self) -> None:
        self.end = threading.Event()
        self.hanging: list[str] = []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        if host.endswith(".silent.example"):
            self.hanging.append(host)
            self.end.wait(60)
        return ["127.0.0.1"]


@pytest.fixture
def silence() -> Iterator[Silence]:
    made = Silence()
    yield made
    made.end.set()


def ask_silent(names: CheckedResolver, first: int, number: int, wanted_by: str = "") -> list[asyncio.Task[Any]]:
    context = context_for_asker(wanted_by)
    return [
        asyncio.get_running_loop().create_task(names.resolve(f"n{first + i}.silent.example"), context=context)
        for i in range(number)
    ]


def test_row_72_look_ups_for_one_asker_take_at_most_a_quarter_of_the_slots(silence: Silence) -> None:
    async def go() -> None:
        names = CheckedResolver(lambda _address: True, silence, limit=8)
        tasks = ask_silent(names, 0, 20, "account:1")
        while len(silence.hanging) < 2:
            await asyncio.sleep(0.01)
        other = asyncio.create_task(names.resolve("well.example"), context=context_for_asker("evil.example"))
        (found,) = await asyncio.wait_for(other, SOON)
        assert (found["host"], len(silence.hanging)) == ("127.0.0.1", 2)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(go())


def test_row_72_a_look_up_times_out_but_occupies_its_slot_until_its_thread_ends(
    silence: Silence, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolver, "LOOKUP_SECONDS", 0.1)

    async def go() -> None:
        names = CheckedResolver(lambda _address: True, silence, limit=1)
        for host, reason in (("n.silent.example", "no name server"), ("well.example", "too many names")):
            with pytest.raises(OSError, match=reason):
                await names.resolve(host)
        silence.end.set()
        (found,) = await names.resolve("well.example")
        assert found["host"] == "127.0.0.1"

    asyncio.run(go())


def test_row_72_look_ups_for_imports_and_unknown_callers_take_no_slots_of_deliveries(
    silence: Silence, monkeypatch: pytest.MonkeyPatch, attacker: Attacker
) -> None:
    monkeypatch.setattr(client, "GuardedClient", functools.partial(GuardedClient, lookup=silence))
    monkeypatch.setattr(client, "_client_for", functools.cache(client._client_for.__wrapped__))
    monkeypatch.setattr(client, "policy_from_settings", lambda: Policy(loopback=True))

    async def all_silent(queue: str) -> None:
        requests = (Request(f"http://{queue}{i}.silent.example/") for i in range(TERMS[queue].at_once))
        await asyncio.gather(*map(client.fetch_async, requests), return_exceptions=True)

    def hang(queue: str) -> threading.Thread:
        def work(coroutine: Coroutine[Any, Any, None]) -> None:
            with using_queue(queue), pytest.raises(TimeoutError):
                client.run(coroutine, timeout=2.0)

        thread = threading.Thread(target=work, args=(all_silent(queue),))
        thread.start()
        return thread

    threads = [hang("lookups"), hang("fetches")]
    places = TERMS["lookups"].lookups + TERMS["fetches"].lookups
    eventually(lambda: len(silence.hanging) >= places)
    began = time.monotonic()
    with using_queue("deliveries"):
        assert client.fetch(Request(attacker.url(host="well.example"))).status == 200
    assert time.monotonic() - began < 1.0
    for thread in threads:
        thread.join()
    assert len(silence.hanging) == places


def test_row_72_a_host_whose_look_up_hangs_counts_as_unreachable(
    silence: Silence, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolver, "LOOKUP_SECONDS", 0.1)
    with pytest.raises(Unreachable, match="no name server has answered"):
        GuardedClient(Policy(loopback=True), lookup=silence).send(Request("http://n.silent.example/"))
