"""Generates and stores the secrets of an installation."""

import base64
import contextlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from social.kernel.descriptors import sync_folder
from social.runtime.failures import OperatorError

NAMES = ("SECRET_KEY", "VAPID_PRIVATE_KEY", "VAPID_PUBLIC_KEY", "FIELD_ENCRYPTION_KEYS")

#: The names of this process's temporary secrets, which are not those of the installation.
temporary: set[str] = set()


def has_secrets(data_dir: Path) -> bool:
    """Tell whether the secrets exist: in `secrets.json`, or all of them in the environment."""
    return (data_dir / "secrets.json").exists() or all(os.environ.get(name) for name in NAMES)


def read_secrets(data_dir: Path) -> dict[str, str]:
    """Return the secrets in `secrets.json`; empty if there is no such file. Raises OperatorError if it cannot be read."""
    path = data_dir / "secrets.json"
    try:
        stored: dict[str, str] = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise OperatorError(f"{path} cannot be read ({error}). Restore it from a backup.") from None
    return stored


def replace_secrets(data_dir: Path, values: dict[str, str]) -> None:
    """Replace `secrets.json` (mode 0600) atomically. Raises OperatorError if it cannot be written."""
    with _writing(data_dir, values) as temporary:
        temporary.replace(data_dir / "secrets.json")
        sync_folder(data_dir)


@contextlib.contextmanager
def _writing(data_dir: Path, values: dict[str, str]) -> Iterator[Path]:
    """Write these secrets to a temporary file, which the block renames or links. Raises OperatorError if either fails."""
    temporary = data_dir / f".secrets.{os.getpid()}"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(values, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    except OSError as error:
        path = data_dir / "secrets.json"
        raise OperatorError(f"{path} cannot be written: {error.strerror}. Check owner, mode and free space.") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def use_temporary_secrets() -> None:
    """Put new secrets into the environment of this process, for a command that reads no data protected by them."""
    for name, value in new_secrets().items():
        if not os.environ.get(name):
            os.environ[name] = value
            temporary.add(name)


def generate_secrets(data_dir: Path) -> bool:
    """Generate `secrets.json` (mode 0600) unless it exists or the environment has all secrets; tell whether it was written.

    The file holds the secret key, the VAPID key pair (P-256, RFC 8292) and the field encryption key (256 bits). If two
    processes generate it at the same moment, one file remains. Raises OperatorError if the directory cannot be written.
    """
    if has_secrets(data_dir):
        return False
    with _writing(data_dir, new_secrets()) as temporary:
        try:
            # Unlike a rename, a link never replaces another process's new file.
            os.link(temporary, data_dir / "secrets.json")
        except FileExistsError:
            return False
    return True


def new_secrets() -> dict[str, str]:
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
