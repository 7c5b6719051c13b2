"""Decides which device keys, one-time keys and signatures are valid (contract, parameters "Crypto")."""

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.utils.translation import gettext as _

from accounts.devices.models import BODY_LIMIT, DEVICE_TEXT_LIMIT, KEY_LIMIT
from social.kernel.errors import FieldError

_KEY_BYTES = 32
_URL_SAFE = str.maketrans("-_", "+/")


@dataclass(frozen=True)
class OneTimeKeyDraft:
    """A one-time key as a client sends it; `signature` signs the text of `key` with the device's fingerprint key."""

    key_id: str = ""
    key: str = ""
    signature: str = ""


@dataclass(frozen=True)
class DeviceDraft:
    """A device as a client registers it. Keys are base64: Ed25519 (fingerprint) and Curve25519 (identity)."""

    device_id: str = ""
    name: str = ""
    fingerprint_key: str = ""
    identity_key: str = ""
    one_time_keys: tuple[OneTimeKeyDraft, ...] = ()


@dataclass(frozen=True)
class MessageDraft:
    """An encrypted message as a client sends it to one device; `hmac` is the digest of its plain text."""

    account_id: int | None = None
    device_id: str = ""
    type: int = 0
    body: str = ""
    hmac: str = ""


@dataclass(frozen=True)
class RemoteDevice:
    """A device of a remote account, as its server describes it; one-time keys are claimed at `claim_url`."""

    account_id: int
    device_id: str
    name: str
    fingerprint_key: str
    identity_key: str
    claim_url: str = ""

    def is_valid(self, *keys: OneTimeKeyDraft) -> bool:
        """Tell whether the device's own keys are well-formed, and whether the device has signed the one-time `keys`."""
        draft = DeviceDraft(self.device_id, self.name, self.fingerprint_key, self.identity_key, keys)
        return bool(self.device_id) and not device_errors(draft)


def device_errors(draft: DeviceDraft) -> list[FieldError]:
    """Return the errors of a device and its one-time keys, in the order of the fields."""
    errors = [
        *_text_errors("device_id", _("Device"), draft.device_id, DEVICE_TEXT_LIMIT, required=False),
        *_text_errors("name", _("Name"), draft.name, DEVICE_TEXT_LIMIT),
        *_key_errors("fingerprint_key", _("Fingerprint key"), draft.fingerprint_key),
        *_key_errors("identity_key", _("Identity key"), draft.identity_key),
    ]
    if errors:
        return errors
    signer = Ed25519PublicKey.from_public_bytes(_decoded(draft.fingerprint_key))
    for key in draft.one_time_keys:
        errors += _text_errors("key_id", _("Key"), key.key_id, DEVICE_TEXT_LIMIT)
        errors += _key_errors("key", _("Key"), key.key)
        if not key.signature.strip():
            errors.append(FieldError.blank("signature", _("Signature")))
        elif not errors and not _is_signed(signer, key):
            message = _("is not a valid Ed25519 signature")
            errors.append(FieldError("signature", "ERR_INVALID", message, _("Signature")))
        if errors:
            break
    return errors


def message_errors(draft: MessageDraft) -> list[FieldError]:
    """Return the errors of a message whose texts are blank or too long; messages without these texts are refused earlier."""
    return [
        *_text_errors("body", _("Body"), draft.body, BODY_LIMIT),
        *_text_errors("hmac", _("Hmac"), draft.hmac, KEY_LIMIT),
    ]


def _text_errors(name: str, label: str, value: str, limit: int, *, required: bool = True) -> Iterator[FieldError]:
    if required and not value.strip():
        yield FieldError.blank(name, label)
    elif len(value) > limit:
        yield FieldError.too_long(name, limit, label)


def _key_errors(name: str, label: str, value: str) -> Iterator[FieldError]:
    if not value.strip():
        yield FieldError.blank(name, label)
    elif len(_decoded(value)) != _KEY_BYTES:
        yield FieldError(name, "ERR_INVALID", _("is not a valid Ed25519 or Curve25519 key"), label)


def _decoded(value: str) -> bytes:
    """Return the bytes of base64 in any form that Olm libraries write; empty if it is invalid or longer than any key."""
    if len(value) > KEY_LIMIT:
        return b""
    plain = "".join(value.split()).rstrip("=").translate(_URL_SAFE)
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _is_signed(signer: Ed25519PublicKey, key: OneTimeKeyDraft) -> bool:
    try:
        signer.verify(_decoded(key.signature), key.key.encode())
    except InvalidSignature:
        return False
    return True
