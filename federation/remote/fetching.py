"""How to fetch a document from its origin, and when to believe it.

Sources: contract, federation sections 1 and 16; security rows 5, 6, 7 and 10.
"""

from __future__ import annotations

from typing import Any, Final

from federation.documents.reading import Rejected, origin_of, parse, uri_of
from federation.remote.gathering import get
from federation.remote.signing import server_signer
from social.kernel.errors import Unavailable
from social.kernel.http.client import ACTIVITY_TYPES

DEADLINE: Final = 10.0
_MISSING: Final = (401, 403, 404, 410)


class Missing(Rejected):
    """The origin says that there is no such thing, or not for us, by the HTTP `status` 401, 403, 404 or 410."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(reason)
        self.status = status


def fetch_document(uri: str, *, deadline: float = DEADLINE) -> dict[str, Any]:
    """The document with this id, asked of its own server with the server's signature.

    A document that calls itself something else is asked for once more, under that name; what comes back must then be
    called so. Its server must be the one that answered, after redirects. Raises Missing, Rejected, and Unavailable when
    the server could not be reached or broke.
    """
    document, url = _get(uri, deadline)
    name = uri_of(document)
    if name is None:
        raise Rejected("the document has no id")
    if name != uri:
        document, url = _get(name, deadline)
        if uri_of(document) != name:
            raise Rejected("the document is called something else than where it is")
    if origin_of(url) != origin_of(name):
        raise Rejected("the document is of another server than the one that answered")
    return document


def _get(uri: str, deadline: float) -> tuple[dict[str, Any], str]:
    if origin_of(uri) is None:
        raise Rejected("the id is no address")
    response = get(uri, accept=ACTIVITY_TYPES, signer=server_signer(), deadline=deadline)
    if response.status in _MISSING:
        raise Missing(f"{response.status} from {origin_of(uri)}", response.status)
    if response.status != 200:
        raise Unavailable(f"{response.status} from {origin_of(uri)}")
    return parse(response.body), response.url
