"""Parses requests of streaming clients, and responds to refused requests (contract, behaviours section 16).

Refused upgrades and client errors are kept out of the error log. Uvicorn considers a handshake complete only after the upgrade
was accepted or closed. Uvicorn logs an upgrade that is refused with an HTTP response (ASGI's "WebSocket Denial Response") as
unanswered, and logs a traceback for every client message that is not UTF-8.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qs

import orjson
from django.conf import settings
from django.http import parse_cookie

from accounts.identity.queries.sign_in import find_session_identity
from social.api import addresses, refused_networks
from social.api.identities import Identity, find_in_database
from social.kernel.errors import KernelError
from timelines.consumers.threads import in_thread
from timelines.policies.streams import INVALID_TOKEN, MISSING_TOKEN, REFUSED, StreamError
from timelines.services.presence import record_arrival

PREFIX: Final = "/api/v1/streaming"
_FALSE_VALUES: Final = frozenset({"", "0", "f", "F", "false", "FALSE", "off", "OFF"})


@dataclass(frozen=True, slots=True)
class ConnectionRequest:
    """Request of a streaming client, from an ASGI scope. `path` is the part after `/api/v1/streaming`, `address` the client's
    IP address in canonical form (security row 25). `session` is the key of a browser's session. `session` is set only for a
    WebSocket without a token that, according to the header Origin, was opened by a page of this server (adr/0038).
    """

    path: str
    query: Mapping[str, str]
    token: str
    protocol: str | None
    address: str
    session: str = ""

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> "ConnectionRequest":
        """Parse the scope; the token is in the header Authorization, the query or the header Sec-WebSocket-Protocol."""
        raw = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True, errors="replace")
        query = {name: values[-1] for name, values in raw.items()}
        protocol = next(iter(scope.get("subprotocols") or ()), None)
        header = _header(scope, b"authorization")
        kind, _space, bearer = header.partition(" ")
        token = bearer.strip() if kind.lower() == "bearer" else ""
        if not header:
            token = query.get("access_token") or protocol or ""
        session = "" if token or header else _session(scope)
        return cls(scope["path"].removeprefix(PREFIX).strip("/"), query, token, protocol, _address(scope), session)

    def flag(self, name: str) -> bool:
        """Return a boolean parameter of the query, in any spelling that clients use."""
        return self.query.get(name, "") not in _FALSE_VALUES

    async def check_network(self) -> None:
        """Raise StreamError (403) if the client's network is refused (contract, behaviours section 4)."""
        if await in_thread(refused_networks.is_refused, self.address):
            raise StreamError(403, REFUSED)

    async def identify(self) -> Identity:
        """Return the identity of the token or session. Raises StreamError (401) if it is missing or has no account."""
        if not self.token and not self.session:
            raise StreamError(401, MISSING_TOKEN)
        work = partial(_find, self.token) if self.token else partial(find_session_identity, self.session)
        identity = await in_thread(work)
        if identity is None or identity.account_id is None:
            raise StreamError(401, INVALID_TOKEN)
        await in_thread(record_arrival, identity.account_id)
        return identity


def _find(token: str) -> Identity | None:
    try:
        identity = find_in_database(token)
    except KernelError:
        return None
    if identity is None or identity.user_id is None:
        return None
    unusable = identity.disabled or identity.suspended or identity.moved
    return None if unusable or not (identity.confirmed and identity.approved) else identity


def _address(scope: Mapping[str, Any]) -> str:
    host, _port = scope.get("client") or ("", 0)
    hops = [value.decode("latin-1") for name, value in scope.get("headers", ()) if name.lower() == b"x-forwarded-for"]
    return addresses.find({"REMOTE_ADDR": host, "HTTP_X_FORWARDED_FOR": ",".join(hops)})


def _session(scope: Mapping[str, Any]) -> str:
    if scope["type"] != "websocket" or _header(scope, b"origin") != settings.BASE_URL:
        return ""
    return parse_cookie(_header(scope, b"cookie")).get(settings.SESSION_COOKIE_NAME, "")


def _header(scope: Mapping[str, Any], name: bytes) -> str:
    for key, value in scope.get("headers", ()):
        if key.lower() == name:
            return str(value.decode("latin-1"))
    return ""


_LOGGER: Final = "uvicorn.error"
_INCOMPLETE_HANDSHAKE_MESSAGE: Final = "ASGI callable returned without completing handshake."
#: Log messages about client errors; the client sees these errors in the response.
_CLIENT_FAULTS: Final = frozenset(
    {
        "Invalid UTF-8 sequence received from client.",
        "Invalid HTTP request received.",
        "Unsupported upgrade request.",
    }
)
# RFC 6455 section 7.4.1.
POLICY_VIOLATION: Final = 1008
_refused: ContextVar[bool] = ContextVar("refused", default=False)


async def refuse(scope: Mapping[str, Any], send: Callable[[Any], Awaitable[None]], error: StreamError) -> None:
    """Refuse an upgrade with a status, JSON and `X-Error-Message`, or close the connection if the server cannot respond."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        return
    headers = [
        (b"content-type", b"application/json; charset=utf-8"),
        (b"x-error-message", error.text.encode()),
        (b"connection", b"close"),
        *retry_after(error),
    ]
    await send({"type": "websocket.http.response.start", "status": error.status, "headers": headers})
    _refused.set(True)
    await send({"type": "websocket.http.response.body", "body": orjson.dumps({"error": error.text})})


def retry_after(error: StreamError) -> list[tuple[bytes, bytes]]:
    """Return the header `Retry-After` in seconds for an error of this server (503); none for other errors."""
    return [(b"retry-after", b"5")] if error.status == 503 else []


class _RefusalFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return record.msg not in _CLIENT_FAULTS and not (_refused.get() and record.msg == _INCOMPLETE_HANDSHAKE_MESSAGE)


_FILTER: Final = _RefusalFilter()


def keep_refusals_quiet() -> None:
    """Keep the messages in `_CLIENT_FAULTS`, and the messages about refused upgrades, out of the log. Idempotent."""
    logging.getLogger(_LOGGER).addFilter(_FILTER)
