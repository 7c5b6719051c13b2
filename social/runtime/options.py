"""Options of `manage.py`, which are moved into the environment before the settings are read, and the options of the last
start.

`DATA_DIR/run/last.json` holds the domains and ports of the last `run` or `setup`, so that other commands find the same
installation without repeating the options; the environment takes precedence. Without it, `manage.py create_account` in a second
terminal would give the account ids with another port, which could never be changed.
"""

import contextlib
import json
import os
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Final

#: The options of the commands below: option -> (variable, meaning). All other settings are read from the environment.
OPTIONS: Final = {
    "--port": ("PORT", "Port of the web server (default 8000)."),
    "--streaming-port": ("STREAMING_PORT", "Port of the streaming server (default 4000)."),
    "--domain": ("LOCAL_DOMAIN", "Domain in the addresses of this installation, for ever (default localhost:PORT)."),
}
COMMANDS_WITH_OPTIONS: Final = ("run", "setup", "doctor")


def add_options(parser: ArgumentParser) -> None:
    """Declare the options. When a command runs, `take_options` has already moved them into the environment."""
    for option, (variable, text) in OPTIONS.items():
        parser.add_argument(option, metavar=variable, dest=variable, help=f"{text} Environment: {variable}.")


def take_options(arguments: list[str]) -> list[str]:
    """Move the options into the environment and return the other arguments."""
    if not arguments or arguments[0] not in COMMANDS_WITH_OPTIONS:
        return arguments
    parser = ArgumentParser(prog=f"manage.py {arguments[0]}", add_help=False, allow_abbrev=False)
    add_options(parser)
    taken, rest = parser.parse_known_args(arguments)
    os.environ.update({variable: value for variable, value in vars(taken).items() if value is not None})
    return rest


#: The variables on which ids in the database and the doctor's checks depend.
NAMES: Final = (
    "LOCAL_DOMAIN", "WEB_DOMAIN", "PORT", "STREAMING_PORT", "STREAMING_API_BASE_URL", "BIND", "FEDERATION_LOOPBACK",
)  # fmt: skip


def store_start(data_dir: Path, local_domain: str) -> None:
    """Store the domains and ports in use. Errors such as a full disk are ignored, since other checks report them."""
    values = {name: os.environ[name] for name in NAMES if os.environ.get(name)} | {"LOCAL_DOMAIN": local_domain}
    temporary = data_dir / "run" / f"last.{os.getpid()}"
    with contextlib.suppress(OSError):
        temporary.write_text(json.dumps(values))
        temporary.replace(data_dir / "run" / "last.json")


def load_start(data_dir: Path, names: Sequence[str] = NAMES) -> None:
    """Put the stored values into the environment, unless it has values for them. Call this before the settings are read."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        values = json.loads((data_dir / "run" / "last.json").read_text())
        for name in names:
            if isinstance(values.get(name), str) and not os.environ.get(name):
                os.environ[name] = values[name]


def load_domain(data_dir: Path) -> None:
    """Put the domain of the first start into the environment of `run`, unless a domain is given. The domain stays the same if
    the server now listens on another port: with a loopback domain, the pages and the API move to the new port (WEB_DOMAIN),
    and accounts' addresses keep the old one.
    """
    if os.environ.get("LOCAL_DOMAIN"):
        return
    load_start(data_dir, ["LOCAL_DOMAIN"])
    host, colon, _port = os.environ.get("LOCAL_DOMAIN", "").rpartition(":")
    here = host in ("localhost", "[::1]") or host.endswith(".localhost") or host.startswith("127.")
    if colon and here:
        os.environ.setdefault("WEB_DOMAIN", f"{host}:{os.environ.get('PORT') or 8000}")
