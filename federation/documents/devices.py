"""Documents for end-to-end encryption: devices, one-time keys and messages (contract, federation sections 3, 4 and 7; D-05)."""

from typing import Any, Final
from urllib.parse import urlencode

from accounts.devices.models import Device
from accounts.devices.policies import MessageDraft, OneTimeKeyDraft
from accounts.models import Account
from federation.documents.actors import devices_url
from federation.documents.collections import whole
from federation.documents.context import SECURITY, with_context
from social.kernel import clock

TERMS: Final = (
    *("Device", "Ed25519Signature", "Ed25519Key", "Curve25519Key", "EncryptedMessage", "publicKeyBase64", "deviceId"),
    *("claim", "fingerprintKey", "identityKey", "devices", "messageFranking", "messageType", "cipherText"),
)
DIGEST_ALGORITHM: Final = "http://www.w3.org/2000/09/xmldsig#hmac-sha256"


def devices(account: Account, rows: list[Device]) -> dict[str, Any]:
    return whole(devices_url(account), [_device(account, device) for device in rows], ordered=False, terms=TERMS)


def _device(account: Account, device: Device) -> dict[str, Any]:
    return {
        "type": "Device",
        "deviceId": device.device_id,
        "name": device.name,
        "fingerprintKey": {"type": "Ed25519Key", "publicKeyBase64": device.fingerprint_key},
        "identityKey": {"type": "Curve25519Key", "publicKeyBase64": device.identity_key},
        "claim": f"{account.uri}/claim?{urlencode({'id': device.device_id})}",
    }


def one_time_key(key: OneTimeKeyDraft) -> dict[str, Any]:
    """Return the document of a claimed one-time key."""
    document = {
        "type": "Curve25519Key",
        "keyId": key.key_id,
        "publicKeyBase64": key.key,
        "signature": {"type": "Ed25519Signature", "signatureValue": key.signature},
    }
    return with_context(document, TERMS, SECURITY)


def encrypted_message(
    sender: Device, target_uri: str, message: MessageDraft, *, uri: str, franking: str
) -> dict[str, Any]:
    """Return the Create of a message from a local device to a remote device."""
    activity = {
        "id": uri,
        "type": "Create",
        "actor": sender.account.uri,
        "published": clock.iso_seconds(clock.now()),
        "to": target_uri,
        "object": {
            "type": "EncryptedMessage",
            "attributedTo": {"type": "Device", "deviceId": sender.device_id},
            "to": {"type": "Device", "deviceId": message.device_id},
            "messageType": message.type,
            "cipherText": message.body,
            "digest": {"type": "Digest", "digestAlgorithm": DIGEST_ALGORITHM, "digestValue": message.hmac},
            "messageFranking": franking,
        },
    }
    return with_context(activity, TERMS, SECURITY)
