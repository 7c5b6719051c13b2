"""The page on which a person lets an application use their account (parameters section 1; RFC 6749 section 4.1)."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.encoding import iri_to_uri
from django.utils.translation import gettext as _
from django.views import View
from oauth2_provider.exceptions import OAuthToolkitError
from oauth2_provider.views.mixins import OAuthLibMixin
from oauthlib.oauth2.rfc6749 import errors

from accounts.models import Application, User
from accounts.pages.account_state import show_account_state
from accounts.pages.person import person
from accounts.pages.scope_descriptions import permission_groups
from accounts.pages.steps import AUTHORIZE, allow_redirects_to, shown_name, sign_in_url, to_sign_in
from accounts.policies.authorization import granted_scopes, sentence_of
from accounts.policies.redirects import OUT_OF_BAND, with_answer
from accounts.queries.applications import has_token
from accounts.queries.identities import SignInState, find_sign_in_state
from accounts.services.authorization_server import OAuthRequest
from social.api.fields import as_boolean
from social.kernel.text.names import unambiguous_domain
from social.pages.errors import error_page
from social.pages.frame import show, with_query

# The other errors say that the request itself is wrong.
_SENT_BACK: Final = frozenset({"access_denied", "invalid_scope"})
_CODE: Final = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
_PARAMETERS: Final = (
    "client_id",
    "redirect_uri",
    "response_type",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
    "response_mode",
    "force_login",
)


class AuthorizeView(OAuthLibMixin, View):
    """`/oauth/authorize`: GET asks the person, POST answers, DELETE (or POST with `decision=deny`) refuses.

    What is wrong with the request is shown to the person. Sent back to the application are the code, `access_denied` and
    `invalid_scope`, but only for somebody who is signed in: else the page would send anybody anywhere.
    """

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Everything that is the same for all three, then the method."""
        if request.method not in ("GET", "HEAD", "POST", "DELETE"):
            return HttpResponseNotAllowed(["GET", "HEAD", "POST", "DELETE"])
        sent = {**request.GET.dict(), **request.POST.dict()}
        self.sent = {name: str(sent[name]) for name in _PARAMETERS if sent.get(name)}
        if not isinstance(request.user, User):
            return to_sign_in(request, self._own_url(request))
        self.user = request.user
        standing = find_sign_in_state(self.user)
        if standing is not SignInState.ACTIVE:
            return show_account_state(request, self.user, standing, back=self._own_url(request))
        try:
            return self._decide(request)
        except OAuthToolkitError as refused:
            return self._refuse(request, refused.oauthlib_error)

    def _decide(self, request: HttpRequest) -> HttpResponse:
        asked = OAuthRequest(self.sent, user=self.user)
        wanted, credentials = self.validate_authorization_request(asked)
        application = credentials["request"].client
        scopes = granted_scopes(wanted, staff=self.user.is_staff)
        if not scopes:
            return self._refuse(request, errors.InvalidScopeError())
        if request.method in ("GET", "HEAD") and not self._is_known(application, scopes):
            return self._ask(request, application, scopes, narrowed=len(scopes) < len(wanted))
        allow = not _denied(request)
        _uri, _headers, answer, _status = self.create_authorization_response(
            asked, " ".join(scopes), credentials, allow
        )
        if self.redirect_uri == OUT_OF_BAND:
            return redirect(with_query(reverse("oauth_native"), code=answer["code"], lang=request.GET.get("lang")))
        return self._answer(request, answer)

    def _is_known(self, application: Application, scopes: tuple[str, ...]) -> bool:
        """Whether nobody needs to be asked again."""
        if as_boolean(self.sent.get("force_login")):
            return False
        return has_token(user=self.user, application=application, scopes=scopes)

    @property
    def redirect_uri(self) -> str:
        """Where the application wants the answer; among its own addresses once the request has been checked."""
        return self.sent.get("redirect_uri", "")

    def _ask(
        self, request: HttpRequest, application: Application, scopes: tuple[str, ...], *, narrowed: bool
    ) -> HttpResponse:
        website = application.website
        response = show(
            request,
            "oauth/authorize.html",
            {
                **person(self.user.account),
                "application_name": shown_name(application),
                "website": website,
                "website_shown": _host(website) if website else "",
                "groups": permission_groups(scopes),
                "refused": narrowed,
                "parameters": list(self.sent.items()),
                "action": with_query(AUTHORIZE, lang=request.GET.get("lang")),
                "out_of_band": self.redirect_uri == OUT_OF_BAND,
                "destination": _host(self.redirect_uri),
                "app_scheme": _app_scheme(self.redirect_uri),
                # Signing out leads to the sign-in page, and that back to here.
                "other_account_url": sign_in_url(request, self._own_url(request)),
            },
        )
        allow_redirects_to(response, self.redirect_uri)
        return response

    def _refuse(self, request: HttpRequest, error: errors.OAuth2Error) -> HttpResponse:
        if isinstance(error, errors.InvalidClientIdError | errors.MissingClientIdError):
            text = _("The application that sent you here is not known to this server. Try to sign in from it again.")
            status, detail = (401, "invalid_client") if "client_id" in self.sent else (400, "invalid_request")
            return error_page(request, _("Unknown application"), text, status=status, detail=detail)
        if isinstance(error, errors.FatalClientError):
            text = _(
                "The application that sent you here wants the answer at an address it has not registered. "
                "For your safety this stops here."
            )
            return error_page(request, _("Wrong address"), text, status=400, detail="invalid_redirect_uri")
        text = error.description or sentence_of(error.error)
        if self.redirect_uri == OUT_OF_BAND or error.error not in _SENT_BACK:
            return error_page(request, _("Not authorized"), text, status=400, detail=error.error)
        answer = {"error": error.error}
        if text.isascii():  # RFC 6749 section 4.1.2.1 allows no other characters
            answer["error_description"] = text
        if "state" in self.sent:
            answer["state"] = self.sent["state"]
        return self._answer(request, answer)

    def _answer(self, request: HttpRequest, answer: dict[str, str]) -> HttpResponse:
        """Send the person back to the application with the answer."""
        uri, mode = self.redirect_uri, self.sent.get("response_mode")
        if mode == "form_post":
            context = {
                "redirect_uri": uri,
                "destination": _host(uri) or _app_scheme(uri),
                "answer": list(answer.items()),
            }
            response: HttpResponse = show(request, "oauth/form_post.html", context)
            allow_redirects_to(response, uri)
            return response
        # Django's own redirect refuses the schemes of apps.
        response = HttpResponse(status=302)
        response.headers["Location"] = iri_to_uri(with_answer(uri, answer, fragment=mode == "fragment"))
        return response

    def _own_url(self, request: HttpRequest) -> str:
        return with_query(AUTHORIZE, **self.sent, lang=request.GET.get("lang"))


def native(request: HttpRequest) -> HttpResponse:
    """`/oauth/authorize/native`: shows the code, ready to be copied (contract, behaviours section 5 "Out of band")."""
    code = request.GET.get("code", "")
    if not _CODE.fullmatch(code):
        text = _("There is no code in this address. Try to sign in from the application again.")
        return error_page(request, _("No code"), text, status=400)
    return show(request, "oauth/native.html", {"code": code})


def _denied(request: HttpRequest) -> bool:
    # `_method=delete` is how forms of other programs spell DELETE.
    method = request.POST.get("_method") or request.method or ""
    return method.upper() == "DELETE" or request.POST.get("decision") == "deny"


def _host(uri: str) -> str:
    """Who is called, without what could pass for it: names before the host, letters of other scripts (row 62)."""
    if not uri.lower().startswith(("http://", "https://")):
        return ""
    return unambiguous_domain(urlsplit(uri).netloc.rpartition("@")[2])


def _app_scheme(uri: str) -> str:
    return "" if _host(uri) else uri.partition(":")[0]
