"""Where a streaming client is, how it sends its token, and the answer to a refused one (contract, behaviours section 16)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs

from social.api import addresses, refused_networks
from social.api.identities import Identity, find_in_database
from social.kernel.errors import KernelError
from timelines.consumers.threads import in_thread
from timelines.policies.streams import INVALID_TOKEN, MISSING_TOKEN, REFUSED, StreamError
from timelines.services.presence import record_arrival

PREFIX: Final = "/api/v1/streaming"
_FALSE: Final = frozenset({"", "0", "f", "F", "false", "FALSE", "off", "OFF"})


@dataclass(frozen=True, slots=True)
class ConnectionRequest:
    """What an ASGI scope says about a client that wants to listen.

    `path` is what follows `/api/v1/streaming`, `address` the client's own, canonical (security row 25).
    """

    path: str
    query: Mapping[str, str]
    token: str
    protocol: str | None
    address: str

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> ConnectionRequest:
        """The token is taken from the header Authorization, else the query, else the header Sec-WebSocket-Protocol."""
        raw = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True, errors="replace")
        query = {name: values[-1] for name, values in raw.items()}
        protocols: Iterable[str] = scope.get("subprotocols") or ()
        protocol = next(iter(protocols), None)
        header = _header(scope, b"authorization")
        kind, _space, bearer = header.partition(" ")
        token = bearer.strip() if kind.lower() == "bearer" else ""
        if not header:
            token = query.get("access_token") or protocol or ""
        return cls(scope["path"].removeprefix(PREFIX).strip("/"), query, token, protocol, _address(scope))

    def flag(self, name: str) -> bool:
        """A boolean of the query, in any of the clients' spellings."""
        return self.query.get(name, "") not in _FALSE

    async def check_network(self) -> None:
        """Raises StreamError (403) for a network that nothing is answered to (contract, behaviours section 4)."""
        if await in_thread(refused_networks.is_refused, self.address):
            raise StreamError(403, REFUSED)

    async def identify(self) -> Identity:
        """Whose token it is. Raises StreamError (401) without a token, or with one that opens no API of a user."""
        if not self.token:
            raise StreamError(401, MISSING_TOKEN)
        identity = await in_thread(_find, self.token)
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


def _header(scope: Mapping[str, Any], name: bytes) -> str:
    for key, value in scope.get("headers", ()):
        if key.lower() == name:
            return str(value.decode("latin-1"))
    return ""
