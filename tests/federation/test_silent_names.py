"""Tests of host names that do not resolve: many of them must not delay other requests (security row 72)."""

import contextlib
import functools
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import dns.exception
import pytest
from django.db import connections, transaction

from accounts.models import Account
from accounts.transfers.services.importing import read_import, start_import
from accounts.transfers.services.portable_lists import find_list
from federation.inbound.fetch_queue import LOOKUPS
from federation.models import Fetch, FetchKind, Lookup
from federation.outbound.delivering import DELIVERIES
from federation.outbound.queueing import enqueue as send
from federation.remote import requests
from social.kernel import clock
from social.kernel.http import client
from social.kernel.http.client import GuardedClient
from social.kernel.outbox import drain
from social.kernel.runner import TERMS, enqueue
from social.kernel.terms import TURNS_LIMIT
from tests.factories.accounts import make_user
from tests.federation.remote_server import Asked, RemoteServer
from tests.runtime.processes import eventually
from tests.support.name_server import name_server

OTHERS = 20


@pytest.mark.django_db
def test_row_72_fetches_for_one_account_take_turns_with_fetches_for_others() -> None:
    per_asker = TERMS["lookups"].per_asker
    enqueue(
        *(Lookup(address=f"p@n{i}.example", host=f"n{i}.example", wanted_by="account:1") for i in range(3 * per_asker))
    )
    enqueue(Lookup(address="p@other.example", host="other.example", wanted_by="account:2"))
    now = clock.now()
    assert Lookup.objects.filter(wanted_by="account:1", due_at__lte=now).count() == per_asker
    assert Lookup.objects.filter(due_at__lte=now).count() == per_asker + 1
    assert Lookup.objects.latest("due_at").due_at < now + timedelta(seconds=11)


@pytest.mark.django_db
def test_row_72_fetches_from_third_servers_caused_by_one_server_are_limited() -> None:
    most = TERMS["fetches"].per_asker * TURNS_LIMIT
    sender = "https://evil.example/notes/1"
    requests.request_posts([f"https://n{i}.example/notes/1" for i in range(most + 100)], named_by=sender, remaining=0)
    assert Fetch.objects.filter(wanted_by="evil.example").count() == most
    requests.request_posts(["https://evil.example/notes/2"], named_by=sender, remaining=0)
    requests.request_posts(["https://n1.example/notes/2"], named_by="https://well.example/notes/1", remaining=0)
    for uri in ("https://evil.example/notes/2", "https://n1.example/notes/2"):
        assert Fetch.objects.get(kind=FetchKind.POST, uri=uri).due_at <= clock.now()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("names", "hanging", "seconds"),
    [(300, 1.5, 0.6), pytest.param(20_000, 10.0, 60.0, marks=pytest.mark.verify)],
    ids=["short", "long"],
)
def test_row_72_a_list_of_names_that_do_not_resolve_delays_no_delivery_to_others(
    names: int, hanging: float, seconds: float, elsewhere: RemoteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = make_user("ada"), make_user("bob")
    silent = [f"n{i}.silent.example" for i in range(names)]
    arrived: dict[str, float] = {}

    def note(asked: Asked) -> int:
        arrived[asked.activity()["id"]] = time.monotonic()
        return 202

    elsewhere.judge = note
    port = elsewhere.http.server_port
    zone = {(f"s{i}.localhost", "A"): ["127.0.0.1"] for i in range(OTHERS)}
    with name_server(zone, silent=silent) as server:

        def look_up(host: str, _port: int) -> Sequence[str]:
            try:
                answer = server.resolver().resolve(f"{host}.", "A", search=False, lifetime=hanging)
            except dns.exception.DNSException as error:
                raise OSError(str(error)) from None
            return [str(record) for record in answer]

        monkeypatch.setattr(client, "GuardedClient", functools.partial(GuardedClient, lookup=look_up))
        monkeypatch.setattr(client, "_client_for", functools.cache(client._client_for.__wrapped__))
        # A short timeout, so that the test ends soon.
        monkeypatch.setitem(
            TERMS, "lookups", replace(TERMS["lookups"], slice_seconds=0.5, row_seconds=min(4.0, 2 * hanging))
        )
        bring(ada.account, [f"p@{name}" for name in silent])
        over = threading.Event()

        def again(work: Callable[[], object]) -> threading.Thread:
            def loop() -> None:
                while not over.is_set():
                    work()
                    over.wait(0.05)
                connections.close_all()

            thread = threading.Thread(target=loop)
            thread.start()
            return thread

        threads = [again(lambda: drain("transfers")), again(LOOKUPS.run), again(DELIVERIES.run)]
        sent: dict[str, float] = {}
        try:
            eventually(lambda: len(server.asked) >= TERMS["lookups"].per_asker)
            end, number = time.monotonic() + seconds, 0
            while time.monotonic() < end:
                number += 1
                for other in range(OTHERS):
                    document = {"id": f"{bob.account.uri}#{number}-{other}", "type": "Note"}
                    inbox = f"http://s{other}.localhost:{port}/inbox"
                    sent[document["id"]] = time.monotonic()
                    with transaction.atomic():
                        send(account=bob.account, document=document, inboxes=[inbox], key=f"status:{number}")
                time.sleep(0.3)
            with contextlib.suppress(AssertionError):
                eventually(lambda: len(arrived) == len(sent), seconds=2.0)
        finally:
            over.set()
            for thread in threads:
                thread.join()
    took = sorted(arrived.get(name, math.inf) - sent_at for name, sent_at in sent.items())
    p99 = took[int(len(took) * 0.99)]
    assert p99 < 2.0, (len(took), took[len(took) // 2], p99)


def bring(account: Account, addresses: list[str]) -> None:
    data = "".join(f"{address}\n" for address in addresses).encode()
    made = read_import(account=account, portable=find_list("follows"), data=data, file_name="x.csv", overwrite=False)
    start_import(account=account, import_id=made.id)
