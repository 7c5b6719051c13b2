"""Generates and stores the secrets of an installation."""

from __future__ import annotations

import base64
import json
import os
import secrets
from pathlib import Path

from social.runtime.failures import OperatorError
from social.runtime.unfinished import sync_folder

NAMES = ("SECRET_KEY", "VAPID_PRIVATE_KEY", "VAPID_PUBLIC_KEY", "FIELD_ENCRYPTION_KEYS")

#: Secrets of this process that no installation has.
temporary: set[str] = set()


def has_secrets(data_dir: Path) -> bool:
    """Tell whether there is nothing to generate: the file is there, or the environment has them all."""
    return (data_dir / "secrets.json").exists() or all(os.environ.get(name) for name in NAMES)


def read_secrets(data_dir: Path) -> dict[str, str]:
    """The secrets in the file; none when there is no file. Raises OperatorError when it cannot be read."""
    path = data_dir / "secrets.json"
    try:
        stored: dict[str, str] = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise OperatorError(f"{path} cannot be read ({error}). Restore it from a backup.") from None
    return stored


def replace_secrets(data_dir: Path, values: dict[str, str]) -> None:
    """Write the file anew (mode 0600), whole or not at all. Raises OperatorError."""
    path = data_dir / "secrets.json"
    temporary = data_dir / f".secrets.{os.getpid()}"
    temporary.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(values, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(data_dir)
    except OSError as error:
        raise OperatorError(f"{path} cannot be written: {error.strerror}. Check owner, mode and free space.") from None


def use_temporary_secrets() -> None:
    """Put fresh secrets into the environment of this process, for a command that looks at nothing they protect."""
    for name, value in new_secrets().items():
        if not os.environ.get(name):
            os.environ[name] = value
            temporary.add(name)


def generate_secrets(data_dir: Path) -> bool:
    """Write `secrets.json` (mode 0600) if it is absent and the environment does not have them all; whether it did.

    Secret key, VAPID pair (P-256, RFC 8292) and field encryption key (256 bits). Two processes that generate at the same
    moment end with one file. Raises OperatorError when the directory cannot be written.
    """
    path = data_dir / "secrets.json"
    if has_secrets(data_dir):
        return False
    generated = new_secrets()
    temporary = data_dir / f".secrets.{os.getpid()}"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(descriptor, "w") as file:
                json.dump(generated, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.link(temporary, path)  # unlike a rename, it never replaces what another process has just generated
        finally:
            temporary.unlink(missing_ok=True)
    except FileExistsError:
        return False
    except OSError as error:
        raise OperatorError(f"{path} cannot be written: {error.strerror}. Check owner, mode and free space.") from None
    return True


def new_secrets() -> dict[str, str]:
    """Fresh secrets, by name."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_numbers().private_value.to_bytes(32, "big")
    public = key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    return {
        "SECRET_KEY": secrets.token_urlsafe(64),
        "VAPID_PRIVATE_KEY": base64.urlsafe_b64encode(private).decode().rstrip("="),
        "VAPID_PUBLIC_KEY": base64.urlsafe_b64encode(public).decode().rstrip("="),
        "FIELD_ENCRYPTION_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    }
