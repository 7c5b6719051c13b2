"""Settings read from the environment and checked; `social.settings.declared` describes each."""

import difflib
import ipaddress
import os
import re
import shlex
import sys
from email.utils import parseaddr
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from social.queues import LANES
from social.settings.captcha import read_captcha
from social.settings.declared import SETTINGS
from social.settings.issuers import read_issuers

ROOT = Path(__file__).resolve().parent.parent.parent
REDIS_ROLES = ("cache", "broker", "streams", "feeds")


def _read(name: str) -> str:
    if name not in SETTINGS:
        raise KeyError(f"{name} is not declared in social.settings.declared")
    return os.environ.get(name, "").strip()


DATA_DIR = Path(os.environ.get("DATA_DIR") or ROOT / "var").resolve()


def manage_command(arguments: str) -> str:
    """Return a `manage.py` command line, for this program and this data directory, that can be pasted into a terminal."""
    program = str(ROOT / "manage.py")
    if not (ROOT / ".venv").is_dir():
        program = f"{shlex.quote(sys.executable)} {shlex.quote(program)}"
    elif Path.cwd() == ROOT:
        program = "./manage.py"
    data_dir = "" if DATA_DIR == ROOT / "var" else f"DATA_DIR={shlex.quote(str(DATA_DIR))} "
    return f"{data_dir}{program} {arguments}"


def in_url(host: str) -> str:
    """Return a host as URLs write it: an IPv6 address in brackets (RFC 3986 section 3.2.2)."""
    return f"[{host}]" if ":" in host else host


def is_loopback(domain: str) -> bool:
    """Tell whether a domain, with or without a port, is reachable only from this machine (RFC 6761 section 6.3)."""
    host = urlsplit(f"//{domain}").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _choice(name: str, allowed: tuple[str, ...], default: str) -> str:
    value = _read(name).lower() or default
    if value not in allowed:
        raise ImproperlyConfigured(f"{name}={value} is not one of {', '.join(allowed)}.")
    return value


def _switch(name: str, default: bool, true: str = "yes", false: str = "no") -> bool:
    return _choice(name, (true, false), true if default else false) == true


def _number(name: str, default: int, lowest: int, highest: int) -> int:
    raw = _read(name)
    try:
        number = int(raw) if raw else default
    except ValueError:
        raise ImproperlyConfigured(f"{name}={raw} is not a whole number.") from None
    if number != default and not lowest <= number <= highest:
        raise ImproperlyConfigured(f"{name}={raw} is not between {lowest} and {highest}.")
    return number


_SHORTEST_TOKEN = 16
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-f:]+\])(?::\d{{1,5}})?")


def is_domain(text: str) -> bool:
    """Tell whether a text is a domain name in lower case, with or without a port."""
    parts = split_url(f"//{text}")
    return len(text) <= 253 and _DOMAIN.fullmatch(text) is not None and parts is not None and parts.port != 0


def _domain(name: str, default: str) -> str:
    domain = (_read(name) or default).lower()
    if not is_domain(domain):
        raise ImproperlyConfigured(
            f"{name}={domain} is not a domain name. Give it bare, as in social.example (in Punycode if it is not ASCII)."
        )
    return domain


def _token(name: str) -> str:
    token = _read(name)
    if 0 < len(token) < _SHORTEST_TOKEN:
        raise ImproperlyConfigured(
            f"{name} has {len(token)} characters; {_SHORTEST_TOKEN} or more, at random, are needed."
        )
    return token


def _words(name: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    # A list of words separated by commas or spaces. The default is all allowed words.
    chosen = _read(name).lower().replace(",", " ").split()
    for word in chosen:
        if word not in allowed:
            raise ImproperlyConfigured(f"{name}: {word} is not one of {', '.join(allowed)}.")
    return tuple(word for word in allowed if word in chosen) or allowed


def _networks(name: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    raw = _read(name).replace(",", " ").split()
    try:
        return tuple(ipaddress.ip_network(item, strict=False) for item in raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}. Give addresses or CIDR networks, separated by commas.") from None


def database(url: str) -> dict[str, Any]:
    """Return Django's DATABASES entry for a `postgres://` URL; a percent-encoded host is a socket directory."""
    if urlsplit(url).scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured("DATABASE_URL must be a postgres:// URL: PostgreSQL 15 or later is required.")
    try:
        config = cast(dict[str, Any], environ.Env.db_url_config(url))
        config["HOST"] = unquote(config["HOST"])
    except (ValueError, TypeError, KeyError, AttributeError):
        # The error's message is left out, because it may contain a part of the password.
        raise ImproperlyConfigured(
            f"DATABASE_URL={without_password(url)} cannot be understood. Write postgres://user@host:port/name."
        ) from None
    return config


def without_password(url: str) -> str:
    """Return a URL for messages, with `***` in place of its password."""
    return re.sub(r"(://[^:@/]*):.*@", r"\1:***@", url)


def split_url(url: str) -> SplitResult | None:
    """Return the parts of a URL; None for a text that is not a URL or that has an impossible port."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _url(name: str, default: str, schemes: tuple[str, ...], example: str) -> str:
    url = _read(name) or default
    if not url:
        return url
    parts = split_url(url)
    if parts is None or parts.scheme not in schemes or not (parts.path if parts.scheme == "unix" else parts.hostname):
        raise ImproperlyConfigured(f"{name}={without_password(url)} cannot be understood. Write it as in {example}.")
    return url


def _media_storage(url: str) -> dict[str, Any] | None:
    if not url:
        return None
    try:
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        bucket, _, location = parts.path.strip("/").partition("/")
        fine = parts.scheme in ("s3+https", "s3+http") and all((parts.hostname, parts.username, parts.password, bucket))
        port = f":{parts.port}" if parts.port else ""
        addressing = query.pop("addressing", "path")
        options = {
            "access_key": unquote(parts.username or ""),
            "secret_key": unquote(parts.password or ""),
            "bucket_name": bucket,
            "location": location,
            "endpoint_url": f"{parts.scheme.removeprefix('s3+')}://{in_url(parts.hostname or '')}{port}",
            "region_name": query.pop("region", "us-east-1"),
            "default_acl": query.pop("acl", None),
            "addressing_style": addressing,
        }
    except ValueError:
        fine, query, addressing = False, {}, ""
    if not fine or query or addressing not in ("path", "virtual"):
        raise ImproperlyConfigured(
            f"MEDIA_STORAGE={without_password(url)} cannot be understood. Write it as in "
            "s3+https://KEY:SECRET@s3.example.com/bucket?region=eu-central-1; acl and addressing=virtual may follow."
        )
    return {"BACKEND": "social.kernel.media.object_storage.ObjectStorage", "OPTIONS": options}


def _media_url() -> str:
    """Return the base URL of uploaded files, with a slash at its end: MEDIA_BASE_URL if it is set, otherwise the bucket's URL,
    otherwise a path of this server.
    """
    written = _url("MEDIA_BASE_URL", "", ("https", "http"), "https://files.social.example")
    return f"{written.rstrip('/')}/" if written else _bucket_url() or "/system/"


def _bucket_url() -> str:
    if MEDIA_STORAGE is None:
        return ""
    options = MEDIA_STORAGE["OPTIONS"]
    parts = urlsplit(options["endpoint_url"])
    base = f"{parts.scheme}://{parts.netloc}/{options['bucket_name']}"
    if options["addressing_style"] == "virtual":
        base = f"{parts.scheme}://{options['bucket_name']}.{parts.netloc}"
    return f"{base}/{options['location']}".rstrip("/") + "/"


def _scanner(scanner: str) -> str:
    if scanner.startswith("command:"):
        try:
            words = shlex.split(scanner.removeprefix("command:"))
        except ValueError:
            words = []
        if not words:
            raise ImproperlyConfigured("MEDIA_SCANNER names no program. Write command:clamdscan --no-summary -")
        return scanner
    return _url("MEDIA_SCANNER", "", ("https", "http"), "https://scanner.example/scan")


def _translation(url: str) -> str:
    fine = False
    if (parts := split_url(url)) is not None:
        kind, _, scheme = parts.scheme.partition("+")
        fine = kind in ("libretranslate", "deepl") and scheme in ("https", "http") and bool(parts.hostname)
        fine = fine and not (parts.query or parts.fragment) and (kind != "deepl" or "@" in parts.netloc)
    if url and not fine:
        # The value is left out, because it may contain a key.
        raise ImproperlyConfigured(
            "TRANSLATION_SERVICE cannot be understood. Write it as in libretranslate+https://KEY@translate.example or "
            "deepl+https://KEY@api-free.deepl.com."
        )
    return url


def _email(url: str) -> str:
    try:
        fine = not url or bool(mail_settings(url))
        fine = fine and (not url.startswith("smtp") or bool(urlsplit(url).hostname))
    except (ValueError, KeyError, TypeError, ImproperlyConfigured):
        fine = False
    if not fine:
        raise ImproperlyConfigured(
            f"EMAIL_URL={without_password(url)} cannot be understood. Write it as in smtp+tls://user:password@host:587."
        )
    return url


def mail_settings(url: str) -> dict[str, Any]:
    """Return Django's settings for EMAIL_URL.

    Port 465 means implicit TLS (RFC 8314, section 3.3), whatever the scheme. The scheme gives the default port: 465, 587 or 25.
    """
    found: dict[str, Any] = environ.Env.email_url_config(url)
    scheme = urlsplit(url).scheme
    if scheme.startswith("smtp"):
        implicit = found["EMAIL_PORT"] == 465 or scheme in ("smtps", "smtp+ssl")
        found["EMAIL_USE_SSL"] = implicit
        found["EMAIL_USE_TLS"] = not implicit and scheme == "smtp+tls"
        found["EMAIL_PORT"] = found["EMAIL_PORT"] or (465 if implicit else 587 if found["EMAIL_USE_TLS"] else 25)
    return found


def _sender(name: str, default: str) -> str:
    sender = _read(name) or default
    address = parseaddr(sender)[1]
    # With a second address, or with punctuation in a name without quotation marks, no e-mail could be sent.
    if "@" not in address or (sender not in (address, f"<{address}>") and not sender.endswith(f" <{address}>")):
        address = ""
    if not address or not sender.isprintable():
        raise ImproperlyConfigured(
            f"{name}={sender} has no address. Write one, as in Social <social@social.example>; a name with other characters "
            f'than letters, digits and spaces needs quotation marks, as in "Social: example" <social@social.example>.'
        )
    return sender


PORT = _number("PORT", 8000, 1, 65535)
STREAMING_PORT = _number("STREAMING_PORT", 4000, 1, 65535)
BIND = _read("BIND").removeprefix("[").removesuffix("]") or "127.0.0.1"
if BIND == "*":
    raise ImproperlyConfigured(
        "BIND=* is not a network address. Write 0.0.0.0 for all of IPv4, or :: for all addresses."
    )
WEB_WORKERS = _number("WEB_WORKERS", 2, 1, 256)
WORKER_LANES = _words("WORKER_LANES", tuple(LANES))
CHECKED_ANSWERS = _number("CHECKED_ANSWERS", 0, 0, 1_000_000)
METRICS_TOKEN = _token("METRICS_TOKEN")
SENTRY_DSN = _url("SENTRY_DSN", "", ("https", "http"), "https://key@sentry.example/1")
OTEL_EXPORTER_OTLP_ENDPOINT = _url(
    "OTEL_EXPORTER_OTLP_ENDPOINT", "", ("https", "http"), "http://collector.internal:4318"
)
LOCAL_DOMAIN = _domain("LOCAL_DOMAIN", f"localhost:{PORT}")
WEB_DOMAIN = _domain("WEB_DOMAIN", LOCAL_DOMAIN)
LOOPBACK = is_loopback(LOCAL_DOMAIN)
SCHEME = "http" if is_loopback(WEB_DOMAIN) else "https"
BASE_URL = f"{SCHEME}://{WEB_DOMAIN}"
_streaming_default = (
    f"ws://{in_url(urlsplit(BASE_URL).hostname or '')}:{STREAMING_PORT}" if SCHEME == "http" else f"wss://{WEB_DOMAIN}"
)
STREAMING_URL = _url(
    "STREAMING_API_BASE_URL", _streaming_default, ("ws", "wss"), "wss://streaming.social.example"
).rstrip("/")
_REDIS = (("redis", "rediss", "unix"), "redis://:password@host:6379/0")
_redis_url = _url("REDIS_URL", "", *_REDIS)
REDIS_URLS = {role: _url(f"REDIS_{role.upper()}_URL", _redis_url, *_REDIS) for role in REDIS_ROLES}
REGISTRATIONS = cast(
    Literal["open", "approval", "closed"],
    _choice("REGISTRATIONS", ("open", "approval", "closed"), "open" if LOOPBACK else "approval"),
)
PREPARED_STATEMENTS = _switch("PREPARED_STATEMENTS", True)
CONFIRM_EMAIL = _switch("CONFIRM_EMAIL", not LOOPBACK)
CHECK_EMAIL_DOMAINS = _switch("CHECK_EMAIL_DOMAINS", False)
MINIMUM_AGE = _number("MINIMUM_AGE", 0, 0, 120)
MAIL_EVERY_REPORT = _switch("MAIL_EVERY_REPORT", False)
ANNUAL_REPORTS = _switch("ANNUAL_REPORTS", True)
NODEINFO_NAME = _choice("NODEINFO_NAME", ("social", "mastodon"), "social")
LIMITED_FEDERATION = _switch("LIMITED_FEDERATION", False)
AUTHORIZED_FETCH = _switch("AUTHORIZED_FETCH", False)
DISABLE_FOLLOWERS_SYNCHRONIZATION = _switch("DISABLE_FOLLOWERS_SYNCHRONIZATION", False)
RATE_LIMITS = _switch("RATE_LIMITS", True, "on", "off")
FEDERATION_LOOPBACK = _switch("FEDERATION_LOOPBACK", False)
TRUSTED_PROXIES = _networks("TRUSTED_PROXIES")
ALLOWED_PRIVATE_ADDRESSES = _networks("ALLOWED_PRIVATE_ADDRESSES")
CAPTCHA_SERVICE = read_captcha(_read("CAPTCHA_SERVICE"), _read("CAPTCHA_SCRIPT"))
CAPTCHA_SERVICE_LOOPBACK = _switch("CAPTCHA_SERVICE_LOOPBACK", False)
SIGN_IN_ISSUERS_LOOPBACK = _switch("SIGN_IN_ISSUERS_LOOPBACK", False)
SIGN_IN_ISSUERS = read_issuers(_read("SIGN_IN_ISSUERS"), loopback=SIGN_IN_ISSUERS_LOOPBACK)
SIGN_IN_ISSUERS_ONLY = _switch("SIGN_IN_ISSUERS_ONLY", False)
STAFF_SECOND_FACTOR = _switch("STAFF_SECOND_FACTOR", not LOOPBACK)
MEDIA_STORAGE = _media_storage(_read("MEDIA_STORAGE"))
MEDIA_URL = _media_url()
BUCKET_URL = _bucket_url()
MEDIA_SCANNER = _scanner(_read("MEDIA_SCANNER"))
MEDIA_SCANNER_LOOPBACK = _switch("MEDIA_SCANNER_LOOPBACK", False)
TRANSLATION_SERVICE = _translation(_read("TRANSLATION_SERVICE"))
TRANSLATION_SERVICE_LOOPBACK = _switch("TRANSLATION_SERVICE_LOOPBACK", False)
WEB_CLIENT = _read("WEB_CLIENT")
KEEP_ADDRESSES_DAYS = _number("KEEP_ADDRESSES_DAYS", 365, 0, 36_500)
KEEP_AUDIT_LOG_DAYS = _number("KEEP_AUDIT_LOG_DAYS", 0, 30, 36_500)  # the database keeps the last 30 days in any case
KEEP_CLOSED_REPORTS_DAYS = _number("KEEP_CLOSED_REPORTS_DAYS", 0, 0, 36_500)
KEEP_HELD_POSTS_DAYS = _number("KEEP_HELD_POSTS_DAYS", 90, 0, 36_500)
KEEP_REMOTE_POSTS_DAYS = _number("KEEP_REMOTE_POSTS_DAYS", 0, 7, 36_500)
REMOTE_POSTS_LIMIT = _number("REMOTE_POSTS_LIMIT", 0, 1000, 999_999_999)
KEEP_NOTIFICATIONS_DAYS = _number("KEEP_NOTIFICATIONS_DAYS", 0, 0, 36_500)
SITE_SETTINGS = (
    "REGISTRATIONS",
    "CONFIRM_EMAIL",
    "MINIMUM_AGE",
    "LIMITED_FEDERATION",
    "DEFAULT_LANGUAGE",
    "REMOTE_MEDIA_MEGABYTES",
    "KEEP_ADDRESSES_DAYS",
    "KEEP_AUDIT_LOG_DAYS",
    "KEEP_CLOSED_REPORTS_DAYS",
    "KEEP_HELD_POSTS_DAYS",
    "KEEP_REMOTE_POSTS_DAYS",
    "REMOTE_POSTS_LIMIT",
)
# Values of the environment take precedence over values that staff choose while the server runs.
FIXED_SITE_SETTINGS = frozenset(name for name in SITE_SETTINGS if _read(name))
REMOTE_MEDIA_MEGABYTES = _number("REMOTE_MEDIA_MEGABYTES", 10_240, 1, 1_000_000_000)
EMAIL_URL = _email(_read("EMAIL_URL"))
MAIL_FROM = _sender("MAIL_FROM", f"notifications@{in_url(urlsplit(f'//{LOCAL_DOMAIN}').hostname or '')}")
LOG_FORMAT = _choice("LOG_FORMAT", ("json", "console"), "json")
LOG_LEVEL = _choice("LOG_LEVEL", ("debug", "info", "warning", "error"), "info").upper()
ACCESS_LOG = _switch("ACCESS_LOG", LOG_LEVEL == "DEBUG")
DEFAULT_LANGUAGE = _choice("DEFAULT_LANGUAGE", ("en", "de", "ar"), "en")
if SIGN_IN_ISSUERS_ONLY and not SIGN_IN_ISSUERS:
    raise ImproperlyConfigured("SIGN_IN_ISSUERS_ONLY=yes needs SIGN_IN_ISSUERS: nobody could sign in.")
if FEDERATION_LOOPBACK and not LOOPBACK:
    raise ImproperlyConfigured(
        f"FEDERATION_LOOPBACK=yes is only for local trials: the domain {LOCAL_DOMAIN} is not a loopback one. Unset it."
    )


def _refuse_misspelt() -> None:
    """Raise ImproperlyConfigured for a variable whose name is similar to that of a setting. Names with fewer than six letters,
    and names that are similar only to a setting that is set, are ignored.
    """
    unset = [name for name in SETTINGS if name not in os.environ]
    for name in sorted(os.environ.keys() - SETTINGS.keys()):
        if len(name) < 6:
            continue
        for found in difflib.get_close_matches(name.upper(), unset, n=1, cutoff=0.85):
            raise ImproperlyConfigured(f"{name} is no setting. Is {found} meant? Rename it, or unset it.")


_refuse_misspelt()
