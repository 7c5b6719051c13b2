"""Content negotiation between the document and the page at one address (contract, federation section 1)."""

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Any, Final

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from accounts.models import Account
from federation.documents.reading import MAX_BYTES
from federation.reasons import Rejected
from federation.signatures.message import BadSignature, MalformedDigest, Message
from social.api import exceptions, responses
from social.api.addresses import client_ip, rate_key
from social.kernel.errors import KernelError, NotFound, Unavailable
from social.kernel.identity import is_federation_limited
from social.kernel.ids import parse_id

CONTENT_TYPE = "application/activity+json; charset=utf-8"
_VARY = "Origin, Accept, Signature"
_DOCUMENTS = frozenset({"application/activity+json", "application/ld+json", "application/json", "application/jrd+json"})
_PAGES = frozenset({"text/html", "application/xhtml+xml", "text/*", "*/*"})


class Representation(StrEnum):
    """Representation that a client prefers."""

    DOCUMENT = "document"
    PAGE = "page"


def preferred_representation(request: HttpRequest) -> Representation | None:
    """Return the representation that the client prefers; None when it accepts neither (406)."""
    header = request.headers.get("Accept", "").strip()
    if not header:
        return Representation.PAGE
    for kind in _by_preference(header):
        if kind in _DOCUMENTS:
            return Representation.DOCUMENT
        if kind in _PAGES:
            return Representation.PAGE
    return None


def _by_preference(header: str) -> list[str]:
    kinds = []
    for position, part in enumerate(header[:1000].split(",")):
        kind, *parameters = (item.strip() for item in part.split(";"))
        quality = 1.0
        for parameter in parameters:
            name, _equals, value = parameter.partition("=")
            if name.strip().lower() == "q":
                try:
                    quality = float(value)
                except ValueError:
                    quality = 0.0
        if quality > 0:
            kinds.append((-quality, position, kind.lower()))
    return [kind for _quality, _position, kind in sorted(kinds)]


def is_secure_mode() -> bool:
    """Tell whether documents are served to signed requests only (contract, federation section 11 "Secure mode")."""
    return settings.AUTHORIZED_FETCH or is_federation_limited()


def document(
    data: dict[str, Any], *, reader_id: int | None = None, status: int = 200, seconds: int = 180
) -> HttpResponse:
    """Return a response with an ActivityPub document, which caches may store for `seconds`. A document for a reader (with the
    id `reader_id`) must not be cached, and in secure mode no document may be cached (security row 39).
    """
    is_public = reader_id is None and not is_secure_mode()
    cache = f"public, max-age={seconds}" if is_public else "private, no-store"
    headers = {"Vary": _VARY, "Cache-Control": cache}
    return HttpResponse(orjson.dumps(data), status=status, content_type=CONTENT_TYPE, headers=headers)


def alternate(uri: str) -> str:
    """Return the part of a `Link` header that names the address of the document (contract, federation section 1)."""
    return f'<{uri}>; rel="alternate"; type="application/activity+json"'


def not_acceptable() -> HttpResponse:
    """Return a 406 response, for a client that accepts neither a document nor a page."""
    return HttpResponse(b"", status=406, headers={"Vary": _VARY})


def redirect(url: str) -> HttpResponse:
    """Return a redirect to the page that belongs to a document."""
    return HttpResponse(b"", status=301, headers={"Location": url, "Vary": _VARY})


def refusal(message: str, status: int) -> HttpResponse:
    """Return the response `{"error": message}`."""
    response = responses.error(message, status=status)
    response.headers["Vary"] = _VARY
    return response


View = Callable[..., HttpResponse]
_READ: Final = frozenset({"GET", "HEAD"})
_RETRY_AFTER: Final = "30"


class TooLarge(Exception):
    """Error for a request body larger than MAX_BYTES."""


def message_of(request: HttpRequest) -> Message:
    """Return the request with its body. Raises TooLarge if the body has more than MAX_BYTES."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > MAX_BYTES:
        raise TooLarge
    body = request.read(MAX_BYTES + 1) if request.method == "POST" else b""
    if len(body) > MAX_BYTES:
        raise TooLarge
    headers = {name.lower(): value for name, value in request.headers.items()}
    # The path has been decoded and encoded again; `Message.targets` yields the other encodings that may have been signed.
    return Message(request.method or "GET", request.get_full_path(), headers, body, rate_key(client_ip(request)))


def reads(view: View) -> View:
    """Decorate a view of documents: it accepts GET and HEAD only, and returns errors as JSON."""
    return _with_methods(view, _READ)


def accepts(view: View) -> View:
    """Decorate a view of an inbox: it accepts POST only, and returns errors as JSON."""
    return _with_methods(view, frozenset({"POST"}))


REFUSALS: Final = (TooLarge, BadSignature, Rejected, KernelError)
"""Errors for which `refused` returns a response."""


def refused(error: Exception) -> HttpResponse:
    """Return the response to a request that ended with one of REFUSALS."""
    if isinstance(error, TooLarge):
        return HttpResponse(b"", status=413)
    if isinstance(error, BadSignature):
        return refusal(str(error), 400 if isinstance(error, MalformedDigest) else 401)
    if isinstance(error, NotFound):
        return refusal(_("Not Found"), 404)
    if isinstance(error, Unavailable):
        response = refusal(error.message, 503)
        response.headers["Retry-After"] = _RETRY_AFTER
        return response
    if isinstance(error, KernelError):
        return refusal(error.message, exceptions.status_of(error))
    return refusal(str(error), 400)


def _with_methods(view: View, methods: frozenset[str]) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, **values: str) -> HttpResponse:
        if request.method not in methods:
            return refusal(_("Not Found"), 404)
        try:
            return view(request, **values)
        except REFUSALS as error:
            return refused(error)

    # CSRF is impossible, because other servers sign their requests and send no cookies.
    guarded.csrf_exempt = True  # type: ignore[attr-defined]  # read by Django's middleware
    return guarded


def numbered(view: View) -> View:
    """Return a view for `/ap/users/:number/...` that responds as `view` does for the username; redirects to pages are temporary
    (302).
    """

    @wraps(view)
    def answer(request: HttpRequest, number: str, **arguments: str) -> HttpResponse:
        usernames = Account.objects.filter(id=parse_id(number) or 0, domain=None).values_list("username", flat=True)
        response = view(request, username=usernames.first() or "", **arguments)
        if response.status_code == 301:
            response.status_code = 302
        return response

    return answer
