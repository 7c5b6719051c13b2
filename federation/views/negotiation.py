"""Whether a caller gets the document or the page of an address that has both (contract, federation section 1)."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse

from social.api import responses

CONTENT_TYPE = "application/activity+json; charset=utf-8"
_VARY = "Origin, Accept, Signature"
_DOCUMENTS = frozenset({"application/activity+json", "application/ld+json", "application/json", "application/jrd+json"})
_PAGES = frozenset({"text/html", "application/xhtml+xml", "text/*", "*/*"})


class Wanted(StrEnum):
    """What is answered."""

    DOCUMENT = "document"
    PAGE = "page"


def wanted(request: HttpRequest) -> Wanted | None:
    """The form the caller likes best; None for a form that does not exist (406)."""
    header = request.headers.get("Accept", "").strip()
    if not header:
        return Wanted.PAGE
    for kind in _by_preference(header):
        if kind in _DOCUMENTS:
            return Wanted.DOCUMENT
        if kind in _PAGES:
            return Wanted.PAGE
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


def document(data: dict[str, Any], *, private: bool = False, status: int = 200) -> HttpResponse:
    """An ActivityPub document. What only this caller may see is kept by no cache (security row 39)."""
    response = HttpResponse(orjson.dumps(data), status=status, content_type=CONTENT_TYPE)
    response.headers["Vary"] = _VARY
    response.headers["Cache-Control"] = "private, no-store" if private else "public, max-age=180"
    return response


def alternate(uri: str) -> str:
    """The part of a `Link` header that says where the document is (contract, federation section 1)."""
    return f'<{uri}>; rel="alternate"; type="application/activity+json"'


def not_acceptable() -> HttpResponse:
    """406: neither a document nor a page was asked for."""
    response = HttpResponse(b"", status=406)
    response.headers["Vary"] = _VARY
    return response


def redirect(url: str, *, permanent: bool = True) -> HttpResponse:
    """To the page of what has a document here."""
    response = HttpResponse(b"", status=301 if permanent else 302, headers={"Location": url})
    response.headers["Vary"] = _VARY
    return response


def refusal(message: str, status: int) -> HttpResponse:
    """`{"error": message}`."""
    response = responses.error(message, status=status)
    response.headers["Vary"] = _VARY
    return response
