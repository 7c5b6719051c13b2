"""Start of an installation: the order in which its processes start, and the lines that are printed for the operator."""

import errno
import http.client
import os
import shutil
import signal
import socket
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from social.runtime import database
from social.runtime.console import Console
from social.runtime.datadir import ROOM_FOR_A_START, check_room, sole_supervisor
from social.runtime.embedded import Embedded, owned_servers
from social.runtime.failures import Interrupted, OperatorError
from social.runtime.fingerprints import check_secrets
from social.runtime.observing import check_observing
from social.runtime.options import store_start
from social.runtime.processes import SUPERVISED, ProcessSpec, describe_exit
from social.runtime.supervisor import Supervisor
from social.settings import env
from social.settings.secrets import load_secrets

#: Seconds without a heartbeat after which a process counts as hung. A worker sends none before its broker answers.
SILENCE_LIMITS = {"web": 30.0, "streaming": 45.0, "worker": 180.0, "scheduler": 180.0}
#: The port and path of each server's liveness check.
HEALTH = {"web": (env.PORT, "/health"), "streaming": (env.STREAMING_PORT, "/api/v1/streaming/health")}


def run() -> int:
    """Start everything, keep it running until a signal to stop, and return the exit code.

    The caller has checked the settings, the secrets and the data directory. If a process cannot start, stops all others and
    raises OperatorError.
    """
    began = time.monotonic()
    console = Console(as_json=os.environ.get("LOG_FORMAT") == "json")
    os.environ.setdefault("LOG_FORMAT", "console")
    with ExitStack() as stack:
        stack.enter_context(sole_supervisor(env.DATA_DIR))
        check_room(env.DATA_DIR, ROOM_FOR_A_START)
        check_ports()
        check_observing()
        load_secrets(env.DATA_DIR)
        if url := os.environ.get("DATABASE_URL"):
            env.database(url)
        servers = _embedded_servers(stack)
        _prepare_environment()
        supervisor = stack.enter_context(Supervisor(console).listening())
        try:
            _start(supervisor, servers)
            _print_ready(console, time.monotonic() - began)
            supervisor.run()
        except Interrupted:
            pass
        console.say("Stopping.")
    return 0


def _embedded_servers(stack: ExitStack) -> Embedded:
    """Return the embedded servers that are needed, locked for this process; also puts their URLs into the environment."""
    postgres, valkey = not os.environ.get("DATABASE_URL"), not all(env.REDIS_URLS.values())
    servers = Embedded(env.DATA_DIR, postgres_wanted=postgres, valkey_wanted=valkey)
    if postgres or valkey:
        stack.enter_context(owned_servers(env.DATA_DIR))
        servers.prepare()
    os.environ.update(servers.environment())
    return servers


def _prepare_environment() -> None:
    """Prepare the environment of the processes, and remove the metrics of processes that no longer run."""
    metrics = env.DATA_DIR / "run" / "metrics"
    shutil.rmtree(metrics, ignore_errors=True)
    metrics.mkdir(parents=True)
    os.environ |= {SUPERVISED: str(os.getpid()), "DATA_DIR": str(env.DATA_DIR), "PYTHONUNBUFFERED": "1"}
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(metrics)


def _start(supervisor: Supervisor, servers: Embedded) -> None:
    for spec in servers.specs():
        supervisor.start(spec)
    supervisor.wait_until_ready(list(supervisor.children), 60.0)
    if servers.postgres_wanted:
        servers.postgres.create_database()
    for role, url in env.REDIS_URLS.items():
        if url:
            database.check_redis(role, url)
    if not _is_set_up():
        supervisor.console.say("Preparing the database.")
        code = supervisor.wait_for_exit(_python("setup", str(env.ROOT / "manage.py"), "setup"))
        if code != 0:
            raise OperatorError(f"{env.manage_command('setup')} {describe_exit(code)}: see the lines above.")
    store_start(env.DATA_DIR, env.LOCAL_DOMAIN)
    with database.connect(os.environ["DATABASE_URL"]) as connection, connection.cursor() as cursor:
        database.store_web_domain(cursor, env.WEB_DOMAIN)
    # The web server starts first and has the whole machine until it answers, since people wait for it.
    for name in ("web", "streaming"):
        supervisor.start(_python(name, "-m", "social.runtime.serve", name))
    supervisor.wait_until_ready(["web"], 120.0, attempts=3)
    for name in ("worker", "scheduler"):
        supervisor.start(_python(name, "-m", "social.runtime.serve", name))
    supervisor.wait_until_ready(["streaming"], 60.0, attempts=3)


def _python(name: str, *arguments: str) -> ProcessSpec:
    return ProcessSpec(
        name=name,
        command=(sys.executable, *arguments),
        cwd=env.ROOT,
        reload_signal=signal.SIGHUP if name == "web" else signal.SIGTERM,
        ready=(lambda: answers(name)) if name in HEALTH else None,
        silence=SILENCE_LIMITS.get(name),
    )


def _is_set_up() -> bool:
    """Tell whether the schema is current and the domain and secrets are stored. Raises OperatorError if stored ones differ."""
    from django.conf import settings

    with database.connect(os.environ["DATABASE_URL"]) as connection, connection.cursor() as cursor:
        stored = database.check_domain(cursor, env.LOCAL_DOMAIN)
        kept = check_secrets(cursor, load_secrets(env.DATA_DIR), env.DATA_DIR)
        return stored and kept and database.is_schema_current(cursor, env.DATA_DIR, settings.INSTALLED_APPS)


def answers(name: str) -> bool:
    """Tell whether the liveness check of the web or streaming server succeeds within 2 s."""
    port, path = HEALTH[name]
    # A server that listens on every address also listens on the loopback address.
    address = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(env.BIND, env.BIND)  # noqa: S104  # these stand for every address, and nothing listens on them here
    connection = http.client.HTTPConnection(address, port, timeout=2)
    try:
        connection.request("GET", path, headers={"Host": env.WEB_DOMAIN})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def check_ports() -> None:
    """Raise OperatorError if this process cannot listen on one of the server's ports.

    A previous server of this installation that is just ending has 2 s to release its port.
    """
    if env.PORT == env.STREAMING_PORT:
        raise OperatorError(f"PORT and STREAMING_PORT are both {env.PORT}. Give one of them another number.")
    for option, port in (("--port", env.PORT), ("--streaming-port", env.STREAMING_PORT)):
        deadline = time.monotonic() + 2
        while True:
            try:
                _try_to_listen(port)
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise OperatorError(
                        f"Cannot listen on {env.BIND} port {port}: {error.strerror}. Set BIND, or use {option}."
                    ) from None
            if time.monotonic() > deadline:
                raise OperatorError(
                    f"Port {port} on {env.BIND} is taken. Stop what uses it, or use {option} with another."
                )
            time.sleep(0.1)


def _try_to_listen(port: int) -> None:
    family, kind, protocol, _, address = socket.getaddrinfo(env.BIND, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1)


def _print_ready(console: Console, seconds: float) -> None:
    here = Path.cwd()
    place = env.DATA_DIR.relative_to(here) if env.DATA_DIR.is_relative_to(here) else env.DATA_DIR
    mail = "" if env.EMAIL_URL else f", mail is written to {place}/mail"
    console.say("")
    console.say(f"Social is ready at {env.BASE_URL} (streaming: {env.STREAMING_URL}), after {seconds:.1f} s.")
    if env.LOOPBACK and env.WEB_DOMAIN != env.LOCAL_DOMAIN:
        console.say(
            f"  People's addresses stay as at the first start: @name@{env.LOCAL_DOMAIN}. Links given out before"
        )
        console.say("  lead to the port of that time.")
    has_owner, registrations = _find_people()
    if registrations == "closed":
        make = env.manage_command("create_account NAME --email ADDRESS")
        console.say(f"  Registrations are closed: make accounts with {make}")
    else:
        console.say(f"  Sign up at {env.BASE_URL}/auth/sign_up, or with any Mastodon client at {env.WEB_DOMAIN}.")
    if not has_owner:
        owner = env.manage_command("create_account NAME --email ADDRESS --role Owner --confirmed")
        console.say(f"  Make yourself its owner: {owner}")
    console.say(f"  Data is in {place}{mail}. Stop: Ctrl-C. Check everything: {env.manage_command('doctor')}")
    console.say("")


def _find_people() -> tuple[bool, str]:
    """Return whether an account may do everything (permission 1; contract, entities "Role"), and who may sign up."""
    with database.connect(os.environ["DATABASE_URL"]) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM accounts_user JOIN accounts_role ON accounts_role.id = accounts_user.role_id"
            " WHERE accounts_role.permissions & 1 = 1),"
            " (SELECT value #>> '{}' FROM accounts_sitesetting WHERE key = 'site_registrations')"
        )
        has_owner, chosen = cursor.fetchone() or (False, None)
        fixed = "REGISTRATIONS" in env.FIXED_SITE_SETTINGS
        return bool(has_owner), env.REGISTRATIONS if fixed or not chosen else str(chosen)
