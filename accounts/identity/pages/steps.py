"""Helper functions for the sign-in pages, for authorizing applications there, and for reauthentication with an issuer."""

from functools import wraps
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from allauth.account import app_settings
from allauth.account.authentication import get_authentication_records
from allauth.account.internal.stagekit import LOGIN_SESSION_KEY
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse

from accounts.identity.policies.authorization import form_action_source
from accounts.identity.queries.tokens import find_by_client_id
from accounts.models import Application, User
from accounts.queries.site_settings import find_registrations
from social.api import languages
from social.kernel import clock
from social.kernel.text.names import visible_text
from social.pages.frame import allow_forms_to, is_local_path, with_query
from social.pages.typed import store_form, with_key
from social.pages.views import View, page

AUTHORIZE = "/oauth/authorize"


def to_sign_in(request: HttpRequest, back: str | None = None) -> HttpResponse:
    """Redirect to the sign-in page, which then returns to this page with the submitted form, or to `back`."""
    key = store_form(request) if request.method == "POST" else ""
    here = with_key(request.get_full_path(), key)
    return HttpResponseRedirect(sign_in_url(request, here if key else back or here))


def sign_in_url(request: HttpRequest, back: str) -> str:
    """Return the address of the sign-in page, which then redirects to `back`."""
    return with_query(reverse("account_login"), next=back, lang=languages.from_query(request))


def allow_redirects_to(response: HttpResponseBase, redirect_uri: str) -> None:
    """Allow the forms of this page to redirect to an application, because browsers also check `form-action` for the redirect
    after a form.
    """
    source = form_action_source(redirect_uri)
    allow_forms_to(response, [source] if source is not None else [])


def shown_name(application: Application) -> str:
    """Return the name that an application gives itself, without invisible characters (security row 62)."""
    return visible_text(application.name) or application.client_id


def step(view: View) -> View:
    """Wrap a sign-in page, which redirects to the address in `next`.

    If `next` is an authorization request, the page names the application, and its forms may redirect to it.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        application, redirect_uri = _waiting_application(request)
        if application is not None:
            allow_redirects_to(response, redirect_uri)
        if isinstance(response, TemplateResponse):
            response.context_data = {**(response.context_data or {}), **_links(request, application)}
        return response

    return page(wrapped, in_popup=True)


def registrations() -> dict[str, bool]:
    """Return whether registrations are open, and whether they need approval, for pages that link to the sign-up."""
    state = find_registrations()
    return {"registrations_open": state != "closed", "approval_required": state == "approval"}


def _links(request: HttpRequest, application: Application | None) -> dict[str, Any]:
    next_url, lang = _next_path(request), languages.from_query(request)
    return {
        **registrations(),
        "login_url": with_query(reverse("account_login"), next=next_url, lang=lang),
        "signup_url": with_query(reverse("account_signup"), next=next_url, lang=lang),
        "application_name": shown_name(application) if application is not None else "",
    }


def _next_path(request: HttpRequest) -> str:
    """Return the path of the page to open after signing in, if it is a local one; otherwise an empty text."""
    path = request.POST.get("next") or request.GET.get("next") or ""
    if not path:
        # While the person is asked for the second factor, the session stores the path.
        pending = request.session.get(LOGIN_SESSION_KEY)
        path = (pending.get("redirect_url") or "") if isinstance(pending, dict) else ""
    return path if is_local_path(path) else ""


def _waiting_application(request: HttpRequest) -> tuple[Application | None, str]:
    parts = urlsplit(_next_path(request))
    if parts.path != AUTHORIZE:
        return None, ""
    query = dict(parse_qsl(parts.query))
    application = find_by_client_id(query.get("client_id", ""))
    redirect_uri = query.get("redirect_uri", "")
    if application is None or redirect_uri not in application.registered_redirect_uris:
        return None, ""
    return application, redirect_uri


#: Name of the method "reauthentication with an issuer" in allauth's records of a session.
ISSUER_METHOD: Final = "socialaccount"


def has_reauthenticated_with_issuer(request: HttpRequest, user: User) -> bool:
    """Tell whether the user has reauthenticated with their issuer within the last few minutes."""
    since = clock.now().timestamp() - app_settings.REAUTHENTICATION_TIMEOUT
    return any(
        record["method"] == ISSUER_METHOD and record.get("reauthenticated") and record["at"] > since
        for record in get_authentication_records(request, user)
    )
