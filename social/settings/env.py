"""Knows every environment variable the server reads, its default and what it means."""

from __future__ import annotations

import ipaddress
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import quote, unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from social.queues import LANES

ROOT = Path(__file__).resolve().parent.parent.parent
REDIS_ROLES = ("cache", "broker", "streams", "feeds")
_env = environ.Env()


def is_loopback(domain: str) -> bool:
    """Whether a domain (with or without a port) can only be reached from this machine (RFC 6761 section 6.3)."""
    host = urlsplit(f"//{domain}").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _choice(name: str, allowed: tuple[str, ...], default: str) -> str:
    value = os.environ.get(name, "").strip().lower() or default
    if value not in allowed:
        raise ImproperlyConfigured(f"{name}={value} is not one of {', '.join(allowed)}.")
    return value


def _switch(name: str, default: bool, true: str = "yes", false: str = "no") -> bool:
    return _choice(name, (true, false), true if default else false) == true


def _number(name: str, default: int, lowest: int, highest: int) -> int:
    raw = os.environ.get(name, "").strip()
    try:
        number = int(raw) if raw else default
    except ValueError:
        raise ImproperlyConfigured(f"{name}={raw} is not a whole number.") from None
    if not lowest <= number <= highest:
        raise ImproperlyConfigured(f"{name}={raw} is not between {lowest} and {highest}.")
    return number


_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-f:]+\])(?::\d{{1,5}})?")


def _domain(name: str, default: str) -> str:
    domain = (os.environ.get(name) or default).strip().lower()
    if len(domain) > 253 or not _DOMAIN.fullmatch(domain):
        raise ImproperlyConfigured(
            f"{name}={domain} is not a domain name. Give it bare, as in social.example (in Punycode if it is not ASCII)."
        )
    return domain


def _several(name: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Some of the allowed words, separated by commas or spaces; all of them by default."""
    chosen = os.environ.get(name, "").lower().replace(",", " ").split()
    for word in chosen:
        if word not in allowed:
            raise ImproperlyConfigured(f"{name}: {word} is not one of {', '.join(allowed)}.")
    return tuple(word for word in allowed if word in chosen) or allowed


def _networks(name: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    raw = os.environ.get(name, "").replace(",", " ").split()
    try:
        return tuple(ipaddress.ip_network(item, strict=False) for item in raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}. Give addresses or CIDR networks, separated by commas.") from None


@dataclass(frozen=True)
class Secrets:
    """What must stay the same for the life of an installation; minted by `manage.py setup` or given by the environment."""

    secret_key: str
    vapid_private_key: str
    vapid_public_key: str
    field_encryption_keys: tuple[str, ...]


def secrets(data_dir: Path) -> Secrets:
    """The environment wins over `DATA_DIR/secrets.json`.

    Raises ImproperlyConfigured, with the remedy, when neither has them.
    """
    stored: dict[str, Any] = {}
    path = data_dir / "secrets.json"
    try:
        stored = json.loads(path.read_text())
    except FileNotFoundError:
        stored = {}
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(f"{path} cannot be read ({error}). Restore it from a backup.") from None

    def value(name: str) -> str:
        found = os.environ.get(name) or stored.get(name)
        if not found:
            raise ImproperlyConfigured(f"{name} is not set. Run `manage.py setup` once, or set it in the environment.")
        return str(found)

    return Secrets(
        secret_key=value("SECRET_KEY"),
        vapid_private_key=value("VAPID_PRIVATE_KEY"),
        vapid_public_key=value("VAPID_PUBLIC_KEY"),
        field_encryption_keys=tuple(value("FIELD_ENCRYPTION_KEYS").split(",")),
    )


def database(url: str) -> dict[str, Any]:
    """Django's DATABASES entry for a `postgres://` URL; a percent-encoded host is a socket directory."""
    config = cast(dict[str, Any], environ.Env.db_url_config(url))
    config["HOST"] = unquote(config["HOST"])
    if "postgresql" not in config.get("ENGINE", ""):
        raise ImproperlyConfigured("DATABASE_URL must be a postgres:// URL: PostgreSQL 15 or later is required.")
    return config


def celery_url(redis_url: str) -> str:
    """The same Redis server, in the words of kombu (a socket is `redis+socket://`)."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    db = dict(pair.partition("=")[::2] for pair in parts.query.split("&") if pair).get("db", "0")
    return f"redis+socket://{quote(parts.path)}?virtual_host={db}"


DATA_DIR = Path(os.environ.get("DATA_DIR") or ROOT / "var").resolve()
PORT = _number("PORT", 8000, 1, 65535)
STREAMING_PORT = _number("STREAMING_PORT", 4000, 1, 65535)
BIND = os.environ.get("BIND", "").strip() or "127.0.0.1"
WEB_WORKERS = _number("WEB_WORKERS", 2, 1, 256)
WORKER_LANES = _several("WORKER_LANES", tuple(LANES))
METRICS_TOKEN = os.environ.get("METRICS_TOKEN", "")
LOCAL_DOMAIN = _domain("LOCAL_DOMAIN", f"localhost:{PORT}")
WEB_DOMAIN = _domain("WEB_DOMAIN", LOCAL_DOMAIN)
LOOPBACK = is_loopback(LOCAL_DOMAIN)
SCHEME = "http" if is_loopback(WEB_DOMAIN) else "https"
BASE_URL = f"{SCHEME}://{WEB_DOMAIN}"
_streaming_default = (
    f"ws://{urlsplit(BASE_URL).hostname}:{STREAMING_PORT}" if SCHEME == "http" else f"wss://{WEB_DOMAIN}"
)
STREAMING_URL = (os.environ.get("STREAMING_API_BASE_URL") or _streaming_default).rstrip("/")
REDIS_URLS = {
    role: os.environ.get(f"REDIS_{role.upper()}_URL") or os.environ.get("REDIS_URL", "") for role in REDIS_ROLES
}
REGISTRATIONS = cast(
    Literal["open", "approval", "closed"],
    _choice("REGISTRATIONS", ("open", "approval", "closed"), "open" if LOOPBACK else "approval"),
)
PREPARED_STATEMENTS = _switch("PREPARED_STATEMENTS", True)
CONFIRM_EMAIL = _switch("CONFIRM_EMAIL", not LOOPBACK)
RATE_LIMITS = _switch("RATE_LIMITS", True, "on", "off")
FEDERATION_LOOPBACK = _switch("FEDERATION_LOOPBACK", False)
TRUSTED_PROXIES = _networks("TRUSTED_PROXIES")
ALLOWED_PRIVATE_ADDRESSES = _networks("ALLOWED_PRIVATE_ADDRESSES")
STAFF_SECOND_FACTOR = _switch("STAFF_SECOND_FACTOR", not LOOPBACK)
EMAIL_URL = os.environ.get("EMAIL_URL", "")
MAIL_FROM = os.environ.get("MAIL_FROM") or f"Social <notifications@{urlsplit(f'//{LOCAL_DOMAIN}').hostname}>"
LOG_FORMAT = _choice("LOG_FORMAT", ("json", "console"), "json")
LOG_LEVEL = _choice("LOG_LEVEL", ("debug", "info", "warning", "error"), "info").upper()
DEFAULT_LANGUAGE = os.environ.get("DEFAULT_LANGUAGE", "en")
if FEDERATION_LOOPBACK and not LOOPBACK:
    raise ImproperlyConfigured(
        f"FEDERATION_LOOPBACK=yes is only for local trials: the domain {LOCAL_DOMAIN} is not a loopback one. Unset it."
    )
