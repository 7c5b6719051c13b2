"""Checks of an installation: each mistake an operator can make, how it shows, and what to do about it."""

from __future__ import annotations

import io
import os
import secrets
import shutil
import smtplib
import stat
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.mail import get_connection
from django.db import Error, connection

from accounts.queries.site_settings import find_site_text
from moderation.models import DomainAllow
from social.kernel import descriptors, heartbeats, outbox, redis
from social.kernel.media import storage
from social.kernel.media.decoder import DecodingFailed, decoder
from social.kernel.media.decoding import jobs
from social.kernel.outbox import OutboxRow
from social.runtime import database, fingerprints, health, launch, tables
from social.runtime.datadir import running_supervisor
from social.runtime.failures import OperatorError
from social.runtime.postgres import Postgres
from social.runtime.web.limits import Limits
from social.settings import env

State = Literal["ok", "warning", "failed"]

#: Seconds between our clock and the database's, above which signatures of other servers begin to be refused.
CLOCK_SKEW_LIMIT = 5.0
#: Seconds without a heartbeat: two were missed, and the third is late.
SILENCE_LIMIT = 2.5 * heartbeats.INTERVAL
#: Seconds a row of the outbox may wait; the sweep takes it after 10 s.
WAITING_LIMIT = 60.0
#: Seconds a mail server may take to answer.
_MAIL_SECONDS = 5
#: Seconds in which a reader expects a file.
_READER_SECONDS = 10
# A GIF of one pixel.
_PIXEL = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
#: Open files of a web process: a connection and the body or the file that it waits for, and everything else.
LEAST_OPEN_FILES = 2 * Limits().connections + 256
LEAST_FREE, LOW_FREE = 256 << 20, 2 << 30
_RUN_SETUP = f"Run {env.manage_command('setup')}"
_OUTBOX = env.manage_command("show_outbox")


@dataclass(frozen=True)
class Check:
    """Result of a check. A warning does not fail the whole; a failure names its remedy."""

    name: str
    state: State
    detail: str
    remedy: str = ""


def examine() -> Iterator[Check]:
    """Make every check, in the order in which a fault of one explains those after it."""
    answers = True
    for check in _CHECKS:
        if check in _ASK_THE_DATABASE and not answers:
            # Each would wait for a connection until the pool gives up.
            yield Check(_title(check), "failed", "the database does not answer", "See to the database first.")
            continue
        try:
            for found in check():
                answers = answers and (found.name, found.state) != ("database", "failed")
                yield found
        except Error as error:
            yield Check(_title(check), "failed", _first(error), "See to the database first.")
        except redis.RedisError as error:
            yield Check(_title(check), "failed", _first(error), "See to Redis first.")


def _title(check: Callable[[], Iterator[Check]]) -> str:
    return check.__name__.lstrip("_").replace("_", " ")


def _first(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _secrets() -> Iterator[Check]:
    path = env.DATA_DIR / "secrets.json"
    if not path.exists():
        yield Check("secrets", "ok", "from the environment")
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        yield Check("secrets", "failed", f"{path} has mode {mode:04o}", f"Others can read it: chmod 600 {path}")
        return
    yield Check("secrets", "ok", f"{path}, mode {mode:04o}; keep a copy of it with the backups")


def _database() -> Iterator[Check]:
    try:
        with database.connect(os.environ["DATABASE_URL"]) as found:
            version = found.info.server_version
            yield Check("database", "ok", f"PostgreSQL {version // 10000}.{version % 10000}")
    except OperatorError as error:
        yield Check("database", "failed", str(error), "Check DATABASE_URL and that the server runs.")


def _migrations() -> Iterator[Check]:
    pending = health.pending_migrations()
    if pending:
        yield Check("migrations", "failed", f"{len(pending)} are missing, first {pending[0]}", _RUN_SETUP)
        return
    yield Check("migrations", "ok", "all applied")
    if different := tables.differences():
        yield Check("tables", "failed", tables.describe(different), tables.remedy(different))
    else:
        yield Check("tables", "ok", "as the models say")


def _domain() -> Iterator[Check]:
    with connection.cursor() as cursor:
        stored = database.stored_domain(cursor)
    if stored is None:
        yield Check("domain", "failed", "none is stored yet", _RUN_SETUP)
    elif stored != settings.LOCAL_DOMAIN:
        detail = f"stored {stored}, configured {settings.LOCAL_DOMAIN}"
        yield Check("domain", "failed", detail, f"Set LOCAL_DOMAIN={stored}: the domain is for ever.")
    else:
        yield Check("domain", "ok", f"{stored}, web pages at {settings.BASE_URL}")


def _fingerprints() -> Iterator[Check]:
    with connection.cursor() as cursor:
        try:
            if fingerprints.check_secrets(cursor, settings.SECRETS, env.DATA_DIR):
                yield Check("fingerprints", "ok", "the secrets are those this installation began with")
            else:
                yield Check("fingerprints", "failed", "the database does not know all of the secrets yet", _RUN_SETUP)
        except OperatorError as error:
            fault, _stop, remedy = str(error).partition(". ")
            yield Check("fingerprints", "failed", fault, remedy)


def _clock() -> Iterator[Check]:
    with connection.cursor() as cursor:
        before = datetime.now(UTC)
        cursor.execute("SELECT clock_timestamp()")
        row = cursor.fetchone()
        after = datetime.now(UTC)
    assert row is not None
    skew = (row[0] - (before + (after - before) / 2)).total_seconds()
    if abs(skew) > CLOCK_SKEW_LIMIT:
        remedy = "Synchronise both clocks (NTP): other servers refuse signatures with a wrong date."
        yield Check("clock", "failed", f"the database's is {skew:+.1f} s from ours", remedy)
    else:
        yield Check("clock", "ok", f"{skew * 1000:+.0f} ms between the database's and ours")


def _redis() -> Iterator[Check]:
    for role, url in settings.REDIS_URLS.items():
        try:
            database.check_redis(role, url)
        except OperatorError as error:
            yield Check(f"redis {role}", "failed", str(error), f"Check REDIS_URL or REDIS_{role.upper()}_URL.")
        else:
            yield Check(f"redis {role}", "ok", env.without_password(url))


def _storage() -> Iterator[Check]:
    for name in ("", "media", "mail", "run"):
        folder = env.DATA_DIR / name
        if not folder.is_dir():
            yield Check("storage", "failed", f"{folder} is missing", _RUN_SETUP)
            return
        if not os.access(folder, os.W_OK | os.X_OK):
            yield Check(
                "storage", "failed", f"{folder} cannot be written", f"Give it to user {os.geteuid()} (chown -R)."
            )
            return
    if env.MEDIA_STORAGE is not None:
        yield _object_storage(env.MEDIA_STORAGE["OPTIONS"]["bucket_name"])
        return
    if not Postgres(env.DATA_DIR).cluster.exists():
        detail = f"{env.DATA_DIR} is writable; every machine must see the same {env.DATA_DIR / 'media'}"
        yield Check("storage", "ok", f"{detail} (a shared folder), and have the same secrets")
    else:
        yield Check("storage", "ok", f"{env.DATA_DIR} is writable")
    if "//" in settings.MEDIA_URL:
        yield _served(f"files of {env.DATA_DIR / 'media'}")


def _object_storage(bucket: str) -> Check:
    try:
        return _served(f"the bucket {bucket}")
    except Exception as error:
        detail = f"the bucket {bucket} cannot be used ({_first(error.__cause__ or error)})"
        return Check("storage", "failed", detail, "Check MEDIA_STORAGE: address, keys, bucket, and that it exists.")


def _served(what: str) -> Check:
    """Check that a reader gets what is stored: a small file, which is removed again. Raises what the storage raises."""
    path = default_storage.save(f"doctor/{secrets.token_hex(16)}.gif", ContentFile(_PIXEL))
    address = storage.url(path)
    try:
        with urllib.request.urlopen(address, timeout=_READER_SECONDS) as answer:  # noqa: S310 (ours)
            fault = "" if answer.read(len(_PIXEL) + 1) == _PIXEL else "answers something else"
    except urllib.error.HTTPError as error:
        with error:
            fault = f"answers {error.code}"
    except (OSError, ValueError) as error:
        fault = f"does not answer ({_first(error)})"
    finally:
        default_storage.delete(path)
    if not fault:
        return Check("storage", "ok", f"{what}: readers get them from {settings.MEDIA_URL}")
    remedy = "Let everybody read the bucket (a policy of the bucket, or &acl=public-read in MEDIA_STORAGE)"
    remedy = f"{remedy}, and check MEDIA_BASE_URL." if env.MEDIA_STORAGE else "Check MEDIA_BASE_URL."
    return Check("storage", "failed", f"{what}: a file was stored, and {settings.MEDIA_URL} {fault}", remedy)


def _decoding() -> Iterator[Check]:
    try:
        with decoder.decode(jobs.PICTURE, io.BytesIO(_PIXEL), {}):
            pass
    except (DecodingFailed, jobs.Refused, OSError) as error:
        remedy = "Uploads fail: install the requirements again, and see that there is memory and room for files."
        yield Check("decoding", "failed", f"a picture could not be decoded ({_first(error)})", remedy)
    else:
        shut = "shut in by a filter of system calls" if decoder.is_confined else "without a filter of system calls"
        yield Check("decoding", "ok", f"files are decoded in a process of their own, {shut}")


def _disk() -> Iterator[Check]:
    free = shutil.disk_usage(env.DATA_DIR).free
    detail = f"{free / (1 << 30):.1f} GB free at {env.DATA_DIR}"
    if free < LEAST_FREE:
        yield Check("disk", "failed", detail, "Free some space before PostgreSQL stops for want of it.")
    elif free < LOW_FREE:
        yield Check("disk", "warning", detail, "Free some space, or move DATA_DIR to a larger disk.")
    else:
        yield Check("disk", "ok", detail)


def _open_files() -> Iterator[Check]:
    """The limits of the processes that run, or of those that would be started from here (security row 52)."""
    try:
        soft, hard = descriptors.limits(int(running_supervisor(env.DATA_DIR) or os.getpid()))
    except (OSError, ValueError):
        soft, hard = descriptors.limits(os.getpid())
    detail = (
        f"at most {hard} for a process (soft limit {soft}, which web and streaming processes raise to the hard one)"
    )
    if hard < LEAST_OPEN_FILES:
        remedy = "Raise the hard limit of whoever starts the server: LimitNOFILE=65536 in a unit of systemd, --ulimit "
        remedy += "nofile=65536 for a container, `ulimit -Hn 65536` as root in a shell."
        needed = f"a web process needs {LEAST_OPEN_FILES}, a streaming process one for each client"
        yield Check("open files", "failed", f"{detail}; {needed}", remedy)
    else:
        yield Check("open files", "ok", detail)


def _start(name: str) -> str:
    """The remedy for a process that gives no sign of life; nobody is asked to start what somebody is starting."""
    pid = running_supervisor(env.DATA_DIR)
    if pid is not None:
        return f"Process {pid} starts it, now or when it has ended: wait a minute, then read what that process printed."
    own = f"python -m social.runtime.serve {name}"
    return f"Start everything with {env.manage_command('run')}, or this process on its own: {own}"


def _processes() -> Iterator[Check]:
    for name in ("web", "streaming"):
        port, path = launch.HEALTH[name]
        address = f"{env.in_url(env.BIND)}:{port}{path}"
        if launch.answers(name):
            yield Check(name, "ok", f"{address} answers")
        else:
            yield Check(name, "failed", f"{address} does not answer", _start(name))
    for name in ("worker", "scheduler"):
        seen = heartbeats.last(name)
        if seen is None:
            detail = f"no sign of life within {heartbeats.EXPIRY} s; one that has just started gives its first soon"
            yield Check(name, "failed", detail, _start(name))
            continue
        age = (datetime.now(UTC) - seen).total_seconds()
        if age > SILENCE_LIMIT:
            yield Check(name, "failed", f"no sign of life for {age:.0f} s", _start(name))
        else:
            yield Check(name, "ok", f"last sign of life {age:.0f} s ago")


def _outbox() -> Iterator[Check]:
    figures = outbox.measure()
    oldest = max((found.oldest for found in figures), default=0.0)
    depth = sum(found.depth for found in figures)
    dead = sum(found.dead for found in figures)
    failing = OutboxRow.objects.filter(dead_at=None, attempts__gt=2).count()
    if failing:
        remedy = "Their reactions raise an error, and later events of the same keys wait behind them: " + _OUTBOX
        yield Check("outbox", "failed", f"{failing} rows have failed three times or more", remedy)
    elif oldest > WAITING_LIMIT:
        detail = f"the oldest of {depth} rows waits for {oldest:.0f} s"
        yield Check("outbox", "failed", detail, f"Is a worker running? Look: {_OUTBOX}")
    else:
        yield Check("outbox", "ok", f"{depth} rows are due, the oldest for {oldest:.0f} s")
    if dead:
        remedy = f"Each holds up what came after it. Look and decide: {_OUTBOX}"
        yield Check("dead letters", "failed", f"{dead} rows were given up", remedy)


def _proxies() -> Iterator[Check]:
    proxies = settings.TRUSTED_PROXIES
    wide = [str(network) for network in proxies if network.num_addresses > 1 << 24 and not network.is_private]
    if wide:
        remedy = "Name the proxies only: whoever is in there can claim any address."
        yield Check("proxies", "failed", f"TRUSTED_PROXIES trusts {', '.join(wide)}", remedy)
    elif proxies:
        yield Check("proxies", "ok", ", ".join(map(str, proxies)))
    elif env.SCHEME == "https":
        remedy = "Set TRUSTED_PROXIES to the proxy's address; until then all clients share one address and its limits."
        yield Check("proxies", "failed", f"https://{env.WEB_DOMAIN} needs a proxy, and none is trusted", remedy)
    else:
        yield Check("proxies", "ok", "none: clients reach this server directly")


def _federation() -> Iterator[Check]:
    if settings.FEDERATION_LOOPBACK:
        yield Check(
            "federation",
            "warning",
            "FEDERATION_LOOPBACK=yes: http, other ports and loopback addresses are allowed",
            "For trials between local instances only; unset it otherwise.",
        )
    elif settings.LIMITED_FEDERATION and not DomainAllow.objects.exists():
        remedy = "Allow servers in the admin, or unset it."
        yield Check("federation", "warning", "LIMITED_FEDERATION=yes, and no server is allowed", remedy)
    elif env.LOOPBACK:
        yield Check(
            "federation", "ok", f"{settings.LOCAL_DOMAIN} cannot be reached by other servers: a local installation"
        )
    else:
        yield Check("federation", "ok", "public addresses only, over https")


def _mail() -> Iterator[Check]:
    if env.EMAIL_URL:
        server = env.without_password(env.EMAIL_URL)
        try:
            # Signs in too, where a name and a password are given.
            with get_connection(timeout=_MAIL_SECONDS):
                yield Check("mail", "ok", f"{settings.DEFAULT_FROM_EMAIL} by {server}")
        except (OSError, smtplib.SMTPException, ValueError) as error:
            yield Check("mail", "failed", f"{server} does not take mail: {_first(error)}", "Check EMAIL_URL.")
    elif env.LOOPBACK:
        yield Check("mail", "ok", f"written to {Path(settings.DATA_DIR) / 'mail'}")
    else:
        remedy = "Set EMAIL_URL (smtp://user:password@host:587): nobody can confirm an address or reset a password."
        yield Check("mail", "failed", f"only written to {Path(settings.DATA_DIR) / 'mail'}", remedy)


def _web_push() -> Iterator[Check]:
    try:
        fingerprints.check_pair(settings.SECRETS)
    except OperatorError as error:
        fault, _stop, remedy = str(error).partition(". ")
        yield Check("web push", "failed", fault, remedy)
        return
    contact = find_site_text("site_contact_email")
    if contact is not None:
        yield Check("web push", "ok", f"push services are given the address {contact[0]}")
    elif env.LOOPBACK:
        yield Check("web push", "ok", f"push services are given the address {settings.BASE_URL}")
    else:
        remedy = "Enter the e-mail address of a contact in the administration: some push services ask for one."
        yield Check("web push", "warning", f"push services are given no more than {settings.BASE_URL}", remedy)


_CHECKS: tuple[Callable[[], Iterator[Check]], ...] = (
    _secrets,
    _storage,
    _disk,
    _decoding,
    _open_files,
    _database,
    _migrations,
    _domain,
    _fingerprints,
    _clock,
    _redis,
    _processes,
    _outbox,
    _proxies,
    _federation,
    _mail,
    _web_push,
)
_ASK_THE_DATABASE = (_migrations, _domain, _fingerprints, _clock, _outbox, _web_push)
