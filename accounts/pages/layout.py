"""Knows what all pages for people have in common: their headers, their frame, and what an error looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from allauth.account.internal.stagekit import LOGIN_SESSION_KEY
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from accounts.models import Account, Application
from accounts.policies.redirects import form_action_source
from accounts.queries.applications import find_by_client_id
from social.api import languages
from social.api.exceptions import status_of
from social.kernel.errors import KernelError, RateLimited

View = Callable[..., HttpResponseBase]
AUTHORIZE = "/oauth/authorize"


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


def show_error(request: HttpRequest, title: str, text: str, *, status: int, detail: str = "") -> TemplateResponse:
    """A page that says what went wrong and what to do."""
    return show(request, "pages/error.html", {"title": title, "text": text, "detail": detail}, status=status)


def person(account: Account) -> dict[str, Any]:
    """What `pages/person.html` shows of an account."""
    # A path, not an address: the page may be read by another name of this server, and shows pictures of its own only.
    avatar = f"{settings.MEDIA_URL}{account.avatar}" if account.avatar else static("avatar.png")
    return {"account": account, "avatar": avatar}


def to_sign_in(request: HttpRequest, back: str | None = None) -> HttpResponse:
    """Send somebody to sign in who then comes back to this page (or to `back`), in the language asked for."""
    return HttpResponseRedirect(sign_in_url(request, back or request.get_full_path()))


def sign_in_url(request: HttpRequest, back: str) -> str:
    """The address of the sign-in page that leads back."""
    return with_query(reverse("account_login"), next=back, lang=languages.asked_for(request))


def allow_forms_to(response: HttpResponseBase, uris: Iterable[str]) -> None:
    """Let the forms of this page end at these addresses too (security row 46)."""
    response.form_action_sources = [  # type: ignore[attr-defined]
        source for source in map(form_action_source, uris) if source is not None
    ]


def page(view: View, *, entrance: bool = False) -> View:
    """Wrap a view whose answers are pages: it gives them frame and security headers, and shows kernel errors.

    `entrance`: the page may lead on to the address in `next`. Where that is a request for authorization, the page
    names the application, and its forms may end where the application is called: somebody who has authorized it
    before goes there straight from the form, and browsers check `form-action` on redirects too.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response = view(request, *args, **kwargs)
        except KernelError as error:
            response = _of_error(request, error)
        application, redirect_uri = _waiting_application(request) if entrance else (None, "")
        if application is not None:
            allow_forms_to(response, [redirect_uri])
        if isinstance(response, TemplateResponse):
            _frame(request, response, application)
        _headers(response)
        return response

    return wrapped


def _of_error(request: HttpRequest, error: KernelError) -> TemplateResponse:
    status = status_of(error)
    if isinstance(error, RateLimited):
        text = _("You have tried this too often. Please wait a while, then try again.")
        return show_error(request, _("Too many attempts"), text, status=status)
    return show_error(request, _("This did not work"), error.message, status=status)


def _frame(request: HttpRequest, response: TemplateResponse, application: Application | None) -> None:
    next_url, lang = _next(request), languages.asked_for(request)
    frame: dict[str, Any] = {
        "site_domain": settings.LOCAL_DOMAIN,
        "languages": _languages(request),
        "registrations_open": settings.REGISTRATIONS != "closed",
        "approval_required": settings.REGISTRATIONS == "approval",
        "login_url": with_query(reverse("account_login"), next=next_url, lang=lang),
        "signup_url": with_query(reverse("account_signup"), next=next_url, lang=lang),
        "about_url": _url_of("about"),
        "privacy_url": _url_of("privacy_policy"),
    }
    if application is not None:
        frame["application_name"] = application.name
    response.context_data = {**(response.context_data or {}), **frame}


def _headers(response: HttpResponseBase) -> None:
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


def _url_of(name: str) -> str:
    """The address of a page of a floor above; empty where that is unplugged."""
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""


def _next(request: HttpRequest) -> str:
    """Where the person wants to go after signing in, if it is a page of ours."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    if not wanted:
        # Between password and second factor it waits in the session.
        pending = request.session.get(LOGIN_SESSION_KEY)
        wanted = (pending.get("redirect_url") or "") if isinstance(pending, dict) else ""
    return wanted if is_local_path(wanted) else ""


def _waiting_application(request: HttpRequest) -> tuple[Application | None, str]:
    parts = urlsplit(_next(request))
    if parts.path != AUTHORIZE:
        return None, ""
    query = dict(parse_qsl(parts.query))
    application = find_by_client_id(query.get("client_id", ""))
    redirect_uri = query.get("redirect_uri", "")
    if application is None or redirect_uri not in application.registered_redirect_uris:
        return None, ""
    return application, redirect_uri
