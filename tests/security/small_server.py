"""The web server with a small application and low limits: `small_server PORT FILE LIMITS`, with LIMITS as JSON. Requests for
/hold wait as long as a file exists whose name is FILE followed by PORT.
"""

import ctypes
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from django.http import HttpResponse

from social.api import later
from social.runtime.files import Part
from social.runtime.web.adapter import Adapter, Limits
from social.runtime.web.server import Server

_never = threading.Event()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Respond with a description of the request."""
    path = environ["PATH_INFO"]
    headers = [("Content-Type", "text/plain")]
    if path == "/file":
        wrap: Callable[..., Iterable[bytes]] = environ["wsgi.file_wrapper"]
        file = Part(sys.argv[2])
        size = os.fstat(file.fileno()).st_size
        start, file.end = map(int, environ["QUERY_STRING"].split(",")) if environ["QUERY_STRING"] else (0, size)
        file.seek(start)
        start_response("200 OK", [*headers, ("Content-Length", str(file.end - start))])
        return wrap(file)
    if path == "/raise":
        raise ValueError("unforeseen")
    if path == "/exit":
        raise SystemExit(1)
    if path == "/full":
        raise OSError(28, "No space left on device")
    if path == "/sleep":
        time.sleep(float(environ["QUERY_STRING"]))
    if path in ("/hold", "/upload/hold"):
        _hold(Path(f"{sys.argv[2]}{sys.argv[1]}"))
    if path == "/deadlock":
        _never.wait()
    if path == "/later":
        _put_off(environ)
    if path == "/stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if path == "/hang":
        # this call keeps the interpreter's lock, so that no other Python code of the process runs
        ctypes.PyDLL(None).pause()
    start_response("200 OK", headers)
    if path == "/bytes":
        return [b"b" * int(environ["QUERY_STRING"])]
    if path == "/environ":
        return [json.dumps({k: v for k, v in environ.items() if isinstance(v, str)}).encode()]
    if path == "/pid":
        return [str(os.getpid()).encode()]
    return [str(len(environ["wsgi.input"].read())).encode()]


def _hold(file: Path) -> None:
    """Block the thread as long as the file exists."""
    logging.warning("a request is held")
    while file.exists():
        time.sleep(0.01)


def _put_off(environ: dict[str, Any]) -> None:
    """Defer the response until it has been polled a number of times (or forever), with a limit in seconds: `?polls,seconds`."""
    questions, seconds = (float(part) for part in environ["QUERY_STRING"].split(","))
    asked = iter(range(int(questions)))

    def poll() -> HttpResponse | None:
        if next(asked, None) is not None:
            return None
        return HttpResponse(b"done", status=201, headers={"Content-Type": "text/x-later", "X-Later": "yes"})

    environ[later.KEY].append(later.Wait(poll, seconds))


def main() -> None:
    """Serve until a signal stops it."""
    logging.basicConfig(level=logging.WARNING)
    given = json.loads(sys.argv[3])
    count = given.pop("processes", 1)
    os.environ["TRUSTED_PROXIES"] = given.pop("trusted", "")
    limits = Limits(**given)

    def upload_limit(method: str, path: str) -> int | None:
        return 64 * 2**20 if path.startswith("/upload") else None

    def error_page(status: int, path: str, headers: Any) -> tuple[list[tuple[str, str]], bytes] | None:
        return ([("content-type", "text/html")], b"A page") if path == "/page" and headers.get("accept") else None

    adapter = Adapter(application, limits, upload_limit=upload_limit, error_page=error_page)
    Server(adapter, limits, "127.0.0.1", int(sys.argv[1]), workers=count).run()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.types")
    main()
