"""Fetches documents from their origin, and decides which of them to trust.

Code that works on remote documents is written as if the documents were available. In background work, the first missing
document raises Awaited; the queue fetches it on the network loop, without a waiting thread, and runs the work again with the
response. The work must be idempotent, because its writes are repeated. In a web request, a fetch blocks instead.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from federation.documents.reading import kinds_of, origin_of, parse, same_origin, uri_of
from federation.reasons import Reason, Rejected
from federation.remote.signing import server_signer
from moderation.queries.blocks import is_closed_to
from social.kernel.errors import Unavailable
from social.kernel.http.client import ACTIVITY_TYPES, FetchError, Request, Response, Signer, fetch, fetch_async

REQUESTS_LIMIT: Final = 8
"""Maximum number of requests for one row of a queue: a post, its author, the author's key and address, each fetched twice at
most.
"""


@dataclass(eq=False)
class Awaited(Exception):
    """The work needs this document before it can continue."""

    url: str
    accept: tuple[str, ...]
    signer: Signer | None
    any_type: bool = False

    @property
    def host(self) -> str:
        return origin_of(self.url) or ""


class Gathered:
    """Responses that have been fetched for one row of a queue."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, tuple[str, ...]], Response | FetchError] = {}

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Inside the block, make `get` return these responses in this thread."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def answer(self, awaited: Awaited) -> Response:
        """Return the response to a request, or raise the error that it ended with. Raises Awaited if the response has not been
        fetched yet.
        """
        response = self._answers.get((awaited.url, awaited.accept))
        if response is None:
            if len(self._answers) >= REQUESTS_LIMIT:
                raise Rejected(Reason.TOO_MANY_REQUESTS)
            raise awaited
        if isinstance(response, FetchError):
            raise response
        return response

    async def ask(self, awaited: Awaited, deadline: float) -> bool:
        """Fetch a document on the network loop, within `deadline` seconds; False if the server did not answer."""
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
    """Fetch a document. Unless `any_type` is set, the content type of the response must be one of `accept`. Raises FetchError,
    Rejected for a blocked server, and Awaited in background work that does not have the document yet.
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
    """Refusal of an object that does not exist, or that this server may not read. The HTTP `status` is 401, 403, 404 or 410."""

    def __init__(self, detail: str, status: int) -> None:
        super().__init__(Reason.MISSING_DOCUMENT, detail)
        self.status = status


def fetch_document(uri: str, *, deadline: float = DEADLINE, signer: Signer | None = None) -> dict[str, Any]:
    """Return the document with this id from its own server; the request is signed by `signer`, or else by this server.

    If the document has an id other than `uri`, the document is fetched again at that id, and the second response must have the
    same id. After redirects, the server that answered must be the server of the id. A collection needs no id, because it is
    read only at the address that its owner names. Raises Missing, Rejected, and Unavailable when the server could not be
    reached or failed.
    """
    document, url = _get(uri, deadline, signer)
    name = uri_of(document)
    if name is None and same_origin(url, uri) and not _COLLECTIONS.isdisjoint(kinds_of(document)):
        return document
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
    """Tell whether a server answers with 410 or a Tombstone; a 404 may be temporary, or mean that access is denied. Raises
    Unavailable.
    """
    try:
        return "Tombstone" in kinds_of(fetch_document(uri, signer=signer))
    except Missing as missing:
        return missing.status == 410
    except Rejected:
        return False


_COLLECTIONS: Final = frozenset({"Collection", "OrderedCollection", "CollectionPage", "OrderedCollectionPage"})


def fetch_collection(uri: str, *, deadline: float = DEADLINE) -> dict[str, Any]:
    """Return the collection or page at this address, if the response comes from its own server. Raises the errors of
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
