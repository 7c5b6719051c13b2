"""Choice of the language of an answer: that of `lang`, then the user's own, the browser's, the server's.

Pages also keep what was chosen, in a cookie that counts more than the user's own.
Source: contract, parameters section 0 ("lang").
"""

from __future__ import annotations

import threading
from typing import Any
from urllib.parse import parse_qsl

from django.conf import settings
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

COOKIE = "language"
_ACCEPT_LIMIT = 120


class _Thread(threading.local):
    """Language in which this thread answers. Django keeps it where each look takes as long as a small middleware."""

    language: str | None = None


_thread = _Thread()


def supported(code: str) -> str | None:
    """The language of ours that serves `code` (`de-AT` is served by `de`), None if there is none."""
    try:
        return translation.get_supported_language_variant(code[:35].lower())
    except LookupError:
        return None


def from_accept(header: str) -> str | None:
    """The first language of an Accept-Language header that we have (RFC 9110 section 12.5.4).

    Of a long header only the beginning counts: Django keeps a thousand of them with what they mean (security row 68).
    """
    if len(header) > _ACCEPT_LIMIT:
        header = header[:_ACCEPT_LIMIT].rpartition(",")[0]
    for code, _quality in parse_accept_lang_header(header.lower()):
        found = supported(code) if code != "*" else None
        if found is not None:
            return found
    return None


def asked_for(request: Any) -> str | None:
    """The supported language named by `?lang=`."""
    query = request.META.get("QUERY_STRING", "")
    if "lang=" not in query:
        return None
    wanted = dict(parse_qsl(query, max_num_fields=None)).get("lang")
    return supported(wanted) if wanted else None


def was_asked_for(request: Any) -> bool:
    """Tell whether `?lang=` decided, so that a user's own language does not."""
    return asked_for(request) is not None


def kept(request: Any) -> str | None:
    """The language chosen on an earlier page."""
    code = request.COOKIES.get(COOKIE)
    return supported(code) if code else None


def keep(response: Any, code: str) -> None:
    """Have the browser remember a chosen language for a year."""
    response.set_cookie(
        COOKIE, code, max_age=365 * 86400, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax"
    )


def activate(code: str) -> None:
    """Answer in `code` if it is ours; LanguageMiddleware puts the server's own back."""
    current = _thread.language or settings.LANGUAGE_CODE
    found = supported(code) if code != current else None
    if found is not None and found != current:
        translation.activate(found)
        _thread.language = found


def deactivate() -> None:
    """Answer in the server's own language again."""
    if _thread.language is not None:
        translation.deactivate()
        _thread.language = None


def activate_named(lang: Any) -> None:
    """Answer in the language that a parameter `lang` names; nothing happens when it names none of ours."""
    if isinstance(lang, str) and lang:
        activate(lang)


def of_request(request: Any) -> str:
    """The language before the user is known."""
    accept = request.META.get("HTTP_ACCEPT_LANGUAGE", "")
    return asked_for(request) or (from_accept(accept) if accept else None) or settings.LANGUAGE_CODE
