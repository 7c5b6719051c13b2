"""Checks of an installation for operators' mistakes, each with its remedy."""

import os
import smtplib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core import checks
from django.core.mail import get_connection
from django.db import Error, connection

from accounts.identity.queries.sign_up import load_refused_networks
from accounts.identity.services.captcha import is_solved
from accounts.issuers.services import check_roles, find_configuration
from accounts.models import Account
from accounts.policies.networks import warning_about_network
from accounts.queries.site_settings import find_site_text
from moderation.blocklists.queries import list_failing
from moderation.models import DomainAllow
from social.kernel import heartbeats, outbox, redis, translation
from social.kernel.errors import Unavailable
from social.kernel.identity import is_federation_limited
from social.kernel.outbox import OutboxRow
from social.runtime import database, fingerprints, health, launch, machine_checks, tables
from social.runtime.datadir import running_supervisor
from social.runtime.failures import OperatorError
from social.runtime.machine_checks import RUN_SETUP, Check, first_line
from social.settings import env
from social.settings.issuers import Issuer

#: Difference from the database's clock, in seconds, above which the signatures of other servers begin to be refused.
CLOCK_SKEW_LIMIT = 5.0
#: Seconds without a heartbeat after which a process is reported: two heartbeats were missed, and the third is late.
SILENCE_LIMIT = 2.5 * heartbeats.INTERVAL
#: Seconds that a due row of the outbox may wait; the sweep takes it after 10 s.
WAITING_LIMIT = 60.0
#: Seconds that a mail server may take to answer.
_MAIL_SECONDS = 5
_OUTBOX = env.manage_command("show_outbox")


def examine() -> Iterator[Check]:
    """Run all checks, ordered so that a failure explains those that follow it."""
    answers = True
    for check in _CHECKS:
        if check in _ASK_THE_DATABASE and not answers:
            # Other checks of the database are skipped: each would wait for the time-out of the connection pool.
            yield Check(_title(check), "failed", "the database does not answer", "Repair the database first.")
            continue
        try:
            for found in check():
                answers = answers and (found.name, found.state) != ("database", "failed")
                yield found
        except Error as error:
            yield Check(_title(check), "failed", first_line(error), "Repair the database first.")
        except redis.RedisError as error:
            yield Check(_title(check), "failed", first_line(error), "Repair Redis first.")


def _title(check: Callable[[], Iterator[Check]]) -> str:
    return check.__name__.lstrip("_").replace("_", " ")


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
        yield Check("migrations", "failed", f"{len(pending)} are missing, first {pending[0]}", RUN_SETUP)
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
        yield Check("domain", "failed", "none is stored yet", RUN_SETUP)
    elif stored != settings.LOCAL_DOMAIN:
        detail = f"stored {stored}, configured {settings.LOCAL_DOMAIN}"
        yield Check("domain", "failed", detail, f"Set LOCAL_DOMAIN={stored}: the domain is for ever.")
    else:
        yield Check("domain", "ok", f"{stored}, web pages at {settings.BASE_URL}")


def _ids() -> Iterator[Check]:
    """Check that the ids of local accounts begin with BASE_URL.

    Other ids were made by a command with other settings, or before the pages moved to this domain.
    """
    strays = Account.objects.filter(domain=None).exclude(uri__startswith=f"{settings.BASE_URL}/").order_by("id")
    if not (number := strays.count()):
        yield Check("ids", "ok", f"those of all accounts here begin with {settings.BASE_URL}/")
        return
    some = ", ".join(account.uri for account in strays[:3])
    yield Check(
        "ids",
        "warning" if env.LOOPBACK else "failed",
        f"{number} accounts here have ids outside of {settings.BASE_URL}/, first {some}",
        f"Other servers cannot ask for these. If the pages were there before, keep that address leading here; else let their "
        f"people move to new accounts, and remove these: {env.manage_command('delete_account NAME')}",
    )


def _fingerprints() -> Iterator[Check]:
    with connection.cursor() as cursor:
        try:
            if fingerprints.check_secrets(cursor, settings.SECRETS, env.DATA_DIR):
                yield Check("fingerprints", "ok", "the secrets are those this installation began with")
            else:
                yield Check("fingerprints", "failed", "the database does not know all of the secrets yet", RUN_SETUP)
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


def _start(name: str) -> str:
    """Return the remedy for a process without heartbeats: how to start it, unless a running supervisor will start it."""
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


def _blocks() -> Iterator[Check]:
    """Check blocked networks: blocking a network with very many addresses is probably a mistake (security row 79)."""
    networks = load_refused_networks()
    if wide := [network for network in networks if warning_about_network(network)]:
        remedy = f"If that is not meant: {env.manage_command(f'block_sign_ups network {wide[0]} --remove')}"
        yield Check("blocks", "failed", f"nobody in {', '.join(wide[:5])} gets any answer but from /health", remedy)
    else:
        yield Check("blocks", "ok", f"{len(networks)} networks get no answer")


def _loopback_federation() -> Iterator[Check]:
    if settings.FEDERATION_LOOPBACK:
        yield Check(
            "federation",
            "warning",
            "FEDERATION_LOOPBACK=yes: http, other ports and loopback addresses are allowed",
            "For trials between local instances only; unset it otherwise.",
        )


def _federation() -> Iterator[Check]:
    if settings.FEDERATION_LOOPBACK:
        yield from _loopback_federation()
    elif is_federation_limited() and not DomainAllow.objects.exists():
        remedy = "Allow servers in the admin, or unset it."
        yield Check("federation", "warning", "LIMITED_FEDERATION=yes, and no server is allowed", remedy)
    elif env.LOOPBACK:
        yield Check(
            "federation", "ok", f"{settings.LOCAL_DOMAIN} cannot be reached by other servers: a local installation"
        )
    else:
        yield Check("federation", "ok", "public addresses only, over https")


def _blocklists() -> Iterator[Check]:
    failing = list(list_failing())
    if failing:
        names = ", ".join(
            f"{one.name} (since {one.failing_since:%Y-%m-%d}: {one.last_error[:100]})" for one in failing[:5]
        )
        remedy = "Look at their addresses in the administration, or switch them off; what is in force from them stays."
        yield Check("blocklists", "warning", f"{len(failing)} cannot be fetched: {names}", remedy)


def _missing_mail() -> Iterator[Check]:
    if not env.EMAIL_URL and not env.LOOPBACK:
        remedy = "Set EMAIL_URL (smtp://user:password@host:587): nobody can confirm an address or reset a password."
        yield Check("mail", "failed", f"only written to {Path(settings.DATA_DIR) / 'mail'}", remedy)


def _mail() -> Iterator[Check]:
    if env.EMAIL_URL:
        server = env.without_password(env.EMAIL_URL)
        try:
            # Opening the connection also signs in if EMAIL_URL has a name and a password.
            with get_connection(timeout=_MAIL_SECONDS):
                yield Check("mail", "ok", f"{settings.DEFAULT_FROM_EMAIL} by {server}")
        except (OSError, smtplib.SMTPException, ValueError) as error:
            yield Check("mail", "failed", f"{server} does not take mail: {first_line(error)}", "Check EMAIL_URL.")
    elif env.LOOPBACK:
        yield Check("mail", "ok", f"written to {Path(settings.DATA_DIR) / 'mail'}")
    else:
        yield from _missing_mail()


def _ask_service(name: str, ask: Callable[[], str], remedy: str) -> Check:
    """Return the check of a service: what `ask` returns, or the message of Unavailable, which the log explains."""
    try:
        return Check(name, "ok", ask())
    except Unavailable as error:
        return Check(name, "failed", error.message, f"{remedy} The log says more.")


def _translation() -> Iterator[Check]:
    if translation.is_on():
        remedy = (
            "Check TRANSLATION_SERVICE: address, key, and TRANSLATION_SERVICE_LOOPBACK=yes for one on this machine."
        )
        yield _ask_service("translation", lambda: f"from {len(translation.load_languages()) - 1} languages", remedy)


def _captcha() -> Iterator[Check]:
    def ask() -> str:
        is_solved("")
        return "the service knows this server"

    if settings.CAPTCHA is not None:
        yield _ask_service("captcha", ask, "Check CAPTCHA_SERVICE: keys and address.")


def _issuers() -> Iterator[Check]:
    def ask(issuer: Issuer) -> str:
        find_configuration(issuer)
        return f"{issuer.issuer} answers"

    for issuer in settings.ISSUERS:
        remedy = f"See that {issuer.discovery_url} answers, with the issuer {issuer.issuer} in it."
        yield _ask_service(f"sign-in {issuer.id}", partial(ask, issuer), remedy)


def _issuer_roles() -> Iterator[Check]:
    for issuer in settings.ISSUERS:
        for refusal in check_roles(issuer):
            remedy = f"Correct the roles of {issuer.id} in the file that SIGN_IN_ISSUERS names."
            yield Check(f"sign-in {issuer.id}", "warning", refusal, remedy)


def _push_keys() -> Iterator[Check]:
    try:
        fingerprints.check_pair(settings.SECRETS)
    except OperatorError as error:
        fault, _stop, remedy = str(error).partition(". ")
        yield Check("web push", "failed", fault, remedy)


def _web_push() -> Iterator[Check]:
    if faults := list(_push_keys()):
        yield from faults
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
    machine_checks.secrets, machine_checks.storage, machine_checks.disk, machine_checks.decoding,
    machine_checks.web_client, machine_checks.open_files, _database, _migrations, _domain, _ids, _fingerprints,
    _clock, _redis, _processes, _outbox, _proxies, _blocks, _federation, _blocklists, _mail, _translation, _captcha,
    _issuers, _issuer_roles, _web_push,
)  # fmt: skip
_ASK_THE_DATABASE = (
    _migrations, _domain, _ids, _fingerprints, _clock, _outbox, _blocks, _blocklists, _issuer_roles, _web_push,
)  # fmt: skip
_CHECKS_OF_SETTINGS = (
    machine_checks.secrets, machine_checks.web_client, _proxies, _loopback_federation, _missing_mail, _push_keys,
)  # fmt: skip


def system_checks() -> list[checks.CheckMessage]:
    """Return the failed checks of settings, as warnings of `manage.py check`, which stop no command."""
    found = (result for check in _CHECKS_OF_SETTINGS for result in check() if result.state != "ok")
    return [
        checks.Warning(result.detail, hint=result.remedy, id=f"social.{result.name.replace(' ', '_')}")
        for result in found
    ]
