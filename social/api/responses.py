"""Answers of the API: JSON, encoded directly by orjson, without the template machinery of DRF's response class."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.functional import Promise
from django.utils.translation import gettext_noop
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

CONTENT_TYPE = "application/json; charset=utf-8"


def render(data: Any) -> bytes:
    """Return `data` as JSON. Raises TypeError for values that entities may not contain (models, decimals, huge integers)."""
    return orjson.dumps(data, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Promise):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no part of an entity")


class OrjsonRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """Return `data` as JSON; empty for None."""
        return b"" if data is None else render(data)


class JsonOnly(BaseContentNegotiation):
    """Negotiation that always chooses JSON, whatever the client's Accept header says. `ApiRequest` chooses the parser."""

    def select_renderer(  # type: ignore[override]  # there is one renderer
        self, request: Request, renderers: Sequence[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


#: Seconds after which a client may retry a request that was answered with 503; a restart of the server takes about as long.
RETRY_AFTER: Final = "5"
TRY_AGAIN: Final = gettext_noop("There was a temporary problem serving your request, please try again")


def reply(data: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Return an answer with `data` as its JSON body. Actions that answer 200 without headers may return the data itself."""
    response = HttpResponse(render(data), status=status, content_type=CONTENT_TYPE)
    if headers:
        for name, value in headers.items():
            response.headers[name] = value
    return response


def reply_empty(request: Request, *, status: int = 200) -> HttpResponse:
    """Return an answer without a body. The answer's type is `text/html` unless the client's Accept header names JSON, because
    client libraries fail on an empty body declared as JSON (contract, endpoints "DELETE /api/v1/collections/:id").
    """
    wants_json = "application/json" in request.headers.get("Accept", "").lower()
    return HttpResponse(b"", status=status, content_type=CONTENT_TYPE if wants_json else "text/html; charset=utf-8")


def redirect(url: str, *, shared: bool) -> HttpResponse:
    """Return a redirect (302) to a file, cached for ten minutes, since the file can move or be deleted.

    With `shared`, shared caches may store the redirect too, because it is the same for all callers.
    """
    response = HttpResponseRedirect(url)
    response.headers["Cache-Control"] = f"{'public' if shared else 'private'}, max-age=600"
    return response


def error(message: str, *, status: int, headers: Mapping[str, str] | None = None, **extra: Any) -> HttpResponse:
    """Return the answer to an error, `{"error": message, ...extra}` (contract, entities "Errors"), which caches never store."""
    response = reply({"error": message, **extra}, status=status, headers=headers)
    if status == 503:
        response.headers.setdefault("Retry-After", RETRY_AFTER)
    response.headers["Cache-Control"] = "private, no-store"
    return response
