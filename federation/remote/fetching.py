"""Fetches documents from their origin, in background work without a thread that waits for them, and decides when to
believe them.

Work on other servers' documents runs as if they were at hand. The first one that is not stops it with Awaited; whoever runs
the work asks for that document on the network loop, among many others, and runs the work again with what came back. The work
is idempotent, so what it wrote before it stopped does no harm. Outside of this, in a web request, a fetch is waited for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from federation.documents.reading import Rejected, kinds_of, origin_of, parse, same_origin, uri_of
from federation.reasons import Reason
from federation.remote.signing import server_signer
from moderation.queries.blocks import is_closed_to
from social.kernel.errors import Unavailable
from social.kernel.http.client import ACTIVITY_TYPES, FetchError, Request, Response, Signer, fetch, fetch_async

REQUESTS_LIMIT: Final = 8
"""Requests that one background fetch may cause: a post, its author, the author's key and address, each redirected once."""


@dataclass(eq=False)
class Awaited(Exception):
    """The work needs this document before it can go on."""

    url: str
    accept: tuple[str, ...]
    signer: Signer | None
    any_type: bool = False

    @property
    def host(self) -> str:
        """The server that has it."""
        return origin_of(self.url) or ""


class Gathered:
    """Answers that were fetched for one row so far."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, tuple[str, ...]], Response | FetchError] = {}

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Have `get` answer from here, in this thread."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def answer(self, awaited: Awaited) -> Response:
        """The answer to a request. Raises Awaited when it was not asked for, and what the request raised."""
        found = self._answers.get((awaited.url, awaited.accept))
        if found is None:
            if len(self._answers) >= REQUESTS_LIMIT:
                raise Rejected(Reason.TOO_MANY_REQUESTS)
            raise awaited
        if isinstance(found, FetchError):
            raise found
        return found

    async def ask(self, awaited: Awaited, deadline: float) -> bool:
        """Fetch what is awaited, on the network loop, within so many seconds; whether the server answered."""
        key = (awaited.url, awaited.accept)
        try:
            self._answers[key] = await fetch_async(
                Request(
                    awaited.url,
                    accept=awaited.accept,
                    any_type=awaited.any_type,
                    signer=awaited.signer,
                    deadline=deadline,
                )
            )
        except FetchError as error:
            self._answers[key] = error
            return False
        return True


_current: ContextVar[Gathered | None] = ContextVar("gathered", default=None)


def get(
    url: str, *, accept: Sequence[str], deadline: float, signer: Signer | None = None, any_type: bool = False
) -> Response:
    """A document of another server. Its content type must be one of `accept`, unless `any_type` is allowed.

    Raises FetchError, Rejected for a server that this one is closed to, and Awaited in background work that does not have it
    yet.
    """
    origin = origin_of(url)
    if origin is not None and is_closed_to(origin):
        raise Rejected(Reason.CLOSED_TO_SERVER)
    gathered = _current.get()
    if gathered is None:
        return fetch(Request(url, accept=accept, any_type=any_type, signer=signer, deadline=deadline))
    return gathered.answer(Awaited(url, tuple(accept), signer, any_type))


DEADLINE: Final = 10.0
_MISSING_STATUSES: Final = (401, 403, 404, 410)


class Missing(Rejected):
    """The origin says that there is no such thing, or not for us, by the HTTP `status` 401, 403, 404 or 410."""

    def __init__(self, detail: str, status: int) -> None:
        super().__init__(Reason.MISSING_DOCUMENT, detail)
        self.status = status


def fetch_document(uri: str, *, deadline: float = DEADLINE, signer: Signer | None = None) -> dict[str, Any]:
    """The document with this id, asked of its own server, signed by `signer` or else by this server.

    A document that calls itself something else is asked for once more, under that name; what comes back must then be
    called so. Its server must be the one that answered, after redirects. Raises Missing, Rejected, and Unavailable when
    the server could not be reached or broke.
    """
    document, url = _get(uri, deadline, signer)
    name = uri_of(document)
    if name is None:
        raise Rejected(Reason.NO_DOCUMENT_ID)
    if name != uri:
        document, url = _get(name, deadline, signer)
        if uri_of(document) != name:
            raise Rejected(Reason.OTHER_ID)
    if origin_of(url) != origin_of(name):
        raise Rejected(Reason.OTHER_SERVER_ANSWERED)
    return document


def is_gone(uri: str, *, signer: Signer | None = None) -> bool:
    """Tell whether a server says that an object was deleted. Only 410 and a Tombstone do: 404 may be a passing fault, or an
    answer to those who may not see it. Raises Unavailable.
    """
    try:
        return "Tombstone" in kinds_of(fetch_document(uri, signer=signer))
    except Missing as missing:
        return missing.status == 410
    except Rejected:
        return False


_COLLECTIONS: Final = frozenset({"Collection", "OrderedCollection", "CollectionPage", "OrderedCollectionPage"})


def fetch_collection(uri: str, *, deadline: float = DEADLINE) -> dict[str, Any]:
    """The collection, or the page of one, at this address; its server must be the one that answers. Raises as
    `fetch_document`.
    """
    document, url = _get(uri, deadline)
    if not same_origin(url, uri) or _COLLECTIONS.isdisjoint(kinds_of(document)):
        raise Rejected(Reason.NO_OWN_COLLECTION)
    return document


def _get(uri: str, deadline: float, signer: Signer | None = None) -> tuple[dict[str, Any], str]:
    if origin_of(uri) is None:
        raise Rejected(Reason.NO_ADDRESS)
    response = get(uri, accept=ACTIVITY_TYPES, signer=signer or server_signer(), deadline=deadline)
    if response.status in _MISSING_STATUSES:
        raise Missing(f"{response.status} from {origin_of(uri)}", response.status)
    if response.status != 200:
        raise Unavailable(f"{response.status} from {origin_of(uri)}")
    return parse(response.body), response.url
