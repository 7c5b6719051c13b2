"""Tests of refused networks and closed public timelines in the streaming process."""

import asyncio
import ipaddress
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from accounts.identity.services.sign_up_blocks import block_network
from accounts.models import Severity
from accounts.policies.staff import OPERATOR
from accounts.services.audit import write_setting
from social.api.identities import find_in_database
from tests.timelines.conftest import Person
from tests.timelines.test_connections import Client
from timelines.consumers.registry import ConnectionRegistry
from timelines.consumers.routing import StreamingApplication
from timelines.consumers.threads import in_thread
from timelines.policies.streams import StreamError
from timelines.queries import public

pytestmark = pytest.mark.django_db(transaction=True)
REFUSED = "192.0.2.7"
WELCOME = "198.51.100.7"


@pytest.fixture
async def application() -> AsyncIterator[StreamingApplication]:
    made = StreamingApplication()
    made.registry.start()
    yield made
    await made.registry.stop()


async def first_answer(
    application: StreamingApplication, kind: str, address: str, token: str, **headers: str
) -> dict[str, Any]:
    """Return the first message that the application sends to a client at `address`, which then disconnects."""
    sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    received.put_nowait({"type": "websocket.connect"} if kind == "websocket" else {"type": "http.request"})
    scope = {
        "type": kind,
        "method": "GET",
        "path": "/api/v1/streaming" + ("" if kind == "websocket" else "/user"),
        "query_string": f"access_token={token}".encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": (address, 40000),
        "extensions": {"websocket.http.response": {}},
    }
    serving = asyncio.create_task(application(scope, received.get, sent.put))
    async with asyncio.timeout(60):
        answer = await sent.get()
        gone = {"type": "websocket.disconnect", "code": 1005} if kind == "websocket" else {"type": "http.disconnect"}
        received.put_nowait(gone)
        await serving
    if "http.response.start" in answer["type"]:
        answer["body"] = json.loads((await sent.get())["body"]) if answer["status"] != 200 else None
    return answer


def refuse(network: str = "192.0.2.0/24") -> None:
    block_network(by=OPERATOR, network=network, severity=Severity.NO_ACCESS)


@pytest.mark.parametrize("kind", ["websocket", "http"])
async def test_a_refused_network_opens_no_stream(application: StreamingApplication, reader: Person, kind: str) -> None:
    await in_thread(refuse)
    token = str(reader.api.token)
    refusal = await first_answer(application, kind, REFUSED, token)
    assert (refusal["status"], refusal["body"]) == (403, {"error": "Forbidden"})
    welcome = await first_answer(application, kind, WELCOME, token)
    assert welcome.get("status", 200) == 200
    assert welcome["type"] in ("websocket.accept", "http.response.start")


async def test_the_client_address_is_taken_only_from_a_trusted_proxy(
    application: StreamingApplication, reader: Person, settings: Any
) -> None:
    """Security row 25."""
    await in_thread(refuse)
    token = str(reader.api.token)
    spoofed = await first_answer(application, "http", REFUSED, token, **{"x-forwarded-for": WELCOME})
    assert spoofed["status"] == 403
    settings.TRUSTED_PROXIES = (ipaddress.ip_network("10.0.0.0/8"),)
    behind = await first_answer(application, "http", "10.0.0.1", token, **{"x-forwarded-for": REFUSED})
    assert behind["status"] == 403
    behind = await first_answer(application, "http", "10.0.0.1", token, **{"x-forwarded-for": WELCOME})
    assert behind["status"] == 200


async def test_open_streams_end_when_their_network_is_refused(registry: ConnectionRegistry, reader: Person) -> None:
    identity = await in_thread(find_in_database, str(reader.api.token))
    assert identity is not None
    here, there = (Client(registry, identity, address=address) for address in (WELCOME, REFUSED))
    for client in (here, there):
        assert await client.open()
    await registry.watch()
    assert not there.closed.done()
    await in_thread(refuse)
    await registry.watch()
    async with asyncio.timeout(60):
        assert await there.closed is False
    assert not here.closed.done()


async def test_a_changed_access_setting_applies_to_open_public_streams(
    registry: ConnectionRegistry, reader: Person
) -> None:
    identity = await in_thread(find_in_database, str(reader.api.token))
    assert identity is not None
    client = Client(registry, identity)
    assert await client.open()
    streams = client.connection._streams
    for name, tag in (("public", None), ("hashtag", "Cats"), ("user", None)):
        await client.connection.subscribe(name, tag)
    await registry.watch()

    def channels_of(name: str, tag: str = "") -> tuple[str, ...]:
        return streams[name, tag][0].channels

    everything = channels_of("public"), channels_of("hashtag", "cats"), channels_of("user")
    assert all(everything)

    def close(kinds: dict[str, Any]) -> None:
        write_setting(public.ACCESS_SETTING, kinds)
        public.forget_access()

    closed = {"local": "disabled", "remote": "disabled"}
    await in_thread(close, {"live_feeds": closed})
    await registry.watch()
    assert (channels_of("public"), channels_of("hashtag", "cats"), channels_of("user")) == ((), *everything[1:])
    await in_thread(close, {"live_feeds": {"local": "public", "remote": "disabled"}, "hashtag_feeds": closed})
    await registry.watch()
    assert len(channels_of("public")) == 1
    assert channels_of("hashtag", "cats") == ()
    await in_thread(close, {})
    await registry.watch()
    assert (channels_of("public"), channels_of("hashtag", "cats"), channels_of("user")) == everything


async def test_streams_are_reviewed_again_after_a_database_outage(
    registry: ConnectionRegistry, reader: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = await in_thread(find_in_database, str(reader.api.token))
    assert identity is not None
    client = Client(registry, identity)
    assert await client.open()
    await client.connection.subscribe("public")

    async def fail() -> None:
        raise StreamError(503, "away")

    review = client.connection.review_access
    monkeypatch.setattr(client.connection, "review_access", fail)
    with pytest.raises(StreamError):
        await registry.watch()
    monkeypatch.setattr(client.connection, "review_access", review)
    await in_thread(write_setting, public.ACCESS_SETTING, {"live_feeds": {"local": "disabled", "remote": "disabled"}})
    public.forget_access()
    await registry.watch()
    assert client.connection._streams["public", ""][0].channels == ()
