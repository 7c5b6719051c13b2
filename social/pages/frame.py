"""Knows what all pages for people have in common: their security headers and what `base.html` shows around them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme


def is_local_path(url: str) -> bool:
    """Whether a redirect to this stays on this server: a path, and nothing a browser reads as a host (row 30)."""
    return url.startswith("/") and url_has_allowed_host_and_scheme(url, allowed_hosts=None)


def with_query(path: str, **values: str | None) -> str:
    """A path of ours with the values that are not empty as its query."""
    query = urlencode({name: value for name, value in values.items() if value})
    return f"{path}?{query}" if query else path


def show(request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200) -> TemplateResponse:
    """A page; `page` gives it its frame."""
    return TemplateResponse(request, template, context, status=status)


def allow_forms_to(response: HttpResponseBase, sources: Iterable[str]) -> None:
    """Let the forms of this page end at these Content-Security-Policy sources too (security row 46)."""
    response.form_action_sources = list(sources)  # type: ignore[attr-defined]


def frame(request: HttpRequest) -> dict[str, Any]:
    """What `base.html` shows around a page. Asks neither database nor session: errors are shown in it too."""
    return {
        "site_domain": settings.LOCAL_DOMAIN,
        "languages": _languages(request),
        "about_url": url_of("about"),
        "privacy_url": url_of("privacy_policy"),
    }


def protect(response: HttpResponseBase, *, in_popup: bool = False) -> None:
    """No script, nothing from elsewhere, no frame around it, and no copy of it in any cache."""
    sources = ["'self'", *getattr(response, "form_action_sources", ())]
    policy = {
        "default-src": "'none'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "form-action": " ".join(dict.fromkeys(sources)),
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    response.headers["Content-Security-Policy"] = "; ".join(f"{name} {value}" for name, value in policy.items())
    response.headers["Cache-Control"] = "private, no-store"
    if in_popup:
        # Web clients open these in a window whose handle they keep; any other value takes it from them (client trap 51).
        response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"


def _languages(request: HttpRequest) -> list[dict[str, Any]]:
    current = translation.get_language()
    query = {name: value for name, value in request.GET.items() if name != "lang"}
    return [
        {
            "code": code,
            "name": LANG_INFO.get(code, {}).get("name_local", code),
            "url": f"?{urlencode({**query, 'lang': code})}",
            "current": code == current,
        }
        for code, _name in settings.LANGUAGES
    ]


def url_of(name: str, **values: Any) -> str:
    """The path of a page of another app; empty where that is not installed."""
    try:
        return reverse(name, kwargs=values or None)
    except NoReverseMatch:
        return ""
