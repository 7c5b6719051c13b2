"""The options of `manage.py` that must be in the environment before the settings are read."""

from __future__ import annotations

import os
from argparse import ArgumentParser

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
#: The commands that take all of them; every command takes --data-dir.
WITH_OPTIONS = ("run", "setup", "doctor")


def add_options(parser: ArgumentParser) -> None:
    """Declare them, for `--help`: `take_options` has moved them into the environment by the time a command runs."""
    for option, (variable, text) in OPTIONS.items():
        parser.add_argument(option, metavar=variable, help=f"{text} Environment: {variable}.")
    parser.add_argument(DATA_DIR[0], metavar=DATA_DIR[1], help=f"{DATA_DIR[2]} Environment: {DATA_DIR[1]}.")


def take_options(arguments: list[str]) -> list[str]:
    """Move the options into the environment and return the other arguments; an option without a value stays."""
    taken = {DATA_DIR[0]: DATA_DIR[1]}
    if arguments and arguments[0] in WITH_OPTIONS:
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
