"""Runs management commands: prepares servers and settings for them, and reports failures in one line."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from social import __version__
from social.runtime.datadir import open_data_dir, running_supervisor, sole_supervisor
from social.runtime.failures import OperatorError
from social.runtime.options import add_options, load_domain, load_start, take_options
from social.runtime.postgres import Postgres
from social.runtime.secrets_file import NAMES, generate_secrets, has_secrets, use_temporary_secrets
from social.runtime.unfinished import find_mark, refuse_unfinished

if TYPE_CHECKING:
    import psycopg

#: Commands that only read and write files and need no servers.
SERVERLESS_COMMANDS = {
    "help", "version", "--help", "-h", "--version", "makemessages", "compilemessages", "makemigrations", "startapp",
    "startproject", "diffsettings", "collectstatic", "findstatic", "check", "test",
}  # fmt: skip
#: Commands that create an installation. All other commands need an existing installation and never create one.
STARTING_COMMANDS = frozenset(["run", "setup", "migrate"])
#: Commands that may run before the first start has stored the domain. Other commands could create ids with a wrong domain.
COMMANDS_WITHOUT_DOMAIN = frozenset(
    ["setup", "restore", "doctor", "migrate", "showmigrations", "sqlmigrate", "sqlflush", "dbshell"]
)
#: Seconds that `setup` waits for a database that starts at the same time.
DATABASE_SECONDS = 60.0
#: Seconds that a command waits for a first start that is under way.
FIRST_START_SECONDS = 120.0
ROOT = Path(__file__).resolve().parent.parent.parent


def main(argv: list[str]) -> int:
    """Run one command and return the exit code. Errors that an operator can correct are printed in one line, or with
    `--traceback` in full. Options that the settings read (`--port` and the like for `run`, `setup` and `doctor`) are moved
    into the environment first.
    """
    arguments = take_options(argv[1:])
    command = arguments[0] if arguments else "help"
    try:
        return _dispatch(command, arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of the output is gone. The output is redirected, so that Python does not fail when it flushes the output
        # at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except Exception as error:
        message = None if "--traceback" in arguments else _explain(error)
        if message is None:
            raise
    print(f"manage.py {command}: {' '.join(message.split())}", file=sys.stderr)
    return 1


def _dispatch(command: str, arguments: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.base")
    if command != "run":
        os.environ.setdefault("LOG_FORMAT", "console")  # commands log for people; server processes log JSON
    data_dir = Path(os.environ.get("DATA_DIR") or ROOT / "var").resolve()
    if command in SERVERLESS_COMMANDS or not {"-h", "--help"}.isdisjoint(arguments):
        return _run_without_servers(arguments, data_dir)
    _prepare(command, arguments, data_dir)
    if command == "run":
        return _run(arguments)
    with contextlib.ExitStack() as stack:
        # A dry run of a restore changes nothing, so it may run while the server runs.
        if command == "upgrade_database" or (command == "restore" and "--dry-run" not in arguments):
            stack.enter_context(sole_supervisor(data_dir))
        if command != "upgrade_database":  # which starts the old and then the new version of PostgreSQL itself
            stack.enter_context(_servers(command, data_dir))
        return _django(arguments)


def _run_without_servers(arguments: list[str], data_dir: Path) -> int:
    if arguments in (["version"], ["--version"]):
        print(__version__)  # Django's command would print Django's version
        return 0
    if not has_secrets(data_dir):
        use_temporary_secrets()
    if arguments in ([], ["help"], ["-h"], ["--help"]):
        return _list_commands()
    # `makemigrations` also reads the applied migrations; without servers it prints a long warning about that.
    warnings.filterwarnings("ignore", message="Got an error checking a consistent migration history")
    return _django(arguments)


def _prepare(command: str, arguments: list[str], data_dir: Path) -> None:
    """Complete the environment, and check the data directory or create it. Raises OperatorError."""
    if command not in ("restore", "upgrade_database"):
        refuse_unfinished(data_dir)
    if command == "run":
        load_domain(data_dir)
    elif command != "setup":
        load_start(data_dir)
    if command in STARTING_COMMANDS:
        import social.settings.env  # noqa: F401  (wrong settings raise an error before anything is created)

        open_data_dir(data_dir)
        if not has_secrets(data_dir):
            if "--new-secrets" not in arguments:
                _refuse_lost_secrets(command, data_dir)
            generate_secrets(data_dir)
    elif command == "restore":
        # It needs no installation, and runs with temporary secrets, not with the secrets of the restored server.
        open_data_dir(data_dir)
        use_temporary_secrets()
    else:
        _require_installation(data_dir, or_unfinished=command == "upgrade_database")
        if command == "upgrade_database" and not has_secrets(data_dir):
            use_temporary_secrets()


def _refuse_lost_secrets(command: str, data_dir: Path) -> None:
    """Raise OperatorError if the database of an installation exists: its data needs the secrets with which it was written.

    A `restore` that only checked a backup, or that was killed before it changed anything, has left an empty database.
    """
    from social.runtime.embedded import Embedded, borrowed_servers
    from social.runtime.fingerprints import refuse_new_secrets, stored_fingerprints

    with contextlib.ExitStack() as stack:
        url = os.environ.get("DATABASE_URL")
        if not url:
            if not Postgres(data_dir).cluster.exists():
                return
            servers = stack.enter_context(borrowed_servers(Embedded(data_dir, valkey_wanted=False)))
            url = servers.environment()["DATABASE_URL"]
        with _connected(command, url) as connection, connection.cursor() as cursor:
            if stored_fingerprints(cursor):
                raise refuse_new_secrets(data_dir)


def _require_installation(data_dir: Path, *, or_unfinished: bool) -> None:
    """Raise OperatorError if there is no installation, so that a command never creates one by mistake."""
    elsewhere = bool(os.environ.get("DATABASE_URL"))
    place = data_dir if elsewhere else Postgres(data_dir).cluster
    deadline = time.monotonic() + FIRST_START_SECONDS
    while not place.is_dir() and running_supervisor(data_dir) is not None and time.monotonic() < deadline:
        time.sleep(0.1)  # a first start is under way
    begun = place.is_dir() or (or_unfinished and find_mark(data_dir) is not None)
    if not begun and not (elsewhere and all(os.environ.get(name) for name in NAMES)):
        from social.settings.env import manage_command

        raise OperatorError(
            f"Nothing is set up in {data_dir}. Is DATA_DIR the one your server runs with? "
            f"A new one is set up by {manage_command('run')}"
        )
    if data_dir.is_dir():
        open_data_dir(data_dir)


def _list_commands() -> int:
    """Print this server's commands with one sentence each, and the names of the commands of Django and of libraries."""
    import textwrap

    import django
    from django.apps import apps
    from django.core.management import get_commands, load_command_class

    from social.settings import env

    django.setup()
    found = get_commands()
    del found["createsuperuser"]  # it only prints the name of our command that replaces it
    ours = {app for app, config in apps.app_configs.items() if Path(config.path).parent == ROOT}
    own = {name: app for name, app in found.items() if app in ours}
    first = [name for name in ("run", "setup", "doctor") if name in own]
    print(f"{env.manage_command('COMMAND')}   ({env.manage_command('help COMMAND')} says more)\n")
    width = max(map(len, own)) + 2
    for name in [*first, *sorted(set(own) - set(first))]:
        sentence = str(load_command_class(own[name], name).help)
        print(textwrap.fill(sentence, 110, initial_indent=f"  {name:<{width}}", subsequent_indent=" " * (width + 2)))
    print("\nOf Django and its libraries, for developers:\n")
    print(textwrap.fill(", ".join(sorted(set(found) - set(own))), 110, initial_indent="  ", subsequent_indent="  "))
    return 0


def _run(arguments: list[str]) -> int:
    """Run `run` without loading Django: `run` only starts other processes, and should start quickly and use little memory."""
    parser = ArgumentParser(prog="manage.py run")
    add_options(parser)
    parser.add_argument("--traceback", action="store_true")
    parser.parse_args(arguments[1:])
    from social.runtime.launch import run

    return run()


@contextlib.contextmanager
def _servers(command: str, data_dir: Path) -> Iterator[None]:
    """Provide the database and Redis for one command: the configured servers, or otherwise the embedded ones.

    The doctor runs even if the servers fail, since it reports the failures.
    """
    from social.runtime import database
    from social.runtime.embedded import Embedded, borrowed_servers
    from social.runtime.fingerprints import check_secrets
    from social.settings import env
    from social.settings.secrets import load_secrets

    with contextlib.ExitStack() as stack:
        postgres, valkey = not os.environ.get("DATABASE_URL"), not all(env.REDIS_URLS.values())
        if postgres or valkey:
            servers = Embedded(env.DATA_DIR, postgres_wanted=postgres, valkey_wanted=valkey)
            addresses = stack.enter_context(borrowed_servers(servers, also_silent=command == "doctor")).environment()
            for name in addresses:
                os.environ[name] = os.environ.get(name) or addresses[name]
        checked = command not in ("doctor", "setup", "restore")
        secrets = load_secrets(env.DATA_DIR) if checked else None
        if command != "restore":
            with contextlib.suppress(*([OperatorError] if command == "doctor" else [])):
                _load_domains(command, data_dir)
        importlib.reload(env)  # the module has read the environment before the servers' URLs were in it
        if secrets is not None:
            with database.connect(os.environ["DATABASE_URL"]) as connection, connection.cursor() as cursor:
                database.check_domain(cursor, env.LOCAL_DOMAIN)
                database.check_web_domain(cursor, env.WEB_DOMAIN)
                check_secrets(cursor, secrets, env.DATA_DIR)
        yield


def _load_domains(command: str, data_dir: Path) -> None:
    """Put the stored domains into the environment, unless it has domains. Waits for a first start that is under way; raises
    OperatorError if that does not end.
    """
    from social.runtime import database

    deadline = time.monotonic() + FIRST_START_SECONDS
    with _connected(command) as connection, connection.cursor() as cursor:
        while not (stored := database.stored_installation(cursor)) and command not in COMMANDS_WITHOUT_DOMAIN:
            if running_supervisor(data_dir) is None or time.monotonic() > deadline:
                from social.settings.env import manage_command

                raise OperatorError(
                    f"The first start of this server is not complete, so its domain is not known yet. "
                    f"Wait until it is complete, or start it: {manage_command('run')}"
                )
            time.sleep(0.1)
    if command != "setup":
        load_start(data_dir)
    for name in ("LOCAL_DOMAIN", "WEB_DOMAIN"):
        found = stored.get(name.lower())
        if found and not os.environ.get(name):
            os.environ[name] = found


def _connected(command: str, url: str = "") -> psycopg.Connection[Any]:
    """Return a connection to the database at `url`, by default the configured one. `setup`, often the first command after a
    boot, waits for a database that is starting. Raises OperatorError if there is no connection.
    """
    from social.runtime import database

    deadline = time.monotonic() + (DATABASE_SECONDS if command == "setup" else 0)
    said = False
    while True:
        try:
            return database.connect(url or os.environ["DATABASE_URL"])
        except OperatorError as error:
            if time.monotonic() > deadline:
                raise
            if not said:
                print(f"{error} Waiting for it, {DATABASE_SECONDS:.0f} s at most.", file=sys.stderr, flush=True)
            said = True
        time.sleep(0.5)


def _django(arguments: list[str]) -> int:
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import connections

    with contextlib.suppress(ImproperlyConfigured):  # reported by the command, if it needs the settings
        # A command uses one connection, for which it waits without the pool's time-out.
        settings.DATABASES["default"]["OPTIONS"].pop("pool", None)
    try:
        execute_from_command_line(["manage.py", *arguments])
    finally:
        # Close the connections now, because the embedded servers may be stopped next. Errors are ignored here: the command has
        # already reported errors of the database.
        with contextlib.suppress(Exception):
            connections.close_all()
    return 0


def _explain(error: Exception) -> str | None:
    """Describe a failure of settings, servers or files in one line; None for a bug, whose traceback is shown."""
    if isinstance(error, OperatorError):
        return str(error)
    from django.core.exceptions import ImproperlyConfigured
    from django.db import OperationalError, ProgrammingError

    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    if isinstance(error, ImproperlyConfigured):
        return f"The settings are wrong: {first}"
    if isinstance(error, OperationalError):
        return f"The database failed: {first}. Check DATABASE_URL, that the server runs, and its free space."
    if isinstance(error, ProgrammingError) and getattr(error.__cause__, "sqlstate", "") in ("42P01", "42703"):
        from social.settings.env import manage_command

        return f"The database lacks something this release needs: {first}. Run {manage_command('setup')}"
    if type(error).__module__.startswith("redis."):
        return f"Redis failed: {first}. Check REDIS_URL and that the server runs."
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}. Check owner, mode and free space."
    return None
