"""The options of the last start, so that other commands find the same installation without repeating them.

`DATA_DIR/run/last.json` holds the addresses of the last `run` or `setup`; the environment wins over it. Without it
`manage.py create_account` in a second terminal would give the account the addresses of another port, for ever.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Final

#: What the addresses in the database and the checks of the doctor depend on.
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
    """Note the addresses in use. A full disk is reported by others and ignored here."""
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
    """For `run`: the domain of the first start stays when none is given, also when the server listens elsewhere now.

    On this machine the pages and the API go along to the other port (WEB_DOMAIN); people's addresses keep the old one.
    """
    stored = _noted(data_dir).get("LOCAL_DOMAIN")
    if not isinstance(stored, str) or os.environ.get("LOCAL_DOMAIN"):
        return
    os.environ["LOCAL_DOMAIN"] = stored
    host, colon, _port = stored.rpartition(":")
    here = host == "localhost" or host.endswith(".localhost") or host.startswith("127.")
    if colon and here:
        os.environ.setdefault("WEB_DOMAIN", f"{host}:{os.environ.get('PORT') or 8000}")


def recall(data_dir: Path) -> None:
    """Put what was noted into the environment, where nothing else stands; before the settings are read."""
    values = _noted(data_dir)
    for name in NAMES:
        value = values.get(name)
        if isinstance(value, str):
            os.environ.setdefault(name, value)
