"""Answers to errors: status, body, headers (contract, behaviours section 3, entities "Errors")."""

import errno
import logging
from typing import Any, Final

from django.core import exceptions as django_errors
from django.core.signals import got_request_exception
from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpResponse, UnreadablePostError
from django.utils.translation import gettext as _
from rest_framework import exceptions as drf_errors

from social.api import responses
from social.api.inputs import field_errors
from social.api.parsers import MalformedJson
from social.kernel import errors
from social.kernel.lengths import is_refused_value

logger = logging.getLogger("social.api")

STATUS: dict[type[errors.KernelError], int] = {
    errors.BadRequest: 400,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Gone: 410,
    errors.Invalid: 422,
    errors.RateLimited: 429,
    errors.Unavailable: 503,
    errors.KernelError: 500,
}
"""The status code of each kernel error; a subclass has the code of its nearest ancestor."""

FOREIGN_KEY_VIOLATION: Final = "23503"  # PostgreSQL's state for a reference to a row that does not exist

# Django and DRF errors, each of which is answered like a kernel error.
_EQUIVALENTS: Final[tuple[tuple[tuple[type[Exception], ...], type[errors.KernelError]], ...]] = (
    ((Http404, django_errors.ObjectDoesNotExist), errors.NotFound),
    ((django_errors.PermissionDenied, drf_errors.PermissionDenied), errors.Forbidden),
    ((drf_errors.NotAuthenticated, drf_errors.AuthenticationFailed), errors.Unauthorized),
    ((drf_errors.Throttled,), errors.RateLimited),
    (
        (django_errors.SuspiciousOperation, django_errors.BadRequest, UnreadablePostError, drf_errors.ParseError),
        errors.BadRequest,
    ),
)
# Seconds of `Retry-After` while the disk is full: time for an operator to free some space.
_FULL_DISK_SECONDS = 30
# Fields of a RateLimited error that are left out of the body. The headers with their values come from the admission's counters.
_HEADER_FIELDS = ("limit", "remaining", "reset")


def exception_handler(exc: Exception, context: dict[str, Any]) -> HttpResponse:
    """Return the answer to an exception raised by an action or by the check of the caller: always JSON, without a
    traceback.

    An unforeseen exception is logged with its traceback and sent to Django's `got_request_exception` (for error trackers).
    """
    if isinstance(exc, errors.KernelError):
        return _of_kernel(exc)
    for kinds, equivalent in _EQUIVALENTS:
        if isinstance(exc, kinds):
            return _of_kernel(equivalent())
    if isinstance(exc, drf_errors.APIException):
        return _of_drf(exc)
    if isinstance(exc, django_errors.ValidationError):
        return _of_kernel(errors.Invalid.sentence(", ".join(exc.messages)))
    if isinstance(exc, DatabaseError | InterfaceError):
        return _of_database(exc, context)
    if isinstance(exc, OSError) and exc.errno in (errno.ENOSPC, errno.EDQUOT):
        logger.error("the disk is full: %s", exc, extra=_about(context))
        response = _of_kernel(errors.Unavailable(_(responses.TRY_AGAIN)))
        response.headers["Retry-After"] = str(_FULL_DISK_SECONDS)
        return response
    return _answer_unforeseen(exc, context)


def status_of(error: errors.KernelError) -> int:
    return next(STATUS[ancestor] for ancestor in type(error).__mro__ if ancestor in STATUS)


def unauthorized_headers(message: str) -> dict[str, str]:
    """Return the `WWW-Authenticate` header of a 401 (RFC 6750 section 3), without the message if it is not ASCII."""
    if not message.isascii():
        return {"WWW-Authenticate": 'Bearer realm="Social", error="invalid_token"'}
    described = message.replace('"', "'")
    return {"WWW-Authenticate": f'Bearer realm="Social", error="invalid_token", error_description="{described}"'}


def _of_kernel(exc: errors.KernelError) -> HttpResponse:
    """Return the answer to a kernel error. The text of a 404 is not translated, as in Mastodon, because apps recognise it
    (cheeaun/phanpy, TheBLVD/mammoth#486).
    """
    status = status_of(exc)
    message = exc.untranslated if status == 404 else exc.message
    extra = {name: value for name, value in exc.extra.items() if name not in _HEADER_FIELDS}
    headers = unauthorized_headers(message) if status == 401 else None
    return responses.error(message, status=status, headers=headers, **extra)


def _of_drf(exc: drf_errors.APIException) -> HttpResponse:
    if isinstance(exc, drf_errors.ValidationError):
        return _of_kernel(errors.Invalid.of(field_errors(exc)))
    if isinstance(exc, drf_errors.NotFound | drf_errors.MethodNotAllowed):
        return _of_kernel(errors.NotFound("Not Found"))
    if isinstance(exc, MalformedJson):
        # Only this error has its status in the body, because in Mastodon the web server sends it, not the API.
        return responses.reply({"status": exc.status_code, "error": str(exc.detail)}, status=exc.status_code)
    return responses.error(str(exc.detail), status=exc.status_code)


def _of_database(exc: Exception, context: dict[str, Any]) -> HttpResponse:
    state = getattr(exc.__cause__, "sqlstate", None) if isinstance(exc, IntegrityError) else None
    if state == "23505":
        return _of_kernel(errors.Invalid(_("Duplicate record")))
    if state == FOREIGN_KEY_VIOLATION:
        # The row to which the change refers was deleted at the same moment, and no lock prevented that
        # (`social.kernel.locks`).
        logger.warning("a reference to a row that is gone: %s", exc, extra=_about(context))
        return _of_kernel(errors.NotFound())
    if isinstance(exc, DatabaseError) and is_refused_value(exc):
        logger.error("a value that no check refused: %s", exc, extra=_about(context))
        return _of_kernel(errors.Invalid(_("Record invalid")))
    if isinstance(exc, OperationalError | InterfaceError):
        logger.error("the database did not answer: %s", exc, extra=_about(context))
        return _of_kernel(errors.Unavailable(_(responses.TRY_AGAIN)))
    return _answer_unforeseen(exc, context)


def _answer_unforeseen(exc: Exception, context: dict[str, Any]) -> HttpResponse:
    logger.error("unforeseen error", exc_info=exc, extra=_about(context))
    request = context.get("request")
    got_request_exception.send(sender=None, request=getattr(request, "_request", request))
    return responses.error(_("Internal Server Error"), status=500)


def _about(context: dict[str, Any]) -> dict[str, Any]:
    request = context.get("request")
    return {"path": getattr(request, "path", ""), "request_id": getattr(request, "id", "")}
