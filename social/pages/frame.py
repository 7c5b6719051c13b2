"""Frame of the pages: security headers, the context of `base.html`, and previews of shared links (ogp.me, oembed.com)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from http import HTTPStatus
from typing import Any, Final, TypeVar
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from social.kernel import links
from social.kernel.identity import current_identity, known_identity
from social.kernel.text.markup import plain
from social.pages.look import look_of

R = TypeVar("R", bound=HttpResponseBase)
# Long enough for a link that many people open at the same time, short enough that new posts are soon visible.
_CACHED: Final = "public, max-age=15"


def is_local_path(url: str) -> bool:
    """Tell whether a redirect target stays on this server: a path that no browser reads as a host (security row 30)."""
    return url.startswith("/") and url_has_allowed_host_and_scheme(url, allowed_hosts=None)


def with_query(path: str, **values: str | None) -> str:
    """Return a path of this server, with the values that are not empty as its query."""
    query = urlencode({name: value for name, value in values.items() if value})
    return f"{path}?{query}" if query else path


def show(request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200) -> TemplateResponse:
    """Return the response for a page; the decorator `page` adds the context of its frame."""
    return TemplateResponse(request, template, context, status=status)


def allow_forms_to(response: HttpResponseBase, sources: Iterable[str]) -> None:
    """Allow this page's forms to be sent to these Content-Security-Policy sources, even through redirects (security row 46)."""
    response.form_action_sources = list(sources)  # type: ignore[attr-defined]  # read by the middleware


def allow_scripts(response: R) -> R:
    """Allow this page to run scripts of this server, which may send requests to it (passkeys, the height of a frame)."""
    response.runs_scripts = True  # type: ignore[attr-defined]  # read below, where the policy is written
    return response


def allow_widget(response: R, sources: Iterable[str]) -> R:
    """Allow this page to run a widget that comes from these Content-Security-Policy sources (a captcha)."""
    response.widget_sources = " ".join(sources)  # type: ignore[attr-defined]  # read below, where the policy is written
    return response


def stream_url() -> str:
    """Return the address of the streams for pages; empty if the streams are on another host, which gets no session cookie."""
    own, streams = urlsplit(settings.BASE_URL), urlsplit(settings.STREAMING_URL)
    return settings.STREAMING_URL if own.hostname == streams.hostname else ""


def allow_caching(response: R) -> R:
    """Allow caches to store this public page for a few seconds, for readers without cookies."""
    response.same_for_anybody = True  # type: ignore[attr-defined]  # read below, where the header is written
    return response


def allow_framing(response: R) -> R:
    """Allow pages of any site to show this page in a frame. Only for public pages without buttons."""
    response.framed_by_anyone = True  # type: ignore[attr-defined]  # read below, where the policy is written
    response.xframe_options_exempt = True  # type: ignore[attr-defined]  # read by Django's middleware
    return response


def frame(request: HttpRequest, *, may_query: bool = True) -> dict[str, Any]:
    """Return the context of `base.html`.

    Uses no session, and queries the database at most once every few seconds, or never if `may_query` is False, as for pages
    about a database that does not answer. `here` is the path of the page with its query, the value of the field `next` of
    forms, and `back_here` is the query `next=` with this value.
    """
    return {
        **look_of(current_identity() if may_query else known_identity()),
        "site_domain": settings.LOCAL_DOMAIN,
        "languages": _languages(request),
        "about_url": url_of("about"),
        "privacy_url": url_of("privacy_policy"),
        "explore_url": url_of("explore"),
        "sign_in_url": url_of("account_login"),
        "here": request.get_full_path(),
        "back_here": urlencode({"next": request.get_full_path()}),
    }


def protect(response: HttpResponseBase, *, in_popup: bool = False, cookies: bool = True, streams: bool = False) -> None:
    """Set the security headers. The headers forbid scripts (but see `allow_scripts`), content from other origins (but see
    `allow_widget`), framing by other pages (but see `allow_framing`) and caching (but see `allow_caching`). `cookies`: whether
    the answer may depend on cookies or set one. `streams`: whether the page runs scripts of this server, which open the streams
    that a browser's session may read.
    """
    sources = ["'self'", *getattr(response, "form_action_sources", ())]
    policy = {
        "default-src": "'none'",
        "style-src": "'self'",
        "img-src": f"'self' data:{links.media_source()}",
        "media-src": f"'self'{links.media_source()}",
        "form-action": " ".join(dict.fromkeys(sources)),
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "*" if getattr(response, "framed_by_anyone", False) else "'none'",
    }
    if streams or getattr(response, "runs_scripts", False):
        policy |= {"script-src": "'self'", "connect-src": f"'self' {stream_url() if streams else ''}".strip()}
    if widget := getattr(response, "widget_sources", ""):
        for name in ("script-src", "style-src", "connect-src", "frame-src"):
            policy[name] = f"{policy.get(name, '')} {widget}".strip()
    response.headers["Content-Security-Policy"] = "; ".join(f"{name} {value}" for name, value in policy.items())
    cacheable = getattr(response, "same_for_anybody", False) and not cookies and response.status_code == HTTPStatus.OK
    response.headers["Cache-Control"] = _CACHED if cacheable else "private, no-store"
    patch_vary_headers(response, ("Accept-Language", "Cookie"))
    if in_popup:
        # Web clients open these pages in a window and need its handle; any other value would remove it (clients.md, trap 51).
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


@cache
def _fixed_url(name: str) -> str:
    # A page for members contains thirty URLs, and each call of `reverse` takes half as long as rendering a post.
    return reverse(name)


def url_of(name: str, **values: Any) -> str:
    """Return the path of a page of another app; empty if the app is not installed."""
    try:
        return reverse(name, kwargs=values) if values else _fixed_url(name)
    except NoReverseMatch:
        return ""


DESCRIPTION_LENGTH = 300


@dataclass(frozen=True)
class Sharing:
    """The context `sharing` of `pages/sharing.html`. URLs are absolute; empty values are left out.

    Without an `image` the server's thumbnail is shown. `kind` is a type of the Open Graph protocol; `embed_url` is the URL
    of the page's oEmbed document.
    """

    kind: str
    url: str
    title: str
    description: str = ""
    image: str = ""
    image_description: str = ""
    large_image: bool = False
    published_at: datetime | None = None
    username: str = ""
    embed_url: str = ""

    @property
    def cut_description(self) -> str:
        """The description, shortened to what previews show."""
        text = self.description
        return text if len(text) <= DESCRIPTION_LENGTH else f"{text[: DESCRIPTION_LENGTH - 1].rstrip()}…"


def absolute(address: str) -> str:
    """Return the URL of a path of this server; any other URL unchanged."""
    return links.web_url(address) if address.startswith("/") else address


def path_of(url: str | None) -> str:
    """Return the path of a URL of this server, so that links work under another host name; return other URLs unchanged, "" for
    None.
    """
    return (url or "").removeprefix(settings.BASE_URL)


def shown_picture(address: str) -> str:
    """Return the absolute URL of a picture for previews; empty for the default avatar and for no picture."""
    return "" if address in ("", static("avatars/original/missing.png")) else absolute(address)


def sharing_of_site(path: str, *, title: str = "", description: str = "") -> Sharing:
    """Return the preview of a page about the whole site instead of an account."""
    return Sharing(
        kind="website",
        url=links.web_url(path),
        title=title or current_identity().name,
        description=description
        or plain(current_identity().description)
        or _("A social networking server, open to the fediverse."),
        large_image=True,
    )
