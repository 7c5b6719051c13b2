"""Tests of devices for encrypted messages across servers, and of claiming their keys (seed decision D-05).

Contract, federation sections 3, 4 and 7; behaviours section 20.
"""

import json
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accounts.devices.models import Device, EncryptedMessage, OneTimeKey
from accounts.services.blocking import block_account, block_domain
from federation.outbound import messages
from federation.remote.actors import fetch_actor
from social.kernel import redis
from social.kernel.http.limits import web_request_budget
from tests.accounts.devices.programs import CLAIM, QUERY, Program, text
from tests.factories.accounts import make_remote
from tests.federation.activities import deal, remote
from tests.federation.devices import SECRET, address_of, cipher, device, has, program_of_alice, with_device
from tests.federation.remote_server import ACTIVITY, Answer, RemotePerson, RemoteServer, post
from tests.support.client import Api

pytestmark = pytest.mark.django_db
DEVICES: Final = "/users/alice/collections/devices"
CLAIMED: Final = "/users/alice/claim?id=phone"


@pytest.fixture
def program(db: None) -> Program:
    return program_of_alice()


@pytest.fixture
def zoe(elsewhere: RemoteServer) -> RemotePerson:
    return with_device(elsewhere, "zoe")


def key(name: str = "first", secret: Ed25519PrivateKey = SECRET) -> Answer:
    """Return the response to the claim of a one-time key."""
    value = text(name.encode().ljust(32, b"k"))
    signature = {"type": "Ed25519Signature", "signatureValue": text(secret.sign(value.encode()))}
    found = {"type": "Curve25519Key", "keyId": name, "publicKeyBase64": value, "signature": signature}
    return Answer(json.dumps(found).encode())


def claim(someone: RemotePerson, path: str = CLAIMED, **options: Any) -> Any:
    return post(path, b"", someone.headers(path, b"", **options))


def test_the_actor_document_of_a_local_user_links_to_the_list_of_devices(program: Program) -> None:
    actor = Api().get("/users/alice", headers={"Accept": ACTIVITY}).json()
    assert actor["devices"] == f"http://social.localhost{DEVICES}"
    listed = Api().get(DEVICES, headers={"Accept": ACTIVITY})
    assert (listed.status_code, listed.headers["Cache-Control"]) == (200, "public, max-age=180")
    body = listed.json()
    terms = body.pop("@context")[1]
    assert (terms["deviceId"], terms["claim"]["@id"]) == ("toot:deviceId", "toot:claim")
    mine = program.device()
    assert body == {
        "id": actor["devices"],
        "type": "Collection",
        "totalItems": 1,
        "items": [
            {
                "type": "Device",
                "deviceId": "phone",
                "name": "My phone",
                "fingerprintKey": {"type": "Ed25519Key", "publicKeyBase64": mine["fingerprint_key"]},
                "identityKey": {"type": "Curve25519Key", "publicKeyBase64": mine["identity_key"]},
                "claim": f"http://social.localhost{CLAIMED}",
            }
        ],
    }


def test_a_claim_consumes_one_key_and_no_key_is_returned_twice(zoe: RemotePerson, program: Program) -> None:
    given = []
    for _number in range(2):
        answer = claim(zoe)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "private, no-store")
        found = answer.json()
        assert found["type"] == "Curve25519Key"
        (mine,) = (one for one in program.keys("one", "two") if one["key_id"] == found["keyId"])
        assert (found["publicKeyBase64"], found["signature"]["signatureValue"]) == (mine["key"], mine["signature"])
        given.append(found["keyId"])
        redis.client("cache").flushdb()  # two requests within a second would have the same signature
    assert (sorted(given), program.count()) == (["one", "two"], 0)
    assert claim(zoe).status_code == 404


def test_row_11_a_claim_must_be_signed_and_works_once(zoe: RemotePerson, program: Program) -> None:
    assert post(CLAIMED, b"", {"host": "social.localhost"}).status_code == 401
    headers = zoe.headers(CLAIMED, b"")
    wrong = headers | {"signature": headers["signature"].replace('signature="', 'signature="AAAA')}
    assert post(CLAIMED, b"", wrong).status_code == 401
    assert post("/users/alice/claim?id=other", b"", headers).status_code == 401, "the signature was for another device"
    assert Api().get(CLAIMED, headers={"Accept": ACTIVITY}).status_code == 404
    assert program.count() == 2
    assert [post(CLAIMED, b"", headers).status_code for _number in range(3)] == [200, 401, 401]
    assert program.count() == 1


def test_a_blocked_account_finds_no_devices_and_claims_no_keys(
    elsewhere: RemoteServer, zoe: RemotePerson, program: Program
) -> None:
    assert claim(zoe, "/users/alice/claim?id=other").status_code == 404
    assert claim(zoe, "/users/alice/claim").status_code == 404
    assert claim(zoe, "/users/nobody/claim?id=phone").status_code == 404
    block_account(account=program.user.account, target=remote(zoe))
    assert claim(zoe).status_code == 404
    assert zoe.get(DEVICES).json()["items"] == []
    yan = elsewhere.person("yan")
    assert len(yan.get(DEVICES).json()["items"]) == 1
    block_domain(account=program.user.account, domain=elsewhere.domain)
    assert claim(yan).status_code == 404
    assert deal(zoe, cipher(zoe, program), "/users/alice/inbox").startswith("refused")
    assert program.count() == 2
    assert not EncryptedMessage.objects.exists()


def test_row_71_a_flood_of_claims_leaves_keys_for_others(
    settings: Any, elsewhere: RemoteServer, zoe: RemotePerson, program: Program
) -> None:
    settings.RATE_LIMITS = True
    keys = program.keys(*(str(number) for number in range(200)))
    OneTimeKey.objects.all().delete()
    OneTimeKey.objects.bulk_create([OneTimeKey(device=Device.objects.get(), **one) for one in keys], batch_size=200)
    answers = [claim(zoe, f"{CLAIMED}&n={number}").status_code for number in range(33)]
    assert answers == [200] * 30 + [429] * 3
    assert program.count() == 170
    assert claim(elsewhere.person("yan")).status_code == 200


def test_remote_devices_are_fetched_and_keys_are_claimed_in_the_name_of_the_writer(
    elsewhere: RemoteServer, zoe: RemotePerson, program: Program
) -> None:
    number = str(fetch_actor(zoe.uri).id)
    elsewhere.asked.clear()
    (found,) = program.api.post(QUERY, {"id": [number]}).json()
    assert found == {
        "account_id": number,
        "devices": [
            {
                "device_id": "d1",
                "name": "Her phone",
                "identity_key": text(b"j" * 32),
                "fingerprint_key": text(SECRET.public_key().public_bytes_raw()),
            }
        ],
    }
    elsewhere.posts["/users/zoe/claim?id=d1"] = key()
    (claimed,) = program.api.post(
        CLAIM, {"device": [address_of(zoe), address_of(zoe, "none"), program.address()]}
    ).json()[:1]
    assert (claimed["account_id"], claimed["device_id"], claimed["key_id"]) == (number, "d1", "first")
    assert elsewhere.gets() == ["/users/zoe/collections/devices"], "the list is fetched once for a conversation"
    (asked,) = (one for one in elsewhere.asked if one.method == "POST")
    assert f'keyId="{program.user.account.uri}#main-key"' in asked.headers["signature"]
    assert "digest" in asked.headers["signature"]
    assert OneTimeKey.objects.count() == 1, "a key of Alice's own device is left"


def test_devices_cached_by_a_newer_release_are_read_without_its_new_fields(
    elsewhere: RemoteServer, zoe: RemotePerson, program: Program
) -> None:
    account_id = fetch_actor(zoe.uri).id
    found = program.api.post(QUERY, {"id": [str(account_id)]}).json()
    (name,) = redis.client("cache").keys(redis.key("cache", "devices", "*"))
    (kept,) = json.loads(redis.client("cache").get(name))
    redis.client("cache").set(name, json.dumps([kept | {"added": "?"}]))
    assert program.api.post(QUERY, {"id": [str(account_id)]}).json() == found


@pytest.mark.parametrize("wrong", ["signature", "status", "document", "elsewhere", "silent"])
def test_a_key_that_the_device_has_not_signed_is_not_passed_on(
    elsewhere: RemoteServer, zoe: RemotePerson, program: Program, wrong: str
) -> None:
    fetch_actor(zoe.uri)
    answer = key(secret=Ed25519PrivateKey.from_private_bytes(b"m" * 32)) if wrong == "signature" else key()
    answer.status = 404 if wrong == "status" else 200
    answer.body = b"[]" if wrong == "document" else answer.body
    elsewhere.posts["/users/zoe/claim?id=d1"] = answer
    with RemoteServer().running() as third:
        third.posts["/claim"] = key()
        if wrong == "elsewhere":
            has(zoe, device(zoe, claim=third.uri("claim")))
        if wrong == "silent":
            del elsewhere.posts["/users/zoe/claim?id=d1"], elsewhere.pages["/users/zoe/collections/devices"]
        assert program.api.post(CLAIM, {"device": [address_of(zoe)]}).json() == []
        assert third.asked == []


@pytest.fixture
def silence(elsewhere: RemoteServer, zoe: RemotePerson) -> Iterator[list[str]]:
    """Ids of two accounts with a device each, whose server does not respond for a long time."""
    yan = with_device(elsewhere, "yan")
    numbers = [str(fetch_actor(someone.uri).id) for someone in (zoe, yan)]
    for someone in (zoe, yan):
        elsewhere.posts[f"/users/{someone.name}/claim?id=d1"] = key()
    end = threading.Event()
    elsewhere.before_answer = lambda: end.wait(30)
    elsewhere.asked.clear()
    yield numbers
    end.set()


def test_devices_of_several_accounts_of_a_silent_server_share_one_time_out(
    elsewhere: RemoteServer, silence: list[str], program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "LOOKUP_SECONDS", 1.0)
    assert program.api.post(QUERY, {"id": silence}).json() == []
    assert len(elsewhere.gets()) == 1, "no time is left for the other device"


@pytest.mark.parametrize(("of_one", "of_the_request"), [(1.5, 60.0), (60.0, 1.0)])
def test_claiming_keys_from_a_silent_server_ends_within_the_time_outs(
    elsewhere: RemoteServer,
    silence: list[str],
    program: Program,
    monkeypatch: pytest.MonkeyPatch,
    of_one: float,
    of_the_request: float,
) -> None:
    with monkeypatch.context() as at_first:
        at_first.setattr(elsewhere, "before_answer", lambda: None)
        assert len(program.api.post(QUERY, {"id": silence}).json()) == 2
    elsewhere.asked.clear()
    monkeypatch.setattr(messages, "LOOKUP_SECONDS", of_one)
    monkeypatch.setattr("social.api.middleware.web_request_budget", partial(web_request_budget, of_the_request))
    wanted = [{"account_id": number, "device_id": "d1"} for number in silence]
    assert program.api.post(CLAIM, {"device": wanted}).json() == []
    assert [one.method for one in elsewhere.asked] == ["POST"], "the other server is not called"


def test_devices_above_the_limit_and_invalid_ones_are_ignored(
    elsewhere: RemoteServer, zoe: RemotePerson, program: Program
) -> None:
    number = str(fetch_actor(zoe.uri).id)

    def shown() -> list[list[str]]:
        answer = program.api.post(QUERY, {"id": [number]}).json()
        return [[one["device_id"] for one in found["devices"]] for found in answer]

    many: list[Any] = [device(zoe, one) for one in range(999)]
    has(zoe, *many)
    assert [len(found) for found in shown()] == [100]
    has(zoe, *many, *many)
    assert shown() == [], "a document with too many parts is not read"
    broken = {"type": "Ed25519Key", "publicKeyBase64": "short"}
    odd = [7, None, "d", {}, device(zoe, type="Note"), device(zoe, 2, fingerprintKey=broken), device(zoe, deviceId="")]
    has(zoe, *odd, device(zoe, 3), device(zoe, 3, name="Again"), device(zoe, 4, name="n" * 300))
    assert shown() == [["d3"]]
    has(zoe, {"type": "Device", "items": [[[]]]})
    assert shown() == [[]]
    elsewhere.pages.pop("/users/zoe/collections/devices")
    redis.client("cache").flushdb()
    assert shown() == [], "accounts whose server does not respond are left out"
    assert program.api.post(QUERY, {"id": [str(make_remote().id)]}).json()[0]["devices"] == [], "no devices are named"
    block_account(account=remote(zoe), target=program.user.account)
    elsewhere.asked.clear()
    assert (shown(), elsewhere.asked) == ([], [])
