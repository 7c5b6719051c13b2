"""The page on which a person lets an application use their account (parameters section 1; RFC 6749 section 4.1)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.encoding import iri_to_uri
from django.utils.translation import gettext as _
from django.views import View

from accounts.models import User
from accounts.pages.account_state import show_account_state
from accounts.pages.person import person
from accounts.pages.scope_descriptions import permissions
from accounts.pages.steps import AUTHORIZE, allow_redirects_to, shown_name, sign_in_url, to_sign_in
from accounts.policies.authorization import AuthorizationRequest, Refusal, granted_scopes, refusal, requested_scopes
from accounts.policies.redirects import OUT_OF_BAND, with_answer
from accounts.queries.applications import find_by_client_id, has_token
from accounts.queries.identities import SignInState, find_sign_in_state
from accounts.services.tokens import issue_code
from social.api.fields import as_boolean
from social.kernel.text.names import unambiguous_domain
from social.pages.errors import error_page
from social.pages.frame import show, with_query

# The other errors say that the request itself is wrong.
_SENT_BACK = frozenset({"access_denied", "invalid_scope"})
_CODE = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
_PARAMETERS = (
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


class AuthorizeView(View):
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
        self.ask = _parse(self.sent)
        application = find_by_client_id(self.ask.client_id)
        if application is None:
            text = _("The application that sent you here is not known to this server. Try to sign in from it again.")
            status, detail = (401, "invalid_client") if self.ask.client_id else (400, "invalid_request")
            return error_page(request, _("Unknown application"), text, status=status, detail=detail)
        if self.ask.redirect_uri not in application.registered_redirect_uris:
            text = _(
                "The application that sent you here wants the answer at an address it has not registered. "
                "For your safety this stops here."
            )
            return error_page(request, _("Wrong address"), text, status=400, detail="invalid_redirect_uri")
        self.application = application
        if not isinstance(request.user, User):
            return to_sign_in(request, self._own_url(request))
        self.user = request.user
        standing = find_sign_in_state(self.user)
        if standing is not SignInState.ACTIVE:
            return show_account_state(request, self.user, standing, back=self._own_url(request))
        return self._decide(request)

    def _decide(self, request: HttpRequest) -> HttpResponse:
        refused = refusal(self.ask, self.application.scope_list)
        if refused is not None:
            return self._refuse(request, refused)
        wanted = requested_scopes(self.ask)
        scopes = granted_scopes(wanted, staff=self.user.is_staff)
        if not scopes:
            text = _("The requested scope is invalid, unknown, or malformed.")
            return self._refuse(request, Refusal("invalid_scope", text))
        if request.method == "DELETE" or (request.method == "POST" and _denied(request)):
            text = _("The resource owner or authorization server denied the request.")
            return self._refuse(request, Refusal("access_denied", text))
        if request.method == "POST":
            return self._grant(request, scopes)
        if not self.ask.force_login and has_token(user=self.user, application=self.application, scopes=scopes):
            return self._grant(request, scopes)
        return self._ask(request, scopes, narrowed=len(scopes) < len(wanted))

    def _ask(self, request: HttpRequest, scopes: tuple[str, ...], *, narrowed: bool) -> HttpResponse:
        website = self.application.website
        response = show(
            request,
            "oauth/authorize.html",
            {
                **person(self.user.account),
                "application_name": shown_name(self.application),
                "website": website,
                "website_shown": _host(website) if website else "",
                "scopes": permissions(scopes),
                "refused": narrowed,
                "parameters": list(self.sent.items()),
                "action": with_query(AUTHORIZE, lang=request.GET.get("lang")),
                "out_of_band": self.ask.redirect_uri == OUT_OF_BAND,
                "destination": _host(self.ask.redirect_uri),
                "app_scheme": _app_scheme(self.ask.redirect_uri),
                # Signing out leads to the sign-in page, and that back to here.
                "other_account_url": sign_in_url(request, self._own_url(request)),
            },
        )
        allow_redirects_to(response, self.ask.redirect_uri)
        return response

    def _grant(self, request: HttpRequest, scopes: tuple[str, ...]) -> HttpResponse:
        code = issue_code(
            application=self.application,
            user=self.user,
            redirect_uri=self.ask.redirect_uri,
            scopes=scopes,
            code_challenge=self.ask.code_challenge,
        )
        if self.ask.redirect_uri == OUT_OF_BAND:
            return redirect(with_query(reverse("oauth_native"), code=code, lang=request.GET.get("lang")))
        return self._answer(request, {"code": code})

    def _refuse(self, request: HttpRequest, refused: Refusal) -> HttpResponse:
        if self.ask.redirect_uri == OUT_OF_BAND or refused.error not in _SENT_BACK:
            title = _("Not authorized")
            return error_page(request, title, refused.description, status=400, detail=refused.error)
        answer = {"error": refused.error}
        if refused.description.isascii():  # RFC 6749 section 4.1.2.1 allows no other characters
            answer["error_description"] = refused.description
        return self._answer(request, answer)

    def _answer(self, request: HttpRequest, answer: dict[str, str]) -> HttpResponse:
        """Send the person back to the application with the answer, and with its own `state` untouched."""
        if self.ask.state is not None:
            answer["state"] = self.ask.state
        uri = self.ask.redirect_uri
        if self.ask.response_mode == "form_post":
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
        response.headers["Location"] = iri_to_uri(
            with_answer(uri, answer, fragment=self.ask.response_mode == "fragment")
        )
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


def _parse(sent: dict[str, str]) -> AuthorizationRequest:
    return AuthorizationRequest(
        client_id=sent.get("client_id", ""),
        redirect_uri=sent.get("redirect_uri", ""),
        response_type=sent.get("response_type", ""),
        scope=sent.get("scope", ""),
        state=sent.get("state"),
        code_challenge=sent.get("code_challenge", ""),
        code_challenge_method=sent.get("code_challenge_method", ""),
        response_mode=sent.get("response_mode", ""),
        force_login=as_boolean(sent.get("force_login")),
    )


def _denied(request: HttpRequest) -> bool:
    # `_method=delete` is how forms of other programs spell DELETE.
    return request.POST.get("decision") == "deny" or request.POST.get("_method", "").lower() == "delete"


def _host(uri: str) -> str:
    """Who is called, without what could pass for it: names before the host, letters of other scripts (row 62)."""
    if not uri.lower().startswith(("http://", "https://")):
        return ""
    return unambiguous_domain(urlsplit(uri).netloc.rpartition("@")[2])


def _app_scheme(uri: str) -> str:
    return "" if _host(uri) else uri.partition(":")[0]
