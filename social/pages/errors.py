"""Error responses: JSON under /api, an error page on all other paths.

`social.urls` names these views: `handler400 = "social.pages.errors.bad_request"`, `handler403 = ...forbidden`, `handler404 =
...not_found`, `handler500 = ...server_error`. The views use no session, and read only the server's look from the database.
"""

import logging
import sys
import time
from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template import loader
from django.templatetags.static import static
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from social.api import languages, responses
from social.api.exceptions import FOREIGN_KEY_VIOLATION, status_of
from social.api.middleware import is_sessionless
from social.kernel.errors import Forbidden, Gone, KernelError, NotFound, RateLimited
from social.kernel.identity import known_identity
from social.pages.frame import Sharing, absolute, frame, protect
from social.pages.typed import sent_texts

logger = logging.getLogger(__name__)
_TOO_OFTEN: Final = gettext_noop("You have tried this too many times. Please wait a while, then try again.")
_UNREADABLE: Final = gettext_noop("Your browser sent something this server could not read.")


def error_page(
    request: HttpRequest, title: str, text: str, *, status: int, detail: str = "", may_query: bool = True
) -> HttpResponse:
    """Return a page that describes an error and what to do about it; `detail` is for developers. `may_query`: see `frame`."""
    context: dict[str, Any] = {
        **frame(request, may_query=may_query),
        # The user is unknown here, so the page's header shows no account.
        "in_popup": True,
        "sharing": Sharing("website", "", title, text, absolute(static("thumbnail.png"))),
        "status": status,
        "title": title,
        "text": text,
        "detail": detail,
        "request_id": getattr(request, "id", ""),
        "typed": sent_texts(request),
    }
    response = HttpResponse(loader.render_to_string("pages/error.html", context), status=status)
    # Errors occur in popups too, and the page holds no data that the opening window could steal.
    protect(response, in_popup=True)
    return response


def of_kernel(request: HttpRequest, error: KernelError) -> HttpResponse:
    """Return the page for a kernel error that a service or query raised."""
    if isinstance(error, NotFound):
        return not_found(request)
    if isinstance(error, Forbidden) and error.message == _(Forbidden.default):
        return forbidden(request)
    if isinstance(error, Forbidden):
        return error_page(request, error.said, _("You may not see or do this."), status=403)
    if isinstance(error, Gone):
        return error_page(request, _("Gone"), _("What was at this address has been deleted permanently."), status=410)
    status = status_of(error)
    if isinstance(error, RateLimited):
        return error_page(request, _("Too many attempts"), _(_TOO_OFTEN), status=status)
    return error_page(request, _("This did not work"), _sentence(error.said), status=status)


def _sentence(message: str) -> str:
    """Return a message of the API as a sentence for a page, with a full stop."""
    return message if message.endswith((".", "!", "?", "؟")) else f"{message}."


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return a 400 for a malformed request."""
    return _answer(request, 400, _("Bad Request"), _(_UNREADABLE))


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return a 403 for a request that is understood but refused."""
    return _answer(request, 403, _("This action is not allowed"), _("You may not see or do this."))


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return a 404, including for unknown paths."""
    return _answer(request, 404, _("Not Found"), _("There is nothing at this address, or you may not see it."))


def not_allowed(request: HttpRequest, refusal: HttpResponseNotAllowed) -> HttpResponse:
    """Return a 405 for a path that accepts only POST but was opened as a page."""
    text = _("This address only works from a button on a page. Go back, and press the button there.")
    response = error_page(request, _("This cannot be opened"), text, status=405)
    response.headers["Allow"] = refusal.headers["Allow"]
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Return a 500, or a 503 while the database does not answer, or a 404 if a row was deleted just when the request referred
    to it.

    The log has the traceback, with the request's id.
    """
    error = sys.exception()
    if isinstance(error, IntegrityError) and getattr(error.__cause__, "sqlstate", None) == FOREIGN_KEY_VIOLATION:
        logger.warning("a reference to a row that is gone: %s", error, extra={"path": request.path})
        return not_found(request)
    if isinstance(error, OperationalError | InterfaceError):
        return _unavailable(request, error)
    text = _("Something went wrong on this server. Trying again later may help.")
    return _answer(request, 500, _("Internal Server Error"), text)


def _unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("the database did not answer: %s", error, extra={"path": request.path})
    if is_sessionless(request.path_info):
        response = responses.error(_(responses.TRY_AGAIN), status=503)
    else:
        response = error_page(
            request, _("This did not work"), _sentence(_(responses.TRY_AGAIN)), status=503, may_query=False
        )
        response.headers["Retry-After"] = responses.RETRY_AFTER
    return response


def refused(status: int, path: str, headers: Mapping[str, str]) -> tuple[list[tuple[str, str]], bytes] | None:
    """Return the headers and body of the page for a request that the web server refused without reading it; None where errors
    are JSON.

    A page is made at most once a minute for each language, because many requests may be refused at the same time.
    """
    if is_sessionless(path) or "text/html" not in (headers.get("accept") or ""):
        return None
    language = languages.from_accept(headers.get("accept-language") or "")
    return _refused(
        status, language or known_identity().language or settings.LANGUAGE_CODE, int(time.monotonic() // 60)
    )


@lru_cache(maxsize=128)
def _refused(status: int, language: str, _minute: int) -> tuple[list[tuple[str, str]], bytes]:
    with translation.override(language):
        title, text = _("This did not work"), _sentence(_(responses.TRY_AGAIN))
        if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            title, text = _("This is too large"), _("Go back, and send less text or smaller files.")
        elif status == HTTPStatus.REQUEST_TIMEOUT:
            title, text = _("This took too long"), _("What you sent did not arrive in time. Go back, and try again.")
        elif status == HTTPStatus.TOO_MANY_REQUESTS:
            title, text = _("Too many attempts"), _(_TOO_OFTEN)
        elif status < HTTPStatus.INTERNAL_SERVER_ERROR:
            title, text = _("Bad Request"), _(_UNREADABLE)
        response = error_page(HttpRequest(), title, text, status=status, may_query=False)
    return [(name.lower(), value) for name, value in response.items()], response.content


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return a 403 for a form without a valid CSRF token, usually because the page was open for too long or the browser refuses
    cookies.
    """
    text = _(
        "This page was open for too long, or your browser does not accept cookies. Go back, reload, and try again."
    )
    return _answer(request, 403, _("The form has expired"), text)


def _answer(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    if is_sessionless(request.path_info):
        return responses.error(title, status=status)
    return error_page(request, title, text, status=status)
