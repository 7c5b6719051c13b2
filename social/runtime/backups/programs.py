"""PostgreSQL's client programs: from PATH for a server that the operator runs, else from the embedded PostgreSQL."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from psycopg.conninfo import make_conninfo

from social.runtime import database
from social.runtime.embedded import Embedded
from social.runtime.failures import OperatorError
from social.runtime.postgres import package_folder
from social.settings import env


@dataclass(frozen=True)
class Program:
    """Command line and environment of a client program. The environment holds the password, hidden from other users."""

    command: tuple[str, ...]
    environment: dict[str, str]


def program(name: str, url: str, *, oldest: int) -> Program:
    """A client program (`pg_dump`, `psql`) for the database at `url`, of at least the major version `oldest`.

    Raises OperatorError if no such program is found.
    """
    found = next((path for path in _candidates(name, url) if _major(path) >= oldest), None)
    if found is None:
        raise OperatorError(
            f"PostgreSQL is version {oldest}, and no {name} of that version was found. Install its client programs."
        )
    config = env.database(url)
    options = {key: value for key, value in config.get("OPTIONS", {}).items() if key not in database.DJANGO_OPTIONS}
    info = make_conninfo(
        dbname=config["NAME"] or None,
        user=config["USER"] or None,
        host=config["HOST"] or None,
        port=config["PORT"] or None,
        **options,
    )
    password = {"PGPASSWORD": config["PASSWORD"]} if config["PASSWORD"] else {}
    return Program((found, f"--dbname={info}"), {**os.environ, **password})


def _candidates(name: str, url: str) -> list[str]:
    # Client programs run as our own user, so the wheel's folder is sufficient: no other user needs access to it.
    brought = str(package_folder() / "pginstall18" / "bin" / name)
    installed = shutil.which(name)
    if installed is None:
        return [brought]
    return [brought, installed] if url == Embedded(env.DATA_DIR).database_url else [installed, brought]


def _major(path: str) -> int:
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r"\) (\d+)", said)
    return int(found[1]) if found else 0
