"""Tests of encrypted messages between devices (SEED-168 to SEED-170; contract, parameters "Crypto")."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from accounts.devices import services as devices
from accounts.devices.models import EncryptedMessage
from accounts.models import AccessToken
from accounts.services.blocking import block_account
from social.kernel import crypto, redis, streams
from tests.accounts.devices.programs import (
    CLAIM,
    CLEAR,
    COUNT,
    DELIVER,
    MESSAGES,
    QUERY,
    Program,
    message,
)
from tests.factories.accounts import make_user
from tests.factories.statuses import follow
from tests.support.work import work
from timelines.stores import channels

pytestmark = pytest.mark.django_db


def test_a_device_that_signs_in_again_keeps_its_waiting_messages(alice: Program, bob: Program) -> None:
    alice.upload("one")
    bob.upload()
    bob.api.post(DELIVER, {"device": [message(alice)]})
    again = Program(alice.user)
    assert again.upload().status_code == 200
    assert again.count() == 1
    assert len(again.api.get(MESSAGES).json()) == 1
    assert alice.api.get(COUNT).status_code == 404


def test_seed_168_messages_reach_the_device_they_are_for(alice: Program, bob: Program) -> None:
    alice.upload()
    assert (
        bob.api.post(DELIVER, {"device": [message(alice)]}).status_code == 404
    )  # a message from another user's device
    bob.device_id = "laptop"
    bob.upload()
    assert bob.api.post(DELIVER, {"device": [message(alice, "first"), message(alice, "second")]}).json() == {}
    waiting = alice.api.get(MESSAGES).json()
    assert [found["body"] for found in waiting] == ["second", "first"]
    first = waiting[1]
    assert list(first) == [
        "id",
        "account_id",
        "device_id",
        "type",
        "body",
        "digest",
        "message_franking",
        "created_at",
    ]
    assert (first["account_id"], first["device_id"]) == (str(bob.user.account_id), "laptop")
    assert (first["type"], first["digest"]) == (0, "digest")
    franking = orjson.loads(crypto.decrypt(first["message_franking"]))
    assert (franking["source_account_id"], franking["digest"]) == (str(bob.user.account_id), "digest")
    assert bob.api.get(MESSAGES).json() == []


def test_messages_are_paged(alice: Program, bob: Program) -> None:
    alice.upload()
    bob.upload()
    bob.api.post(DELIVER, {"device": [message(alice, str(number)) for number in range(3)]})
    page = alice.api.get(MESSAGES, {"limit": 2})
    assert [found["body"] for found in page.json()] == ["2", "1"]
    assert f"max_id={page.json()[1]['id']}" in page["Link"]
    rest = alice.api.get(MESSAGES, {"limit": 2, "max_id": page.json()[1]["id"]})
    assert [found["body"] for found in rest.json()] == ["0"]


def test_either_all_messages_of_a_request_are_stored_or_none(alice: Program, bob: Program) -> None:
    alice.upload()
    bob.upload()
    for wrong, status in [
        (message(alice, device_id="no"), 404),
        (message(alice, account_id="1"), 404),
        (message(alice, "x" * 65_537), 422),
        (message(alice) | {"type": 2**40}, 422),
        ({key: value for key, value in message(alice).items() if key != "hmac"}, 400),
        ({key: value for key, value in message(alice).items() if key != "body"}, 400),
    ]:
        answer = bob.api.post(DELIVER, {"device": [message(alice), wrong]})
        assert answer.status_code == status, answer.content
        assert not EncryptedMessage.objects.exists()
    assert bob.api.post(DELIVER, {}).status_code == 400


def test_the_number_of_unread_messages_of_a_device_is_limited(
    alice: Program, bob: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "MESSAGES_LIMIT", 2)
    alice.upload()
    bob.upload()
    assert bob.api.post(DELIVER, {"device": [message(alice), message(alice)]}).status_code == 200
    assert bob.api.post(DELIVER, {"device": [message(alice)]}).status_code == 422


def test_seed_169_cleared_messages_are_gone(alice: Program, bob: Program) -> None:
    alice.upload()
    bob.upload()
    bob.api.post(DELIVER, {"device": [message(alice, str(number)) for number in range(3)]})
    newest, middle, _oldest = (found["id"] for found in alice.api.get(MESSAGES).json())
    assert bob.api.post(CLEAR, {"up_to_id": newest}).json() == {}
    assert alice.api.post(CLEAR, {"up_to_id": middle}).json() == {}
    assert [found["id"] for found in alice.api.get(MESSAGES).json()] == [newest]
    assert alice.api.post(CLEAR, {}).status_code == 400
    assert alice.api.post(CLEAR, {"up_to_id": {"a": newest}}).status_code == 400
    for nothing in ("x", "0", "-1", str(2**70)):
        assert (alice.api.post(CLEAR, {"up_to_id": nothing}).status_code, len(alice.api.get(MESSAGES).json())) == (
            200,
            1,
        )


def test_a_blocked_account_cannot_send_messages_to_devices(alice: Program, bob: Program) -> None:
    alice.upload("one")
    bob.upload("two")
    block_account(account=alice.user.account, target=bob.user.account)
    for here, there in ((alice, bob), (bob, alice)):
        assert here.api.post(QUERY, {"id": [str(there.user.account_id)]}).json() == []
        assert here.api.post(CLAIM, {"device": [there.address()]}).json() == []
        assert here.api.post(DELIVER, {"device": [message(there)]}).status_code == 404
        assert here.count() == 1


@pytest.fixture
def listener() -> Iterator[Any]:
    found = redis.client("streams").pubsub()
    yield found
    found.close()


def test_seed_170_a_message_is_streamed_to_its_device(alice: Program, bob: Program, listener: Any) -> None:
    alice.upload()
    bob.upload()
    token_id = AccessToken.objects.get(token=alice.api.token).pk
    listener.subscribe(streams.channel_key(channels.device(token_id)))
    assert listener.get_message(timeout=60)["type"] == "subscribe"
    bob.api.post(DELIVER, {"device": [message(alice)]})
    work()
    head, _newline, payload = listener.get_message(timeout=60)["data"].partition(b"\n")
    assert orjson.loads(head)["event"] == "encrypted_message"
    assert orjson.loads(payload) == alice.api.get(MESSAGES).json()[0]


def test_row_75_messages_of_strangers_leave_room_for_messages_of_known_accounts(
    alice: Program, bob: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    carol, dora = Program(make_user("carol")), Program(make_user("dora"))
    for program in (alice, bob, carol, dora):
        program.upload()
    follow(dora.user.account, alice.user.account)
    for name, number in (("MESSAGES_LIMIT", 5), ("MESSAGES_OF_ONE", 2), ("MESSAGES_OF_STRANGERS", 3)):
        monkeypatch.setattr(devices, name, number)
    sent = [
        program.api.post(DELIVER, {"device": [message(alice)]}).status_code
        for program in (bob, bob, bob, carol, carol, dora, dora, dora)
    ]
    assert sent == [200, 200, 422, 200, 422, 200, 200, 422]
