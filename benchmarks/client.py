"""A client of the JSON API for one thread, with one persistent connection."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit


class ApiError(Exception):
    """A response with an error status or a redirect."""


class Client:
    """A persistent connection, with an optional token."""

    def __init__(self, base: str, token: str | None = None) -> None:
        parts = urlsplit(base)
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self.token = token

    def raw(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> bytes:
        headers = {"Content-Type": kind} if body is not None else {}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status >= 300:
            raise ApiError(f"{method} {path}: {answer.status} {data[:200]!r}")
        return data

    def call(self, method: str, path: str, data: Any = None) -> Any:
        return json.loads(self.raw(method, path, None if data is None else json.dumps(data).encode()))

    def upload(self, path: str, file: bytes, name: str = "picture.jpg") -> Any:
        mark = "----------benchmark"
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
        body = head + file + f"\r\n--{mark}--\r\n".encode()
        return json.loads(self.raw("POST", path, body, f"multipart/form-data; boundary={mark}"))
