"""Reads remote devices, their one-time keys, and messages from them (contract, federation section 7)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from accounts.devices.models import BODY_LIMIT, DEVICE_TEXT_LIMIT, KEY_LIMIT
from accounts.devices.policies import MessageDraft, OneTimeKeyDraft, RemoteDevice
from federation.documents.devices import DIGEST_ALGORITHM
from federation.documents.reading import first, kinds_of, of_kind, same_origin, web_uri
from federation.documents.received_collections import items_of
from federation.reasons import Reason, Rejected

DEVICES_LIMIT: Final = 100
"""Maximum number of devices that are read for one account; further devices are ignored."""
FRANKING_LIMIT: Final = 8192
_INT32: Final = 2**31


@dataclass(frozen=True)
class ReceivedMessage:
    """A received encrypted message within the limits."""

    from_device_id: str
    message: MessageDraft
    franking: str


def read_devices(document: Mapping[str, Any], account_id: int, actor_uri: str) -> list[RemoteDevice]:
    """Return the valid devices in a collection, without duplicate ids. The address at which keys are claimed must be on the
    actor's own server.
    """
    devices: dict[str, RemoteDevice] = {}
    for item in of_kind(items_of(document, DEVICES_LIMIT), "Device"):
        claim = web_uri(item.get("claim"))
        device = RemoteDevice(
            account_id=account_id,
            device_id=_text(item.get("deviceId"), DEVICE_TEXT_LIMIT),
            name=_text(item.get("name"), DEVICE_TEXT_LIMIT),
            fingerprint_key=_key(item.get("fingerprintKey")),
            identity_key=_key(item.get("identityKey")),
            claim_url=claim if claim is not None and same_origin(claim, actor_uri) else "",
        )
        if device.is_valid():
            devices.setdefault(device.device_id, device)
    return list(devices.values())


def read_key(document: Mapping[str, Any]) -> OneTimeKeyDraft:
    """Return a one-time key; the caller verifies the device's signature."""
    signature = first(document.get("signature"))
    return OneTimeKeyDraft(
        key_id=_text(document.get("keyId"), DEVICE_TEXT_LIMIT),
        key=_text(document.get("publicKeyBase64"), KEY_LIMIT),
        signature=_text(signature.get("signatureValue"), KEY_LIMIT) if isinstance(signature, Mapping) else "",
    )


def is_encrypted_message(document: Mapping[str, Any]) -> bool:
    return "EncryptedMessage" in kinds_of(document)


def read_message(document: Mapping[str, Any]) -> ReceivedMessage:
    """Return an encrypted message. Raises Rejected when a part of the message is missing, too long, or of the wrong type."""
    device_ids = [_part(document, name).get("deviceId") for name in ("attributedTo", "to")]
    sender, target = (_text(name, DEVICE_TEXT_LIMIT) for name in device_ids)
    digest, kind = _part(document, "digest"), document.get("messageType")
    body, value = _text(document.get("cipherText"), BODY_LIMIT), _text(digest.get("digestValue"), KEY_LIMIT)
    # The sender's device id may be empty, because some accounts have only one device.
    if not target or not isinstance(device_ids[0], str) or sender != device_ids[0]:
        raise Rejected(Reason.MESSAGE_WITHOUT_DEVICES)
    if digest.get("digestAlgorithm") != DIGEST_ALGORITHM or not value:
        raise Rejected(Reason.MESSAGE_WITHOUT_DIGEST)
    if isinstance(kind, bool) or not isinstance(kind, int) or not -_INT32 < kind < _INT32 or not body:
        raise Rejected(Reason.MESSAGE_WITHOUT_TEXT)
    franking = _text(document.get("messageFranking"), FRANKING_LIMIT)
    return ReceivedMessage(sender, MessageDraft(device_id=target, type=kind, body=body, hmac=value), franking)


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = first(document.get(name))
    return value if isinstance(value, Mapping) else {}


def _key(value: Any) -> str:
    value = first(value)
    return _text(value.get("publicKeyBase64"), KEY_LIMIT) if isinstance(value, Mapping) else ""


def _text(value: Any, limit: int) -> str:
    """Return a text as it was sent; empty for a text that is too long, because a shortened key is useless."""
    return value if isinstance(value, str) and len(value) <= limit and "\0" not in value else ""
