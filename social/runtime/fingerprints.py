"""Comparison of the secrets with the fingerprints that the database has stored for this installation.

If the secrets were replaced unnoticed, everybody would be signed out, every push subscription would end, and second
factors and the accounts' signing keys would be unreadable.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from social.runtime.database import TABLE, Cursor, stored_installation
from social.runtime.failures import OperatorError
from social.settings.env import manage_command
from social.settings.secrets import Secrets

#: The effects of losing each secret.
EFFECTS_OF_LOSS: Final = {
    "SECRET_KEY": "everybody is signed out",
    "VAPID_PRIVATE_KEY": "apps must subscribe to push again",
    "VAPID_PUBLIC_KEY": "apps must subscribe to push again",
    "FIELD_ENCRYPTION_KEYS": "second factors and the keys that sign for the accounts here cannot be read again",
}
Fingerprints = dict[str, list[str]]


def fingerprints_of(secrets: Secrets) -> Fingerprints:
    """Return the fingerprints of each secret. If there are several keys of a kind, the first one is in use, and the others only
    verify or decrypt.
    """
    values = {
        "SECRET_KEY": [secrets.secret_key, *secrets.secret_key_fallbacks],
        "VAPID_PRIVATE_KEY": [secrets.vapid_private_key],
        "VAPID_PUBLIC_KEY": [secrets.vapid_public_key],
        "FIELD_ENCRYPTION_KEYS": list(secrets.field_encryption_keys),
    }
    return {
        name: [hashlib.sha256(f"fingerprint of {name}\0{value}".encode()).hexdigest()[:32] for value in found]
        for name, found in values.items()
    }


def stored_fingerprints(cursor: Cursor) -> Fingerprints:
    """Return the fingerprints in the database; empty before the first start."""
    stored: Any = stored_installation(cursor).get("fingerprints")
    return stored if isinstance(stored, dict) else {}


def check_secrets(cursor: Cursor, secrets: Secrets, data_dir: Path) -> bool:
    """Tell whether the database has the fingerprints of exactly these secrets.

    Returns False at the first start, and after a field encryption key was added. Raises OperatorError,
    with the remedy, if a stored fingerprint belongs to none of these secrets.
    """
    stored, present = stored_fingerprints(cursor), fingerprints_of(secrets)
    wrong = [name for name in present if not set(stored.get(name, [])) <= set(present[name])]
    if wrong:
        raise OperatorError(
            f"{' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not what this installation began with. "
            f"{_remedy(data_dir, wrong)}"
        )
    return {name: set(kept) for name, kept in stored.items()} == {name: set(kept) for name, kept in present.items()}


def refuse_new_secrets(data_dir: Path) -> OperatorError:
    """Return the error for an installation whose secrets are missing; the caller raises it."""
    return OperatorError(
        f"{data_dir / 'secrets.json'} is missing, and the database was made with the secrets in it. "
        f"{_remedy(data_dir, list(EFFECTS_OF_LOSS))}"
    )


def _remedy(data_dir: Path, names: list[str]) -> str:
    setup = manage_command("setup --new-secrets")
    lost = "; ".join(dict.fromkeys(EFFECTS_OF_LOSS[name] for name in names))
    return (
        f"Restore {data_dir / 'secrets.json'} from a backup, or set the variables in the environment as on your other "
        f"machines. If they are gone for good, `{setup}` goes on with new ones: {lost}."
    )


def store_fingerprints(cursor: Cursor, secrets: Secrets) -> None:
    """Store the fingerprints of these secrets in place of all stored ones. Raises OperatorError if the VAPID
    keys do not match.
    """
    check_pair(secrets)
    cursor.execute(
        f"UPDATE {TABLE} SET fingerprints = %s::jsonb WHERE id = 1",  # noqa: S608  (a constant)
        [json.dumps(fingerprints_of(secrets))],
    )


def check_pair(secrets: Secrets) -> None:
    """Raise OperatorError for VAPID keys that do not match: push services would refuse messages signed with them."""
    import base64

    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private, public = (
        base64.urlsafe_b64decode(key + "=" * (-len(key) % 4))
        for key in (secrets.vapid_private_key, secrets.vapid_public_key)
    )
    try:
        key = ec.derive_private_key(int.from_bytes(private, "big"), ec.SECP256R1())
    except ValueError:
        raise OperatorError("VAPID_PRIVATE_KEY is no P-256 key. Restore it from a backup.") from None
    point = key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    if point != public:
        raise OperatorError("VAPID_PUBLIC_KEY does not belong to VAPID_PRIVATE_KEY. Set both, from the same backup.")
