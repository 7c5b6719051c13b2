"""Tests of the end-to-end encryption API (SEED-039, SEED-162 to SEED-170; contract, parameters "Crypto")."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import vodozemac
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.devices import services as devices
from accounts.devices.models import OneTimeKey
from accounts.identity.services.tokens import revoke_tokens
from accounts.models import AccessToken
from tests.accounts.devices.programs import (
    CLAIM,
    COUNT,
    DELIVER,
    MESSAGES,
    QUERY,
    UPLOAD,
    Program,
    message,
    text,
)
from tests.factories.accounts import make_token, make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def test_seed_162_the_api_needs_the_scope_crypto(alice: Program) -> None:
    assert Api().get(COUNT).status_code == 401
    assert Api(make_token(alice.user, "read write follow push")).get(COUNT).status_code == 403
    assert alice.api.get(COUNT).status_code == 404


def test_seed_163_a_device_is_registered_with_its_keys(alice: Program) -> None:
    answer = alice.upload("one", "two")
    assert answer.status_code == 200
    assert answer.json() == {
        "device_id": "phone",
        "name": "My phone",
        "identity_key": text(b"i" * 32),
        "fingerprint_key": text(alice.secret.public_key().public_bytes_raw()),
    }
    assert alice.count() == 2  # SEED-165
    assert alice.upload("two", "three", name="Renamed").json()["name"] == "Renamed"
    assert alice.count() == 3


def test_a_device_is_registered_by_a_form_as_well(alice: Program) -> None:
    device, key = alice.device(), alice.keys("one")[0]
    form = {f"device[{name}]": value for name, value in device.items()}
    form |= {f"one_time_keys[][{name}]": value for name, value in key.items()}
    assert alice.api.upload("POST", UPLOAD, **form).status_code == 200
    assert alice.count() == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"fingerprint_key": text(b"short")}, "Fingerprint key is not a valid Ed25519 or Curve25519 key"),
        ({"identity_key": "no base64!"}, "Identity key is not a valid Ed25519 or Curve25519 key"),
        ({"identity_key": "A" * 2_000}, "Identity key is not a valid Ed25519 or Curve25519 key"),
        ({"name": " "}, "Name can't be blank"),
        ({"identity_key": ""}, "Identity key can't be blank"),
        ({"name": "x" * 256}, "Name is too long (maximum is 255 characters)"),
        ({"device_id": "x" * 256}, "Device is too long (maximum is 255 characters)"),
    ],
)
def test_seed_164_invalid_devices_are_refused(alice: Program, change: dict[str, str], sentence: str) -> None:
    answer = alice.upload(**change)
    assert (answer.status_code, answer.json()) == (422, {"error": f"Validation failed: {sentence}"})
    assert alice.api.get(COUNT).status_code == 404


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"key": text(b"short")}, "Key is not a valid Ed25519 or Curve25519 key"),
        ({"signature": text(b"s" * 64)}, "Signature is not a valid Ed25519 signature"),
        ({"signature": ""}, "Signature can't be blank"),
        ({"key_id": ""}, "Key can't be blank"),
    ],
)
def test_one_time_keys_must_be_signed_by_the_device(alice: Program, change: dict[str, str], sentence: str) -> None:
    keys = [alice.keys("good")[0], alice.keys("bad")[0] | change]
    answer = alice.api.post(UPLOAD, {"device": alice.device(), "one_time_keys": keys})
    assert (answer.status_code, answer.json()) == (422, {"error": f"Validation failed: {sentence}"})
    assert not OneTimeKey.objects.exists()


def test_a_device_holds_a_bounded_number_of_one_time_keys(alice: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "ONE_TIME_KEYS_LIMIT", 3)
    assert alice.upload("1", "2").status_code == 200
    assert alice.upload("3", "4").status_code == 422
    assert alice.upload("1", "2", "3", "4").status_code == 422
    assert alice.count() == 2


@pytest.mark.parametrize("body", [{}, {"device": "text"}, {"device": []}, {"device": {}}])
def test_an_upload_without_a_device_is_a_bad_request(alice: Program, body: dict[str, Any]) -> None:
    assert alice.api.post(UPLOAD, body).status_code == 400


def test_another_key_or_id_makes_it_another_device(alice: Program, bob: Program) -> None:
    bob.upload()
    for change in ({"identity_key": text(b"j" * 32)}, {"device_id": "tablet", "identity_key": text(b"j" * 32)}):
        alice.upload("one")
        alice.device_id = "phone"
        assert bob.api.post(DELIVER, {"device": [message(alice)]}).status_code == 200
        assert alice.upload(**change).status_code == 200
        assert alice.count() == 0
        assert alice.api.get(MESSAGES).json() == []


def test_revoking_a_token_deletes_its_device(alice: Program, bob: Program) -> None:
    alice.upload("one")
    revoke_tokens(AccessToken.objects.filter(token=alice.api.token))
    assert bob.api.post(QUERY, {"id": [str(alice.user.account_id)]}).json() == [
        {"account_id": str(alice.user.account_id), "devices": []}
    ]


def test_seed_166_the_devices_of_accounts_are_listed(alice: Program, bob: Program) -> None:
    alice.upload()
    ids = [str(alice.user.account_id), str(bob.user.account_id), "1", "x"]
    assert bob.api.post(QUERY, {"id": ids}).json() == [
        {"account_id": ids[0], "devices": [alice.device()]},
        {"account_id": ids[1], "devices": []},
    ]
    assert bob.api.post(QUERY, form=f"id[]={ids[0]}").json()[0]["account_id"] == ids[0]
    assert bob.api.post(QUERY, {}).json() == []
    assert bob.api.post(QUERY, {"id": [str(number) for number in range(1, 102)]}).status_code == 422


def test_listing_devices_costs_the_same_for_many_accounts(alice: Program, bob: Program) -> None:
    def queries(ids: list[str]) -> int:
        with CaptureQueriesContext(connection) as seen:
            assert len(bob.api.post(QUERY, {"id": ids}).json()) == len(ids)
        return len(seen)

    people = [Program(make_user()) for _ in range(12)]
    for person in people:
        person.upload("one")
    ids = [str(person.user.account_id) for person in people]
    queries(ids)
    assert queries(ids[:2]) == queries(ids)


def test_seed_167_a_claim_consumes_one_key(alice: Program, bob: Program) -> None:
    alice.upload("one", "two")
    unknown = [{"account_id": "1", "device_id": "phone"}, alice.address(device_id="no"), {"device_id": "phone"}, "x"]
    claimed = bob.api.post(CLAIM, {"device": [alice.address(), alice.address(), *unknown]}).json()
    assert len(claimed) == 1
    key = next(key for key in alice.keys("one", "two") if key["key_id"] == claimed[0]["key_id"])
    assert claimed[0] == alice.address() | key
    assert alice.count() == 1
    assert len(bob.api.post(CLAIM, {"device": [alice.address()]}).json()) == 1
    assert bob.api.post(CLAIM, {"device": [alice.address()]}).json() == []
    assert bob.api.post(CLAIM, {}).json() == []


def test_a_claim_names_a_hundred_devices_at_most(alice: Program, bob: Program) -> None:
    alice.upload("one")
    many = [alice.address(), *(alice.address(device_id=f"no{number}") for number in range(100))]
    assert bob.api.post(CLAIM, {"device": many}).status_code == 422
    assert alice.count() == 1
    assert len(bob.api.post(CLAIM, {"device": many[:100]}).json()) == 1


@pytest.mark.django_db(transaction=True)
def test_no_one_time_key_is_claimed_twice(alice: Program, bob: Program) -> None:
    names = [f"key{number}" for number in range(20)]
    alice.upload(*names)

    def claim(_number: int) -> list[str]:
        try:
            wanted = [(alice.user.account_id, "phone")]
            return [key.key_id for _device, key in devices.claim_keys(account_id=bob.user.account_id, wanted=wanted)]
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        taken = [name for found in pool.map(claim, range(20)) for name in found]
    assert sorted(taken) == sorted(names)


@pytest.mark.parametrize("form", ["unpadded", "url-safe", "line ends"])
def test_keys_of_an_olm_library_are_returned_unchanged(alice: Program, bob: Program, form: str) -> None:
    olm = vodozemac.Account()
    olm.generate_one_time_keys(1)
    ((key_id, one_time),) = olm.one_time_keys.items()

    def written(key: str) -> str:
        return {
            "unpadded": key,
            "url-safe": key.replace("+", "-").replace("/", "_") + "=",
            "line ends": f"{key[:20]}\r\n{key[20:]}=\n",
        }[form]

    key = written(one_time.to_base64())
    device = {
        "device_id": "phone",
        "name": "Olm",
        "fingerprint_key": written(olm.ed25519_key.to_base64()),
        "identity_key": written(olm.curve25519_key.to_base64()),
    }
    keys = [{"key_id": key_id, "key": key, "signature": olm.sign(key.encode()).to_base64()}]
    answer = bob.api.post(UPLOAD, {"device": device, "one_time_keys": keys})
    assert (answer.status_code, answer.json()["fingerprint_key"]) == (200, device["fingerprint_key"]), answer.content
    (claimed,) = alice.api.post(CLAIM, {"device": [bob.address()]}).json()
    assert (claimed["key"], claimed["signature"]) == (key, keys[0]["signature"])


def test_row_75_one_account_cannot_claim_all_one_time_keys_of_another(
    alice: Program, bob: Program, settings: Settings
) -> None:
    settings.RATE_LIMITS = True
    alice.upload(*(f"key{number}" for number in range(70)))
    wanted = {"device": [alice.address()]}
    answers = [bob.api.post(CLAIM, wanted).status_code for _claim in range(50)]
    assert (answers.count(200), set(answers)) == (30, {200, 429})
    own = {alice.api.post(CLAIM, wanted).status_code for _claim in range(31)}
    assert own == {200}, "claims of a user's own keys are not counted"
