"""The answers of the API: encoded at once, without the template machinery of DRF's own response class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_noop

from social.api.renderers import CONTENT_TYPE, render

#: Seconds after which a client may ask again what could not be answered (503): a server restarts in about as many.
RETRY_AFTER: Final = "5"
TRY_AGAIN: Final = gettext_noop("There was a temporary problem serving your request, please try again")


def set_header(response: HttpResponseBase, name: str, value: str) -> None:
    """Set a header whose name and value are the server's own, so ASCII without line breaks.

    For those that every answer has: Django encodes name and value, and looks for line breaks, each time.
    """
    _stored(response)[name.lower()] = (name, value)


def set_missing_header(response: HttpResponseBase, name: str, value: str) -> None:
    """As `set_header`, unless the response has such a header."""
    _stored(response).setdefault(name.lower(), (name, value))


def _stored(response: HttpResponseBase) -> dict[str, tuple[str, str]]:
    return response.headers._store


def reply(data: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """An answer with `data` as its JSON body. Actions that answer 200 without headers may return the data itself."""
    response = HttpResponse(render(data), status=status, content_type=CONTENT_TYPE)
    if headers:
        for name, value in headers.items():
            response.headers[name] = value
    return response


def reply_empty(*, status: int = 200) -> HttpResponse:
    """An answer without a body (a few collection endpoints)."""
    return HttpResponse(b"", status=status, content_type=CONTENT_TYPE)


def redirect(url: str, *, shared: bool) -> HttpResponse:
    """302 to a file that may be elsewhere, or gone, in ten minutes. `shared`: it is the same file for everybody."""
    response = HttpResponseRedirect(url)
    response.headers["Cache-Control"] = f"{'public' if shared else 'private'}, max-age=600"
    return response


def error(message: str, *, status: int, headers: Mapping[str, str] | None = None, **extra: Any) -> HttpResponse:
    """`{"error": message, ...extra}` (contract, entities "Errors"); never kept by a cache."""
    response = reply({"error": message, **extra}, status=status, headers=headers)
    if status == 503:
        response.headers.setdefault("Retry-After", RETRY_AFTER)
    response.headers["Cache-Control"] = "private, no-store"
    # Django would log every answer of 400 and above once more; the access log has it already.
    response._has_been_logged = True  # type: ignore[attr-defined]  # Django sets it on the fly and declares it nowhere
    return response
