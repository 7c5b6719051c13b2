"""Tests of encrypted pushes: in both encodings only the device can read them, and they identify the sending server."""

import orjson
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from notifications.policies import push_encryption
from notifications.policies.push_encryption import is_public_key, vapid_token
from tests.support.push import Device, base64_of, unbase64

DEVICE = Device(0x1F2E3D4C5B6A79880123456789ABCDEF0123456789ABCDEF0123456789ABCDEF)
MESSAGE = "Grüße, 世界".encode()


def test_the_decryption_of_these_tests_agrees_with_the_example_of_rfc_8291() -> None:
    number = int.from_bytes(unbase64("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"), "big")
    body = (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl"
        "7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
    device = Device(number, unbase64("BTBZMqHH6r4Tts7J_aSIgg"))
    assert device.open_standard(unbase64(body)) == b"When I grow up, I want to be a watermelon"


def test_the_decryption_of_these_tests_agrees_with_the_example_of_the_draft() -> None:
    number = int.from_bytes(unbase64("9FWl15_QUQAWDaD3k3l50ZBZQJ4au27F1V4F0uLSD_M"), "big")
    device = Device(number, unbase64("R29vIGdvbyBnJyBqb29iIQ"))
    headers = {
        "Content-Encoding": "aesgcm",
        "Encryption": 'salt="lngarbyKfMoi9Z75xYXmkg"',
        "Crypto-Key": 'dh="BNoRDbb84JGm8g5Z5CFxurSqsXWJ11ItfXEWYVLE85Y7CYkDjXsIEc4aqxYaQ1G8BqkXCJ6DPpDrWtdWj_mugHU"',
    }
    assert device.open(headers, unbase64("6nqAQUME8hNqw5J3kl8cpVVJylXKYqZOeseZG8UueKpA")) == b"I am the walrus"


def test_only_the_device_can_decrypt_either_encoding() -> None:
    encrypting = push_encryption.Device(**DEVICE.keys)
    assert DEVICE.open_standard(encrypting.encrypt(MESSAGE).body) == MESSAGE
    drafted = encrypting.encrypt_as_drafted(MESSAGE)
    assert DEVICE.open_drafted(drafted.body, drafted.salt, drafted.sender_key) == MESSAGE
    for other in (Device(DEVICE.number + 1), Device(DEVICE.number, b"another sixteen.")):
        with pytest.raises(InvalidTag):
            other.open_standard(encrypting.encrypt(MESSAGE).body)
        with pytest.raises(InvalidTag):
            other.open_drafted(drafted.body, drafted.salt, drafted.sender_key)


def test_no_two_messages_share_a_key_or_a_salt() -> None:
    encrypting = push_encryption.Device(**DEVICE.keys)
    sent = [encrypting.encrypt(MESSAGE) for _time in range(3)]
    assert len({each.salt for each in sent}) == len({each.sender_key for each in sent}) == 3


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        (DEVICE.keys["p256dh"], True),
        (DEVICE.keys["p256dh"] + "=", True),
        (DEVICE.keys["p256dh"].replace("-", "+").replace("_", "/"), True),
        ("", False),
        ("abc", False),
        ("é" * 88, False),
        (base64_of(b"\x04" + bytes(64)), False),
        (base64_of(DEVICE.public_key[:-1]), False),
        # A compressed key gives the same results in the key derivation, but no device can decrypt the message.
        (base64_of(b"\x02" + DEVICE.public_key[1:33]), False),
    ],
)
def test_a_public_key_must_be_a_point_of_the_curve(text: str, taken: bool) -> None:
    assert is_public_key(text) is taken


def test_a_secret_that_is_not_base64_is_no_error() -> None:
    assert push_encryption.Device(DEVICE.keys["p256dh"], "§§").encrypt(MESSAGE).body


def test_a_token_for_a_push_service_is_signed_with_the_key_of_this_server() -> None:
    own = ec.derive_private_key(DEVICE.number, ec.SECP256R1())
    token = vapid_token(
        private_key=base64_of(DEVICE.number.to_bytes(32, "big")),
        public_key=DEVICE.keys["p256dh"],
        audience="https://push.example",
        subject="mailto:ann@example.org",
        expires=1_800_000_000,
    )
    signed, _dot, signature = token.rpartition(".")
    header, claims = (orjson.loads(unbase64(part)) for part in signed.split("."))
    assert header == {"typ": "JWT", "alg": "ES256"}
    assert claims == {"aud": "https://push.example", "sub": "mailto:ann@example.org", "exp": 1_800_000_000}
    raw = unbase64(signature)
    numbers = (int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    own.public_key().verify(encode_dss_signature(*numbers), signed.encode(), ec.ECDSA(SHA256()))
