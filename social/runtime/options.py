"""Options of `manage.py`, which are moved into the environment before the settings are read, and the options of the
last start.

`DATA_DIR/run/last.json` holds the domains and ports of the last `run` or `setup`, so that other commands find the same
installation without repeating the options; the environment takes precedence. Without it, `manage.py create_account` in a
second terminal would give the account ids with another port, for ever.
"""

from __future__ import annotations

import contextlib
import json
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Final

#: option -> (variable, what it means)
OPTIONS = {
    "--port": ("PORT", "Port of the web server (default 8000)."),
    "--streaming-port": ("STREAMING_PORT", "Port of the streaming server (default 4000)."),
    "--domain": (
        "LOCAL_DOMAIN",
        "The domain in the addresses of this installation, for ever (default localhost:PORT).",
    ),
    "--workers": ("WEB_WORKERS", "Web processes (default 2)."),
    "--bind": ("BIND", "Address to listen on (default 127.0.0.1)."),
}
DATA_DIR = ("--data-dir", "DATA_DIR", "Where everything is kept (default var).")
#: The commands that take all these options; every command takes --data-dir.
COMMANDS_WITH_OPTIONS = ("run", "setup", "doctor")


def add_options(parser: ArgumentParser) -> None:
    """Declare the options for `--help`. When a command runs, `take_options` has already moved them into the environment."""
    for option, (variable, text) in OPTIONS.items():
        parser.add_argument(option, metavar=variable, help=f"{text} Environment: {variable}.")
    parser.add_argument(DATA_DIR[0], metavar=DATA_DIR[1], help=f"{DATA_DIR[2]} Environment: {DATA_DIR[1]}.")


def take_options(arguments: list[str]) -> list[str]:
    """Move the options into the environment and return the other arguments; an option without a value is not moved."""
    taken = {DATA_DIR[0]: DATA_DIR[1]}
    if arguments and arguments[0] in COMMANDS_WITH_OPTIONS:
        taken |= {option: variable for option, (variable, _) in OPTIONS.items()}
    rest: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        option, equals, value = argument.partition("=")
        if option not in taken:
            rest.append(argument)
            if argument == "--":
                rest += list(waiting)
            continue
        if not equals:
            value = next(waiting, "")
        if value:
            os.environ[taken[option]] = value
        else:
            rest.append(option)
    return rest


#: The variables on which ids in the database and the doctor's checks depend.
NAMES: Final = (
    "LOCAL_DOMAIN",
    "WEB_DOMAIN",
    "PORT",
    "STREAMING_PORT",
    "STREAMING_API_BASE_URL",
    "BIND",
    "FEDERATION_LOOPBACK",
)


def _file(data_dir: Path) -> Path:
    return data_dir / "run" / "last.json"


def remember(data_dir: Path, local_domain: str) -> None:
    """Store the domains and ports in use. Errors such as a full disk are ignored, since other checks report them."""
    values = {name: os.environ[name] for name in NAMES if os.environ.get(name)} | {"LOCAL_DOMAIN": local_domain}
    temporary = _file(data_dir).with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        temporary.write_text(json.dumps(values))
        temporary.replace(_file(data_dir))


def _noted(data_dir: Path) -> dict[str, object]:
    try:
        values = json.loads(_file(data_dir).read_text())
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def recall_domain(data_dir: Path) -> None:
    """Use, for `run`, the domain of the first start unless a domain is given, even if the server now listens on another
    port.

    With a loopback domain, the pages and the API move to the new port (WEB_DOMAIN); accounts' addresses keep the old one.
    """
    stored = _noted(data_dir).get("LOCAL_DOMAIN")
    if not isinstance(stored, str) or os.environ.get("LOCAL_DOMAIN"):
        return
    os.environ["LOCAL_DOMAIN"] = stored
    host, colon, _port = stored.rpartition(":")
    here = host in ("localhost", "[::1]") or host.endswith(".localhost") or host.startswith("127.")
    if colon and here:
        os.environ.setdefault("WEB_DOMAIN", f"{host}:{os.environ.get('PORT') or 8000}")


def recall(data_dir: Path) -> None:
    """Put the stored values into the environment, unless it has values for them. Call this before the settings are read."""
    values = _noted(data_dir)
    for name in NAMES:
        value = values.get(name)
        if isinstance(value, str) and not os.environ.get(name):
            os.environ[name] = value
