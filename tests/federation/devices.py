"""Helpers for the devices of local and remote users in end-to-end encryption."""

from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from social.kernel import redis
from tests.accounts.devices.programs import Program, text
from tests.factories.accounts import make_user
from tests.federation.activities import remote
from tests.federation.remote_server import RemotePerson, RemoteServer

SECRET: Final = Ed25519PrivateKey.from_private_bytes(b"z" * 32)
DIGEST: Final = "http://www.w3.org/2000/09/xmldsig#hmac-sha256"


def device(someone: RemotePerson, number: int = 1, **more: Any) -> dict[str, Any]:
    """Return a device as it appears in the list of its user's devices."""
    return {
        "type": "Device",
        "deviceId": f"d{number}",
        "name": "Her phone",
        "claim": f"{someone.uri}/claim?id=d{number}",
        "fingerprintKey": {"type": "Ed25519Key", "publicKeyBase64": text(SECRET.public_key().public_bytes_raw())},
        "identityKey": {"type": "Curve25519Key", "publicKeyBase64": text(b"j" * 32)},
    } | more


def has(someone: RemotePerson, *devices: Any) -> None:
    """Serve the list of a remote user's devices."""
    uri = f"{someone.uri}/collections/devices"
    someone.home.serve({"id": uri, "type": "Collection", "totalItems": len(devices), "items": list(devices)})
    redis.client("cache").flushdb()


def cipher(someone: RemotePerson, program: Program, **more: Any) -> dict[str, Any]:
    """Return an encrypted message to a local device."""
    found = {
        "type": "EncryptedMessage",
        "attributedTo": {"type": "Device", "deviceId": "d1"},
        "to": {"type": "Device", "deviceId": program.device_id},
        "messageType": 1,
        "cipherText": "AwgAEiD",
        "digest": {"type": "Digest", "digestAlgorithm": DIGEST, "digestValue": "c2lnbg=="},
        "messageFranking": "theirs",
    }
    return someone.activity("Create", found | more, to=program.user.account.uri)


def address_of(someone: RemotePerson, device_id: str = "d1", **more: Any) -> dict[str, Any]:
    """Return the ids by which the client API addresses a device."""
    return {"account_id": str(remote(someone).id), "device_id": device_id} | more


def with_device(elsewhere: RemoteServer, name: str) -> RemotePerson:
    someone = elsewhere.person(name, devices=elsewhere.uri(f"users/{name}/collections/devices"))
    has(someone, device(someone))
    return someone


def program_of_alice() -> Program:
    """Create a client program of Alice's with a device that has two one-time keys."""
    found = Program(make_user("alice"))
    found.upload("one", "two")
    return found
