"""A web site of a third party on this machine."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], str | bytes]
_used_ports: set[int] = set()


def listening(handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    """Return a web server on a loopback port that no other server of this process has had.

    The tested code treats ports as hosts, and remembers for half a minute which of them were unreachable.
    """
    # Head and body are two writes; on a persistent connection Nagle's algorithm would delay the second by 40 ms.
    handler.disable_nagle_algorithm = True
    refused: list[ThreadingHTTPServer] = []
    while (server := ThreadingHTTPServer(("127.0.0.1", 0), handler)).server_port in _used_ports:
        refused.append(server)
    for other in refused:
        other.server_close()
    _used_ports.add(server.server_port)
    # Closing the server does not wait for open client connections.
    server.daemon_threads = True
    return server


@contextmanager
def answering(server: ThreadingHTTPServer) -> Iterator[None]:
    """Run the server in a thread during the block."""
    thread = threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


class Site:
    """A web server on a loopback address, with responses by path, and the requested paths."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.before_answer: Callable[[], object] = lambda: None
        # A function that writes to the connection directly, instead of sending a response.
        self.instead: Callable[[BaseHTTPRequestHandler], Any] | None = None
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                if site.instead is not None:
                    site.instead(self)
                    return
                site.before_answer()
                status, headers, body = site.pages.get(self.path, (404, {}, "nothing"))
                data = body.encode() if isinstance(body, str) else body
                self.send_response(status)
                for name, value in ({"Content-Type": "text/html", "Content-Length": str(len(data))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = listening(Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.address = f"http://{self.host}"

    def show(self, path: str, body: str | bytes, status: int = 200, **headers: str) -> str:
        """Set the response of a path, and return its address. In header names, underscores stand for hyphens."""
        self.pages[path] = (status, {name.replace("_", "-"): value for name, value in headers.items()}, body)
        return self.address + path


@contextmanager
def serving() -> Iterator[Site]:
    """Run a site during the block."""
    site = Site()
    with answering(site.server):
        yield site
