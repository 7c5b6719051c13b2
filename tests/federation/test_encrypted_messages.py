"""Tests of encrypted messages across servers (contract, federation section 7; behaviours section 20; seed decision D-05)."""

import json
from typing import Any

import orjson
import pytest

from accounts.devices.models import EncryptedMessage
from accounts.models import AccessToken, Account
from accounts.services.blocking import block_account
from federation.models import OutboundActivity
from federation.remote.actors import fetch_actor
from social.kernel import crypto, redis, streams
from tests.accounts.devices.programs import CLEAR, DELIVER, MESSAGES, Program, message
from tests.factories.accounts import make_user
from tests.federation.activities import deal, remote
from tests.federation.devices import DIGEST, address_of, cipher, program_of_alice, with_device
from tests.federation.remote_server import Answer, RemotePerson, RemoteServer
from tests.support.work import work
from timelines.stores import channels

pytestmark = pytest.mark.django_db


@pytest.fixture
def program(db: None) -> Program:
    return program_of_alice()


@pytest.fixture
def zoe(elsewhere: RemoteServer) -> RemotePerson:
    return with_device(elsewhere, "zoe")


def _delivered(someone: RemotePerson, device_id: str = "d1", **more: Any) -> dict[str, Any]:
    return address_of(someone, device_id, type=0, body="cipher", hmac="digest", **more)


def test_a_message_to_a_remote_device_is_sent_to_the_inbox_of_its_user(
    elsewhere: RemoteServer, zoe: RemotePerson, program: Program
) -> None:
    fetch_actor(zoe.uri)
    bob = Program(make_user("bob"))
    bob.upload()
    sent = program.api.post(DELIVER, {"device": [_delivered(zoe), message(bob)]})
    assert (sent.status_code, sent.json()) == (200, {})
    work()
    (asked,) = (one for one in elsewhere.asked if one.method == "POST")
    activity = json.loads(asked.body)
    assert (asked.path, activity["type"], activity["actor"]) == ("/users/zoe/inbox", "Create", program.user.account.uri)
    assert activity["to"] == zoe.uri
    franking = activity["object"].pop("messageFranking")
    assert activity["object"] == {
        "type": "EncryptedMessage",
        "attributedTo": {"type": "Device", "deviceId": "phone"},
        "to": {"type": "Device", "deviceId": "d1"},
        "messageType": 0,
        "cipherText": "cipher",
        "digest": {"type": "Digest", "digestAlgorithm": DIGEST, "digestValue": "digest"},
    }
    said = orjson.loads(crypto.decrypt(franking))
    assert (said["source_account_id"], said["target_account_id"]) == (
        str(program.user.account_id),
        str(remote(zoe).id),
    )
    assert len(bob.api.get(MESSAGES).json()) == 1


def test_a_message_is_sent_to_no_unknown_device_and_waits_for_a_server_that_is_away(
    elsewhere: RemoteServer, zoe: RemotePerson, program: Program
) -> None:
    fetch_actor(zoe.uri)
    bob = Program(make_user("bob"))
    bob.upload()
    both = [message(bob), _delivered(zoe, "unknown")]
    assert program.api.post(DELIVER, {"device": both}).status_code == 404
    assert not EncryptedMessage.objects.exists(), "either all messages are stored or none"
    without = elsewhere.person("yan")
    fetch_actor(without.uri)
    assert program.api.post(DELIVER, {"device": [_delivered(without)]}).status_code == 404
    elsewhere.pages["/users/zoe/collections/devices"] = Answer(b"", status=503)
    redis.client("cache").flushdb()
    assert program.api.post(DELIVER, {"device": [_delivered(zoe)]}).status_code == 200
    assert OutboundActivity.objects.count() == 1
    block_account(account=program.user.account, target=remote(zoe))
    assert program.api.post(DELIVER, {"device": [_delivered(zoe)]}).status_code == 404


def test_a_message_from_elsewhere_is_stored_and_streamed_once(zoe: RemotePerson, program: Program) -> None:
    token_id = AccessToken.objects.get(token=program.api.token).pk
    listener = redis.client("streams").pubsub()
    listener.subscribe(streams.channel_key(channels.device(token_id)))
    assert listener.get_message(timeout=60)["type"] == "subscribe"
    activity = cipher(zoe, program)
    assert deal(zoe, activity, "/users/alice/inbox") == "done"
    (found,) = program.api.get(MESSAGES).json()
    _head, _newline, payload = listener.get_message(timeout=60)["data"].partition(b"\n")
    listener.close()
    assert orjson.loads(payload) == found
    assert (found["account_id"], found["device_id"], found["type"]) == (str(remote(zoe).id), "d1", 1)
    assert (found["body"], found["digest"]) == ("AwgAEiD", "c2lnbg==")
    said = orjson.loads(crypto.decrypt(found["message_franking"]))
    assert (said["source_account_id"], said["original_franking"]) == (str(remote(zoe).id), "theirs")
    # A message that is sent again is not stored twice, even if the device has already fetched it.
    assert "deleted" in deal(zoe, activity | {"name": "again"}, "/users/alice/inbox")
    program.api.post(CLEAR, {"up_to_id": found["id"]})
    assert "deleted" in deal(zoe, activity | {"name": "once more"}, "/users/alice/inbox")
    assert not EncryptedMessage.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"to": {"type": "Device", "deviceId": "unknown"}},
        {"to": {}},
        {"to": "phone"},
        {"attributedTo": {"type": "Device"}},
        {"attributedTo": {"type": "Device", "deviceId": "d" * 300}},
        {"digest": {"type": "Digest", "digestAlgorithm": DIGEST}},
        {"digest": {"type": "Digest", "digestAlgorithm": "md5", "digestValue": "x"}},
        {"digest": "x"},
        {"messageType": "1"},
        {"messageType": 2**40},
        {"cipherText": "x" * 70_000},
        {"cipherText": None},
    ],
)
def test_a_message_that_is_for_no_local_device_is_refused(
    zoe: RemotePerson, program: Program, wrong: dict[str, Any]
) -> None:
    outcome = deal(zoe, cipher(zoe, program, **wrong), "/users/alice/inbox")
    assert outcome.startswith(("rejected", "refused"))
    assert not EncryptedMessage.objects.exists()


def test_row_61_messages_of_one_stranger_leave_room_for_those_of_others(
    elsewhere: RemoteServer, zoe: RemotePerson, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.devices.services.MESSAGES_OF_ONE", 2)
    outcomes = [deal(zoe, cipher(zoe, program), "/users/alice/inbox") for _number in range(3)]
    assert [outcome[:7] for outcome in outcomes] == ["done", "done", "refused"]
    yan = elsewhere.person("yan")
    assert deal(yan, cipher(yan, program), "/users/alice/inbox") == "done"


def test_a_message_is_accepted_only_in_the_inbox_of_its_recipient(
    elsewhere: RemoteServer, zoe: RemotePerson, program: Program
) -> None:
    make_user("bob")
    assert deal(zoe, cipher(zoe, program)).startswith("rejected")
    assert deal(zoe, cipher(zoe, program), "/users/bob/inbox").startswith("rejected")
    yan = elsewhere.person("yan")
    forged = cipher(zoe, program)
    assert deal(yan, forged, "/users/alice/inbox").startswith("rejected"), "the signer is not the sender"
    assert not EncryptedMessage.objects.exists()
    assert Account.objects.filter(username="zoe").exists()
