"""Secrets of an installation, read from the environment and `secrets.json` and checked."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from social.settings.env import manage_command


@dataclass(frozen=True)
class Secrets:
    """Secrets of an installation, which `manage.py setup` generates or the environment has. Only operators change them."""

    secret_key: str
    vapid_private_key: str
    vapid_public_key: str
    field_encryption_keys: tuple[str, ...]
    secret_key_fallbacks: tuple[str, ...] = ()


_SHORTEST_SECRET_KEY = 32


def load_secrets(data_dir: Path) -> Secrets:
    """Load the secrets from `DATA_DIR/secrets.json` and the environment, which takes precedence. Raises
    ImproperlyConfigured, with the remedy, if a secret is missing in both places or is invalid.
    """
    path = data_dir / "secrets.json"
    try:
        stored: dict[str, Any] = json.loads(path.read_text())
        if not isinstance(stored, dict):
            raise ValueError("not an object")
    except FileNotFoundError:
        stored = {}
    except OSError as error:
        raise ImproperlyConfigured(
            f"{path} is there and cannot be read ({error.strerror}); nothing is lost. "
            f"Give it to user {os.geteuid()} (chown), mode 0600, and let that user enter the folders above it."
        ) from None
    except (ValueError, RecursionError) as error:
        raise ImproperlyConfigured(f"{path} is damaged ({error}). Restore it from a backup.") from None

    return parse_secrets(stored, path, os.environ)


def parse_secrets(stored: Mapping[str, Any], path: Path, given: Mapping[str, str]) -> Secrets:
    """Return the secrets in `given` and, for those that it lacks, in `stored`, the content of the file `path`. Raises
    ImproperlyConfigured, with the remedy, if a secret is missing in both or is invalid.
    """

    def value(name: str, *, optional: bool = False) -> str:
        found = given.get(name) or stored.get(name)
        if not isinstance(found, str | None):
            raise ImproperlyConfigured(f"{name} in {path} is no text. Restore that file from a backup.")
        if not found and not optional:
            raise ImproperlyConfigured(
                f"{name} is not set, and {path} {'lacks it' if stored else 'is missing'}. Restore that file from a "
                f"backup, or set it in the environment; a new installation gets it from {manage_command('run')}"
            )
        return (found or "").strip()

    secret_key = value("SECRET_KEY")
    former = value("SECRET_KEY_FALLBACKS", optional=True)
    fallbacks = tuple(key.strip() for key in former.split(",") if key.strip())
    for name, key in (("SECRET_KEY", secret_key), *(("SECRET_KEY_FALLBACKS", key) for key in fallbacks)):
        if len(key) < _SHORTEST_SECRET_KEY:
            raise ImproperlyConfigured(
                f"{name} has {len(key)} characters; {_SHORTEST_SECRET_KEY} or more, at random, are needed."
            )
    private, public = value("VAPID_PRIVATE_KEY"), value("VAPID_PUBLIC_KEY")
    if len(_decoded(private)) != 32:
        raise ImproperlyConfigured("VAPID_PRIVATE_KEY is not a P-256 key: 32 bytes in URL-safe Base64 (RFC 8292).")
    if len(_decoded(public)) != 65 or _decoded(public)[0] != 4:
        raise ImproperlyConfigured("VAPID_PUBLIC_KEY is not a P-256 point: 65 bytes in URL-safe Base64 (RFC 8292).")
    keys = tuple(key.strip() for key in value("FIELD_ENCRYPTION_KEYS").split(","))
    for position, key in enumerate(keys, 1):
        # Fernet requires the padding.
        if len(_decoded(key)) != 32 or len(key) != 44:
            raise ImproperlyConfigured(
                f"FIELD_ENCRYPTION_KEYS: key {position} of {len(keys)} is not 32 bytes in URL-safe Base64 (44 characters)."
            )
    return Secrets(secret_key, private, public, keys, fallbacks)


def _decoded(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return b""
