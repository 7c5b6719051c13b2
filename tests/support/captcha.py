"""A captcha service on this machine, with hCaptcha's protocol."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl

import orjson

from tests.support.site import answering, listening


class CaptchaService:
    """The service: `right` is the correct answer, `asked` contains the received forms, and `answer` replaces its response."""

    def __init__(self) -> None:
        self.right, self.asked = "solved", list[dict[str, str]]()
        self.answer: tuple[int, bytes] | None = None
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
                service.asked.append(form)
                verdict = {"success": form.get("response") == service.right}
                status, data = service.answer or (200, orjson.dumps(verdict))
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = listening(Handler)
        self.address = f"127.0.0.1:{self.http.server_port}"


@contextmanager
def captcha_service() -> Iterator[CaptchaService]:
    """Run a captcha service during the block."""
    service = CaptchaService()
    with answering(service.http):
        yield service
