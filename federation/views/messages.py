"""A Django request as signature checks need it, and the answers to unsigned and badly signed ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from federation.documents.reading import MAX_BYTES, Rejected
from federation.signatures.message import BadSignature, Message
from federation.views.negotiation import refusal
from social.api import exceptions
from social.api.addresses import client_ip, rate_key
from social.kernel.errors import KernelError, NotFound, Unavailable

View = Callable[..., HttpResponse]
_READ: Final = frozenset({"GET", "HEAD"})
_RETRY_AFTER: Final = "30"


class TooLarge(Exception):
    """A body beyond what is read."""


def message_of(request: HttpRequest) -> Message:
    """The request with its body, at most MAX_BYTES. Raises TooLarge."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > MAX_BYTES:
        raise TooLarge
    body = request.read(MAX_BYTES + 1) if request.method == "POST" else b""
    if len(body) > MAX_BYTES:
        raise TooLarge
    headers = {name.lower(): value for name, value in request.headers.items()}
    # HEAD is signed by nobody as such.
    target = request.META.get("RAW_URI") or request.get_full_path()
    return Message(request.method or "GET", target, headers, body, rate_key(client_ip(request)))


def reads(view: View) -> View:
    """For documents: GET and HEAD only; errors are JSON."""
    return _guarded(view, _READ)


def accepts(view: View) -> View:
    """For inboxes: POST only; errors are JSON."""
    return _guarded(view, frozenset({"POST"}))


def _guarded(view: View, methods: frozenset[str]) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, **values: str) -> HttpResponse:
        if request.method not in methods:
            return refusal(_("Not Found"), 404)
        try:
            return view(request, **values)
        except TooLarge:
            return HttpResponse(b"", status=413)
        except BadSignature as error:
            return refusal(str(error), 400 if error.malformed else 401)
        except Rejected as error:
            return refusal(str(error), 400)
        except NotFound:
            return refusal(_("Not Found"), 404)
        except Unavailable as error:
            response = refusal(error.message, 503)
            response.headers["Retry-After"] = _RETRY_AFTER
            return response
        except KernelError as error:
            return refusal(error.message, exceptions.status_of(error))

    guarded.csrf_exempt = True  # type: ignore[attr-defined]
    return guarded
