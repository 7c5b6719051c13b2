"""The web server with a small application and small limits: `small_server PORT FILE LIMITS`, these as JSON."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from social.runtime.web.limits import Limits
from social.runtime.web.processes import Processes, listen
from social.runtime.web.server import Server

_never = threading.Event()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answers with what it was asked for."""
    path = environ["PATH_INFO"]
    headers = [("Content-Type", "text/plain")]
    if path == "/file":
        start_response("200 OK", headers)
        return environ["wsgi.file_wrapper"](open(sys.argv[2], "rb"))  # type: ignore[no-any-return]
    if path == "/raise":
        raise ValueError("unforeseen")
    if path == "/full":
        raise OSError(28, "No space left on device")
    if path in ("/sleep", "/upload/sleep"):
        time.sleep(float(environ["QUERY_STRING"]))
    if path == "/deadlock":
        _never.wait()
    if path == "/stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    start_response("200 OK", headers)
    if path == "/environ":
        return [json.dumps({k: v for k, v in environ.items() if isinstance(v, str)}).encode()]
    if path == "/pid":
        return [str(os.getpid()).encode()]
    return [str(len(environ["wsgi.input"].read())).encode()]


def main() -> None:
    """Serve until told to stop."""
    logging.basicConfig(level=logging.WARNING)
    given = json.loads(sys.argv[3])
    count, silence = given.pop("processes", 1), given.pop("silence", 10.0)
    os.environ["TRUSTED_PROXIES"] = given.pop("trusted", "")
    limits = Limits(**given)
    listener = listen("127.0.0.1", int(sys.argv[1]))

    def serve(beat: Callable[[], None]) -> bool:
        def upload_limit(method: str, path: str) -> int | None:
            return 64 * 2**20 if path.startswith("/upload") else None

        return Server(application, limits, upload_limit=upload_limit, beat=beat).run(listener)

    Processes(count, serve, grace=limits.stop_seconds + 1, silence=silence).run()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.test")
    main()
