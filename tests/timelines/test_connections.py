"""Tests of the server's side of streams, without real clients: slow connections are closed, and lost messages are repeated."""

import asyncio
import threading
from collections.abc import Callable, Collection
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import OperationalError

from accounts.identity.services.sessions import publish_user_state
from accounts.models import AccessToken, AccountDomainBlock, Block, Mute, User
from accounts.services.blocking import mute_account
from social.api.identities import Identity, find_in_database
from social.kernel import clock, redis, streams
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_status
from tests.timelines.conftest import Person, follow, work
from timelines.consumers import connection as connections
from timelines.consumers import viewers
from timelines.consumers.connection import Connection
from timelines.consumers.registry import ConnectionRegistry
from timelines.consumers.threads import in_thread
from timelines.consumers.viewers import Viewers
from timelines.policies.streams import Stream, StreamError, Viewer
from timelines.queries.fan_out import load_viewer
from timelines.services.broadcasting import (
    broadcast_to_account,
    broadcast_to_everybody,
    publish_relations_changed,
)
from timelines.stores import channels, feed
from timelines.stores.messages import Event, Facts, Message, status_event

pytestmark = pytest.mark.django_db(transaction=True)


class Client:
    """A fake client with the server's connection to it. It records the messages and whether the connection was closed."""

    def __init__(self, registry: ConnectionRegistry, identity: Identity, *, address: str = "127.0.0.1") -> None:
        self.written: asyncio.Queue[tuple[Stream, Message]] = asyncio.Queue()
        self.closed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.ready = asyncio.Event()
        self.ready.set()
        self.connection = Connection(registry, identity, self._send, self._close, address=address)
        self.task: asyncio.Task[None] | None = None

    async def _send(self, stream: Stream, message: Message) -> None:
        await self.ready.wait()
        self.written.put_nowait((stream, message))

    async def _close(self, too_slow: bool) -> None:
        self.closed.set_result(too_slow)

    async def open(self) -> bool:
        opened = await self.connection.open()
        self.task = asyncio.create_task(self.connection.run())
        return opened

    async def next(self) -> Message:
        async with asyncio.timeout(60):
            return (await self.written.get())[1]


@pytest.fixture
def identity(reader: Person) -> Identity:
    found = find_in_database(str(reader.api.token))
    assert found is not None
    return found


async def test_only_the_client_with_a_full_queue_is_disconnected(
    registry: ConnectionRegistry, identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "QUEUE_SIZE", 10)
    slow, quick = Client(registry, identity), Client(registry, identity)
    for client in (slow, quick):
        assert await client.open()
        await client.connection.subscribe("user")
    slow.ready.clear()
    for number in range(15):
        await in_thread(broadcast_to_account, int(identity.account_id or 0), Event.ANNOUNCEMENT, b"%d" % number)
        assert (await quick.next()).payload == b"%d" % number
    slow.ready.set()
    async with asyncio.timeout(60):
        assert await slow.closed is True
    assert not quick.closed.done()
    assert slow.written.qsize() == 1, "queued events are not sent during a disconnection"


async def test_a_stream_whose_feed_could_not_be_built_starts_at_the_next_request(
    registry: ConnectionRegistry, identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, account_id = Client(registry, identity), int(identity.account_id or 0)
    assert await client.open()

    def fail(*_arguments: object) -> None:
        raise OperationalError("away")

    with monkeypatch.context() as patch:
        patch.setattr(connections, "build_open_feed", fail)
        with pytest.raises(StreamError) as raised:
            await client.connection.subscribe("user")
    assert raised.value.status == 503
    assert not redis.client("feeds").exists(redis.key("feeds", "feed", feed.home(account_id)))
    await client.connection.subscribe("user")
    assert redis.client("feeds").exists(redis.key("feeds", "feed", feed.home(account_id)))
    await in_thread(broadcast_to_account, account_id, Event.ANNOUNCEMENT, b"1")
    assert (await client.next()).payload == b"1"


async def test_streams_of_a_token_revoked_without_an_event_end_at_the_next_sweep(
    registry: ConnectionRegistry, identity: Identity
) -> None:
    client = Client(registry, identity)
    assert await client.open()
    await registry.sweep()
    assert not client.closed.done()
    await in_thread(AccessToken.objects.filter(id=identity.token_id).delete)
    await registry.sweep()
    async with asyncio.timeout(60):
        assert await client.closed is False


async def test_no_stream_opens_if_its_token_is_revoked_meanwhile(
    registry: ConnectionRegistry, identity: Identity
) -> None:
    await in_thread(AccessToken.objects.filter(id=identity.token_id).delete)
    assert not await Client(registry, identity).open()


@pytest.mark.parametrize("state", ["disabled", "unapproved", "suspended", "moved"])
async def test_the_sweep_also_checks_the_user(registry: ConnectionRegistry, identity: Identity, state: str) -> None:
    client = Client(registry, identity)
    assert await client.open()

    def change() -> None:
        user = User.objects.select_related("account").get(id=identity.user_id)
        if state == "suspended":
            user.account.suspended_at = clock.now()
            user.account.save()
        elif state == "moved":
            user.account.moved_to = make_remote()
            user.account.save()
        else:
            user.disabled_at = clock.now() if state == "disabled" else None
            user.approved = state != "unapproved"
            user.save()

    await in_thread(change)
    await registry.sweep()
    async with asyncio.timeout(60):
        assert await client.closed is False


async def test_a_user_disabled_during_the_check_of_an_earlier_change_loses_the_stream(
    registry: ConnectionRegistry, identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(registry, identity)
    assert await client.open()
    was_read, may_answer = threading.Event(), threading.Event()
    original = connections.list_valid_tokens

    def answer_late(token_ids: Collection[int]) -> set[int]:
        good = original(token_ids)
        was_read.set()
        assert may_answer.wait(60)
        return good

    monkeypatch.setattr(connections, "list_valid_tokens", answer_late)
    user = await in_thread(User.objects.get, id=identity.user_id)
    await in_thread(publish_user_state, user=user)
    await in_thread(work)
    async with asyncio.timeout(30):  # in seconds; the periodic check would run only after 60
        assert await asyncio.to_thread(was_read.wait, 60)
        await in_thread(User.objects.filter(id=user.id).update, disabled_at=clock.now())
        await in_thread(publish_user_state, user=user)
        await in_thread(work)
        # Both messages have arrived once the response to a later command has arrived.
        await client.connection.subscribe("user")
        await in_thread(broadcast_to_account, int(identity.account_id or 0), Event.ANNOUNCEMENT, b"1")
        await client.next()
        may_answer.set()
        assert await client.closed is False


async def test_changed_blocks_apply_to_all_streams_of_the_viewer_after_one_query(
    registry: ConnectionRegistry, identity: Identity, author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    from timelines.consumers import viewers

    reads: list[int] = []
    original = viewers.load_viewer
    monkeypatch.setattr(viewers, "load_viewer", lambda account: reads.append(account) or original(account))
    clients = [Client(registry, identity) for _ in range(3)]
    for client in clients:
        assert await client.open()
        await client.connection.subscribe("public:local")
    account_id = int(identity.account_id or 0)

    async def post(number: int, author_id: int) -> None:
        message = status_event(Event.UPDATE, b'{"id":"%d"}' % number, facts=Facts(author_id))
        await in_thread(streams.publish, channels.PUBLIC_LOCAL, message.encode())

    await post(1, author.id)
    assert {(await client.next()).payload for client in clients} == {b'{"id":"1"}'}
    await in_thread(Block.objects.create, account_id=account_id, target_id=author.id)
    await in_thread(publish_relations_changed, [account_id])
    await post(2, author.id)
    await post(3, account_id)
    assert {(await client.next()).payload for client in clients} == {b'{"id":"3"}'}
    assert reads == [account_id, account_id]
    for client in clients:
        client.connection.leave()
    await post(4, account_id)
    assert all(client.written.empty() for client in clients)


async def test_the_first_event_of_a_stream_needs_no_query(
    registry: ConnectionRegistry, identity: Identity, author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(registry, identity)
    assert await client.open()
    await client.connection.subscribe("public:local")

    def unexpected(_account_id: int) -> Viewer:
        raise AssertionError("the viewer was loaded while events were waiting")

    monkeypatch.setattr(viewers, "load_viewer", unexpected)
    message = status_event(Event.UPDATE, b'{"id":"1"}', facts=Facts(author.id))
    await in_thread(streams.publish, channels.PUBLIC_LOCAL, message.encode())
    assert (await client.next()).payload == b'{"id":"1"}'


async def test_viewers_are_reloaded_after_five_minutes_a_few_at_a_time(
    reader: Person, author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []

    def counting(account_id: int) -> Viewer:
        reads.append(account_id)
        return load_viewer(account_id)

    monkeypatch.setattr(viewers, "load_viewer", counting)
    known = Viewers()
    people = [known.take(account_id) for account_id in (reader.id, *range(1, 40))]
    for watched in people:
        await watched.get()
    await known.renew()
    assert len(reads) == len(people)
    await in_thread(Block.objects.create, account_id=reader.id, target_id=author.id)
    monkeypatch.setattr(viewers, "RENEWAL_SECONDS", 0.0)
    await known.renew()
    assert reads[len(people) :] == [watched.account_id for watched in people[:10]], (
        "the viewers loaded longest ago come first"
    )
    assert author.id in (await people[0].get()).hidden.blocking
    people[1].forget(Message("relations"))
    for _turn in range(5):
        await known.renew()
    assert set(reads[len(people) + 10 :]) >= {watched.account_id for watched in people[10:]}


async def test_an_expired_mute_no_longer_hides_posts_from_an_open_stream(
    registry: ConnectionRegistry, identity: Identity, author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    account_id = int(identity.account_id or 0)
    end = clock.now() + timedelta(hours=1)
    await in_thread(Mute.objects.create, account_id=account_id, target_id=author.id, expires_at=end)
    client = Client(registry, identity)
    assert await client.open()
    await client.connection.subscribe("public:local")
    await _post(1, Facts(author.id))
    await _post(2, Facts(account_id))
    assert (await client.next()).payload == b'{"id":"2"}'
    monkeypatch.setattr(connections, "clock", SimpleNamespace(now=lambda: end))
    await _post(3, Facts(author.id))
    assert (await client.next()).payload == b'{"id":"3"}'


async def test_public_streams_leave_out_posts_of_a_blocked_server(
    registry: ConnectionRegistry, identity: Identity
) -> None:
    account_id = int(identity.account_id or 0)
    await in_thread(AccountDomainBlock.objects.create, account_id=account_id, domain="blocked.example")
    client = Client(registry, identity)
    assert await client.open()
    await client.connection.subscribe("public:local")
    await _post(1, Facts(1, domain="blocked.example"))
    await _post(2, Facts(2, domain="other.example"))
    assert (await client.next()).payload == b'{"id":"2"}'


async def _post(number: int, facts: Facts) -> None:
    message = status_event(Event.UPDATE, b'{"id":"%d"}' % number, facts=facts)
    await in_thread(streams.publish, channels.PUBLIC_LOCAL, message.encode())


async def test_a_closed_connection_leaves_no_subscription_behind(
    registry: ConnectionRegistry, identity: Identity
) -> None:
    client = Client(registry, identity)
    assert await client.open()
    for name in ("user", "public", "user:notification"):
        await client.connection.subscribe(name)
    await client.connection.subscribe("hashtag", "x")
    client.connection.unsubscribe("public")
    for _ in range(2):
        client.connection.leave()
    assert registry.connections == 0
    assert set(registry._listeners) == {channels.HOMES}


async def test_the_number_of_streams_of_a_connection_is_limited(
    registry: ConnectionRegistry, identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_STREAMS", 2)
    client = Client(registry, identity)
    assert await client.open()
    await client.connection.subscribe("user")
    await client.connection.subscribe("hashtag", "a")
    with pytest.raises(StreamError):
        await client.connection.subscribe("hashtag", "b")


async def test_an_invalid_message_is_ignored(registry: ConnectionRegistry, identity: Identity) -> None:
    client = Client(registry, identity)
    assert await client.open()
    await client.connection.subscribe("user")
    account_id = int(identity.account_id or 0)
    for nonsense in (b"", b"{", b"[]", b'{"event":1}', b'{"facts":[1]}', b"\xff"):
        await in_thread(streams.publish, channels.home(account_id), nonsense)
    await in_thread(broadcast_to_everybody, Event.ANNOUNCEMENT, b"{}")
    assert (await client.next()).event == "announcement"


async def test_opening_a_stream_marks_the_user_as_present(identity: Identity) -> None:
    from timelines.services.presence import record_arrival

    account_id = int(identity.account_id or 0)
    await in_thread(User.objects.filter(id=identity.user_id).update, active_at=None)
    redis.client("feeds").flushdb()
    await in_thread(record_arrival, account_id)
    user = await in_thread(User.objects.get, id=identity.user_id)
    assert user.active_at is not None
    assert feed.is_present(account_id)


class Meddling(ConnectionRegistry):
    """A registry that calls `meddle` at the moment when a stream has been subscribed."""

    def __init__(self, channel: str, meddle: Callable[[], None]) -> None:
        super().__init__()
        self.channel, self.meddle = channel, meddle

    async def settle(self, *names: str) -> None:
        await super().settle(*names)
        if self.channel in names:
            await in_thread(self.meddle)


async def test_a_mute_while_a_stream_is_being_opened_removes_posts_that_the_timeline_had(
    reader: Person, author: Person, identity: Identity
) -> None:
    await in_thread(follow, reader, author)
    status = await in_thread(make_status, author.account)

    def mute() -> None:
        mute_account(account=reader.account, target=author.account)
        work()

    await in_thread(work)
    registry = Meddling(channels.home(reader.id), mute)
    registry.start()
    client = Client(registry, identity)
    assert await client.open()
    await client.connection.subscribe("user")
    message = await client.next()
    assert (message.event, message.payload) == (Event.DELETE, str(status.id).encode())
    await registry.stop()
