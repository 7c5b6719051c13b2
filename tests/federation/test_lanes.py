"""Tests that the number of jobs waiting for slow servers is limited, and that they delay nothing else (security rows 34 and
58).
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.db.models.functions import Now

from accounts.models import Account
from federation.inbound.fetch_queue import FETCHES
from federation.models import Fetch, InboundActivity
from federation.remote import requests
from federation.remote.fetching import Awaited, Gathered
from notifications.models import Notification
from social.kernel import clock
from social.kernel.outbox import OutboxRow, drain
from social.kernel.runner import TERMS, Host, Run
from statuses.models import Status
from tests.factories.accounts import make_token
from tests.factories.statuses import follow
from tests.federation.activities import met
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


class Dripping:
    """A server that accepts every connection and sends single bytes without ever completing a response."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://localhost:{self.listener.getsockname()[1]}"
        self.connections = 0
        self.open: list[socket.socket] = []

    @contextmanager
    def running(self) -> "Iterator[Dripping]":
        """Accept connections during the block."""
        threading.Thread(target=self._accept, daemon=True).start()
        try:
            yield self
        finally:
            self.listener.close()
            for connection in self.open:
                connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            self.open.append(connection)


@pytest.fixture
def dripping() -> Iterator[Dripping]:
    with Dripping().running() as server:
        yield server


@pytest.fixture
def home_of() -> Callable[[Account], list[str]]:
    """A function that returns the texts of a user's home timeline, as the client gets them."""

    def read(account: Account) -> list[str]:
        answer = Api(make_token(account.user)).get("/api/v1/timelines/home")
        return [status["content"] for status in answer.json()]

    return read


@pytest.fixture
def impatient(dripping: Dripping, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the timeout for the slow server only; other servers may respond slowly on a busy machine."""
    ask = Gathered.ask

    def ask_briefly(gathered: Gathered, awaited: Awaited, _deadline: float) -> Any:
        return ask(gathered, awaited, 0.2 if awaited.url.startswith(dripping.url) else 60.0)

    monkeypatch.setattr(Gathered, "ask", ask_briefly)


def send_all(someone: RemotePerson, activities: list[dict[str, Any]]) -> None:
    for activity in activities:
        assert someone.send(activity).status_code == 202


def drain_all_but(*left: str) -> None:
    """Run the jobs of all queues except these, as on a real server, where other queues have their own threads."""
    for _round in range(5):
        queues = set(OutboxRow.objects.values_list("queue", flat=True)) - set(left)
        if not sum(drain(queue) for queue in queues):
            return


def test_a_mention_in_a_reply_arrives_without_waiting_for_the_parent(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, dripping: Dripping
) -> None:
    tag = {"type": "Mention", "href": alice.uri}
    answer = zoe.note(to=[alice.uri], tag=[tag], inReplyTo=f"{dripping.url}/notes/1")
    send_all(zoe, [zoe.activity("Create", answer)])
    drain_all_but("fetches")
    assert InboundActivity.objects.get().outcome == "done"
    assert Notification.objects.filter(account=alice, type="mention").count() == 1
    assert (dripping.connections, Fetch.objects.get(kind="post").uri) == (0, f"{dripping.url}/notes/1")


@pytest.mark.parametrize("kind", ["Create", "Announce", "Update", "Follow", "Like", "Undo", "Delete", "Block"])
def test_the_ingress_queue_never_sends_requests_to_other_servers(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, kind: str
) -> None:
    follow(alice, met(zoe))
    yan = elsewhere.person("yan")
    target = {"Follow": alice.uri, "Block": alice.uri, "Update": zoe.document(), "Announce": yan.note()["id"]}
    obj = target.get(kind, f"{zoe.uri}/statuses/1")
    send_all(zoe, [zoe.activity(kind, obj, to=[alice.uri])])
    asked = len(elsewhere.asked)
    drain("ingress")
    assert len(elsewhere.asked) == asked


def test_a_post_given_by_its_id_is_not_fetched_when_it_concerns_nobody(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    elsewhere.serve(zoe.note())
    met(zoe)
    asked = len(elsewhere.gets())
    send_all(zoe, [zoe.activity("Create", zoe.note()["id"])])
    work()
    assert len(elsewhere.gets()) == asked
    assert InboundActivity.objects.get().outcome == "rejected: the post is not relevant to anybody here"


def test_a_post_given_by_its_id_is_fetched_for_the_accounts_it_addresses(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    note = elsewhere.serve(zoe.note(to=[alice.uri]))
    send_all(zoe, [zoe.activity("Create", note["id"], to=[alice.uri])])
    work()
    assert InboundActivity.objects.get().outcome == "done"
    assert Status.objects.get().uri == note["id"]


def test_a_thread_is_fetched_up_to_a_budget_however_long_it_is(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    follow(alice, met(zoe))
    for number in range(2, 60):
        elsewhere.serve(zoe.note(number=number, inReplyTo=zoe.note(number=number + 1)["id"]))
    asked = len(elsewhere.gets())
    send_all(zoe, [zoe.activity("Create", zoe.note(number=1, inReplyTo=zoe.note(number=2)["id"]))])
    work(100)
    assert len(elsewhere.gets()) - asked == requests.ANCESTORS
    assert len(Status.objects.get(uri=zoe.note(number=1)["id"]).path) == requests.ANCESTORS + 1


@pytest.mark.usefixtures("impatient")
def test_a_very_slow_server_gets_few_requests_and_then_a_pause(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, dripping: Dripping
) -> None:
    follow(alice, met(zoe))
    send_all(
        zoe,
        [
            zoe.activity("Create", zoe.note(number=number, inReplyTo=f"{dripping.url}/notes/{number}"))
            for number in range(30)
        ],
    )
    yan = elsewhere.person("yan")
    healthy = elsewhere.serve(yan.note("<p>healthy</p>"))
    send_all(zoe, [zoe.activity("Create", zoe.note(number=99, inReplyTo=healthy["id"]))])
    work()
    assert Status.objects.filter(content="<p>healthy</p>").exists()
    assert dripping.connections <= TERMS["fetches"].per_host
    assert Fetch.objects.count() == 30
    assert Host.objects.get().retry_at > clock.now() + timedelta(seconds=TERMS["fetches"].pause / 2)
    Host.objects.update(retry_at=clock.now())
    before = dripping.connections
    FETCHES.run()
    assert dripping.connections == before + 1, "later a single request probes the server"
    assert Status.objects.count() == 32


@pytest.mark.usefixtures("impatient")
def test_a_fetch_that_always_fails_is_given_up_and_later_deleted(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, dripping: Dripping
) -> None:
    follow(alice, met(zoe))
    send_all(zoe, [zoe.activity("Create", zoe.note(inReplyTo=f"{dripping.url}/notes/1"))])
    work()
    for _attempt in range(TERMS["fetches"].attempts + 2):
        Fetch.objects.update(due_at=Now())
        Host.objects.all().delete()
        FETCHES.run()
    assert Fetch.objects.get().dead_at is not None
    assert dripping.connections == TERMS["fetches"].attempts
    send_all(zoe, [zoe.activity("Create", zoe.note(number=2, inReplyTo=f"{dripping.url}/notes/1"))])
    work()
    assert dripping.connections == TERMS["fetches"].attempts, "a fetch that was given up is not repeated immediately"
    Fetch.objects.update(dead_at=F("dead_at") - TERMS["fetches"].kept)
    assert FETCHES.forget_given_up() == 1


def test_waiting_fetches_of_one_server_are_limited(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, dripping: Dripping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TERMS, "fetches", replace(TERMS["fetches"], waiting=5))
    follow(alice, met(zoe))
    posts = [zoe.note(number=number, inReplyTo=f"{dripping.url}/notes/{number}") for number in range(12)]
    send_all(zoe, [zoe.activity("Create", post) for post in posts])
    drain_all_but("fetches")
    assert (Fetch.objects.count(), Status.objects.count()) == (5, 12)


def test_one_fetch_causes_a_bounded_number_of_requests(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """Fetching a chain of keys and actors that name one another ends after a few requests."""
    follow(alice, met(zoe))
    asked = len(elsewhere.gets())
    # The id in each document is the address of the next one. A document is fetched once more at its id, and the chain ends
    # there.
    for number in range(40):
        elsewhere.serve(zoe.note(number=number + 1), path=f"/users/zoe/statuses/{number}")
    send_all(zoe, [zoe.activity("Announce", f"{zoe.uri}/statuses/0", to=[alice.uri])])
    work()
    assert len(elsewhere.gets()) - asked <= 8
    assert InboundActivity.objects.get().outcome.startswith("rejected")


def test_a_reply_appears_in_the_home_timeline_once_its_parent_is_known(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, home_of: Any
) -> None:
    yan = elsewhere.person("yan")
    for someone in (zoe, yan):
        follow(alice, met(someone))
    question = elsewhere.serve(yan.note("<p>question</p>"))
    assert home_of(alice) == []
    send_all(zoe, [zoe.activity("Create", zoe.note("<p>answer</p>", inReplyTo=question["id"]))])
    drain_all_but("fetches")
    assert home_of(alice) == []
    work()
    assert "<p>answer</p>" in home_of(alice)
    assert Status.objects.get(content="<p>question</p>").stat.replies_count == 1


@pytest.mark.parametrize("length", [1, 2, 3])
def test_posts_that_reply_to_each_other_do_not_become_their_own_ancestors(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, length: int
) -> None:
    follow(alice, met(zoe))
    ids = [zoe.note(number=number)["id"] for number in range(length)]
    for number in range(length):
        send_all(zoe, [zoe.activity("Create", zoe.note(number=number, inReplyTo=ids[(number + 1) % length]))])
        drain_all_but("fetches")
    posts = {status.id: status for status in Status.objects.all()}
    assert len(posts) == length
    for status in posts.values():
        seen, above = {status.id}, status.in_reply_to_id
        while above is not None:
            assert above not in seen, "a post is never its own ancestor"
            seen.add(above)
            above = posts[above].in_reply_to_id
        assert len(set(status.path)) == len(status.path)


def test_an_account_not_fetched_for_a_day_is_fetched_in_the_background(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    account = met(zoe)
    Account.objects.filter(id=account.id).update(fetched_at=clock.now() - timedelta(days=2))
    elsewhere.serve(zoe.document() | {"name": "New"})
    send_all(zoe, [zoe.activity("Follow", alice.uri), zoe.activity("Follow", alice.uri)])
    asked = len(elsewhere.gets())
    drain("ingress")
    assert (len(elsewhere.gets()), Fetch.objects.count()) == (asked, 1)
    work()
    account.refresh_from_db()
    assert account.display_name == "New"


def test_requests_to_slow_servers_run_at_the_same_time(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """Each of ten servers responds only after all ten have received a request."""
    follow(alice, met(zoe))
    all_asked = threading.Barrier(10)
    with ExitStack() as stack:
        servers = [stack.enter_context(RemoteServer().running()) for _ in range(10)]
        for number, server in enumerate(servers):
            parent = f"{server.url}/notes/1"
            server.before_answer = lambda: all_asked.wait(5)
            send_all(zoe, [zoe.activity("Create", zoe.note(number=number, inReplyTo=parent))])
        drain_all_but("fetches")
        FETCHES.run()
    # The fetches fail in the order in which the responses arrive, which varies.
    assert sorted(Fetch.objects.values_list("last_error", flat=True)) == sorted(
        f"404 from {server.domain}" for server in servers
    )


def test_a_forwarded_reply_to_a_post_that_concerns_no_local_account_is_not_fetched(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    follow(alice, met(zoe))
    yan, xan = elsewhere.person("yan"), elsewhere.person("xan")
    strange = elsewhere.serve(yan.note("<p>strange</p>"))
    send_all(zoe, [zoe.activity("Announce", strange["id"])])
    work()
    assert Status.objects.filter(uri=strange["id"]).exists()
    answer = elsewhere.serve(xan.note(inReplyTo=strange["id"]))
    asked = len(elsewhere.gets())
    send_all(zoe, [zoe.activity("Create", answer) | {"actor": xan.uri}])
    work()
    assert len(elsewhere.gets()) == asked
    assert not Status.objects.filter(uri=answer["id"]).exists()


def test_a_fetch_whose_process_was_killed_is_resumed_without_another_event(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    follow(alice, met(zoe))
    question = elsewhere.serve(elsewhere.person("yan").note("<p>question</p>"))
    send_all(zoe, [zoe.activity("Create", zoe.note(inReplyTo=question["id"]))])
    drain_all_but("fetches")
    assert len(Run(FETCHES).claim()) == 1
    work()
    assert not Status.objects.filter(uri=question["id"]).exists(), "the other process may still be running the fetch"
    Fetch.objects.update(claimed_until=Now())
    later = OutboxRow.objects.filter(event="FetchesDue")
    assert later.update(due_at=clock.now() - timedelta(days=1)) == 1, "the post is requested again"
    work()
    assert Status.objects.filter(uri=question["id"]).exists()


def test_a_fetch_that_crashes_its_process_each_time_is_given_up(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    follow(alice, met(zoe))
    question = elsewhere.serve(elsewhere.person("yan").note("<p>question</p>"))
    send_all(zoe, [zoe.activity("Create", zoe.note(inReplyTo=question["id"]))])
    drain_all_but("fetches")
    for _attempt in range(TERMS["fetches"].attempts):
        assert len(Run(FETCHES).claim()) == 1
        Fetch.objects.update(claimed_until=Now())
    asked = len(elsewhere.gets())
    FETCHES.run()
    assert (Fetch.objects.get().dead_at is not None, len(elsewhere.gets())) == (True, asked)


@pytest.mark.usefixtures("impatient")
def test_new_fetches_from_a_silent_server_wait_too(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, dripping: Dripping
) -> None:
    follow(alice, met(zoe))
    for number in range(3):
        send_all(zoe, [zoe.activity("Create", zoe.note(number=number, inReplyTo=f"{dripping.url}/notes/{number}"))])
        work()
    assert (dripping.connections, Fetch.objects.count()) == (1, 3)
    Host.objects.update(retry_at=clock.now() - timedelta(days=2))
    FETCHES.forget_given_up()
    assert not Host.objects.exists(), "host names that anybody can invent are not stored"
