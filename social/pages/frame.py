"""What all pages for people have in common: their security headers and what `base.html` shows around them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme

R = TypeVar("R", bound=HttpResponseBase)


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


def allow_scripts(response: R) -> R:
    """Let this page run scripts of this server, which may ask this server: for passkeys, and for the height of a frame."""
    response.runs_scripts = True  # type: ignore[attr-defined]  # read below, where the policy is written
    return response


def allow_framing(response: R) -> R:
    """Let pages of any site show this page in a frame: for what anybody may read, and where nothing can be pressed."""
    response.framed_by_anyone = True  # type: ignore[attr-defined]  # read below, where the policy is written
    response.xframe_options_exempt = True  # type: ignore[attr-defined]  # read by Django's middleware
    return response


def frame(request: HttpRequest) -> dict[str, Any]:
    """What `base.html` shows around a page. Asks neither database nor session: errors are shown in it too."""
    return {
        "site_domain": settings.LOCAL_DOMAIN,
        "languages": _languages(request),
        "about_url": url_of("about"),
        "privacy_url": url_of("privacy_policy"),
    }


def _media_source() -> str:
    """The server of the files, where it is another one."""
    parts = urlsplit(settings.MEDIA_URL)
    return f" {parts.scheme}://{parts.netloc}" if parts.netloc else ""


def protect(response: HttpResponseBase, *, in_popup: bool = False) -> None:
    """No script (but see `allow_scripts`), nothing from elsewhere, no frame around it (but see `allow_framing`), and no copy
    of it in any cache.
    """
    sources = ["'self'", *getattr(response, "form_action_sources", ())]
    policy = {
        "default-src": "'none'",
        "style-src": "'self'",
        "img-src": f"'self' data:{_media_source()}",
        "media-src": f"'self'{_media_source()}",
        "form-action": " ".join(dict.fromkeys(sources)),
        "base-uri": "'none'",
        "frame-ancestors": "*" if getattr(response, "framed_by_anyone", False) else "'none'",
    }
    if getattr(response, "runs_scripts", False):
        policy |= {"script-src": "'self'", "connect-src": "'self'"}
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
