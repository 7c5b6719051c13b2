"""Clients of the streaming API for tests."""

import json
import urllib.request
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.test import Client
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.timelines.conftest import Person
from tests.timelines.server import StreamingServer


class Socket:
    def __init__(
        self,
        server: StreamingServer,
        token: str | None,
        path: str = "",
        headers: dict[str, str] | None = None,
        **query: str,
    ) -> None:
        if token:
            query["access_token"] = token
        address = f"{server.ws}{path}?{urlencode(query)}"
        self.socket: ClientConnection = connect(address, open_timeout=60, legacy=True, additional_headers=headers)

    def __enter__(self) -> "Socket":
        return self

    def __exit__(self, *_error: object) -> None:
        self.socket.close()

    def say(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def next(self, timeout: float = 3.0) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.socket.recv(timeout))
        return message

    def update(self) -> dict[str, Any]:
        message = self.next()
        assert message["event"] == "update", message
        assert isinstance(message["payload"], str)
        entity: dict[str, Any] = json.loads(message["payload"])
        return entity

    def is_silent(self) -> bool:
        """Send an invalid command, and return whether its error response is the next message, which shows that nothing was
        waiting.
        """
        self.say(type="subscribe", stream="no such stream")
        return self.next() == {"error": "Unknown stream type", "status": 400}

    def is_closed(self, within: float) -> int:
        """Return the code with which the server closes the socket within this time."""
        with pytest.raises(ConnectionClosed) as closed:
            self.socket.recv(within)
        assert closed.value.rcvd is not None
        return closed.value.rcvd.code


def open_socket(server: StreamingServer, someone: Person, stream: str = "", **query: str) -> Socket:
    """Open a socket of a user; with `stream`, wait until the subscription is complete."""
    token = str(someone.api.token)
    socket = Socket(server, token, **({"stream": stream} if stream else {}), **query)
    if stream:
        # Commands of a client are answered in order: this one only after the subscription is complete.
        assert socket.is_silent()
    return socket


def open_from_page(server: StreamingServer, browser: Client, *, origin: str = "", stream: str = "user") -> Socket:
    """Open a socket as a page in a signed-in browser does; the page is on this server unless `origin` names another one."""
    name = settings.SESSION_COOKIE_NAME
    headers = {"Cookie": f"other=1; {name}={browser.cookies[name].value}", "Origin": origin or settings.BASE_URL}
    socket = Socket(server, None, headers=headers, stream=stream)
    assert socket.is_silent()
    return socket


class EventStream:
    def __init__(self, server: StreamingServer, path: str, token: str | None, **query: str) -> None:
        request = urllib.request.Request(f"{server.http}/{path}?{urlencode(query)}")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        self.answer = urllib.request.urlopen(request, timeout=60)

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(self, *_error: object) -> None:
        self.answer.close()

    def line(self) -> str:
        text: str = self.answer.readline().decode()
        return text
