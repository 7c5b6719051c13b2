"""The page on which a person authorizes an application (parameters section 1; RFC 6749), and the texts that explain scopes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.encoding import iri_to_uri
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views import View
from oauth2_provider.exceptions import OAuthToolkitError
from oauth2_provider.views.mixins import OAuthLibMixin
from oauthlib.oauth2.rfc6749 import errors

from accounts.identity.pages.account_state import show_account_state
from accounts.identity.pages.steps import AUTHORIZE, allow_redirects_to, shown_name, sign_in_url, to_sign_in
from accounts.identity.policies.authorization import OUT_OF_BAND, granted_scopes, sentence_of, with_answer
from accounts.identity.queries.tokens import SignInState, find_sign_in_state, has_token
from accounts.identity.services.authorization_server import OAuthRequest
from accounts.models import Application, User
from accounts.pages.person import person
from social.api import scopes as tree
from social.api.fields import as_boolean
from social.kernel.text.names import unambiguous_domain
from social.pages.errors import error_page
from social.pages.frame import show, with_query

Kind = Literal["see", "change", "staff"]


@dataclass(frozen=True, slots=True)
class Permission:
    """Line of the consent page: the permission in words, and the scope as developers write it."""

    words: str | Promise
    scope: str


@dataclass(frozen=True, slots=True)
class Group:
    kind: Kind
    title: str | Promise
    permissions: list[Permission]


_TITLES: dict[Kind, str | Promise] = {
    "see": _("It can see"),
    "change": _("It can change"),
    "staff": _("It can moderate"),
}
_WORDS: dict[str, str | Promise] = {
    "read": _("See everything in your account: posts, private mentions, notifications, lists, filters and settings"),
    "read:accounts": _("See your profile and other people's"),
    "read:blocks": _("See whom you block"),
    "read:bookmarks": _("See your bookmarks"),
    "read:collections": _("See your collections"),
    "read:favourites": _("See your favourites"),
    "read:filters": _("See your filters"),
    "read:follows": _("See whom you follow and who follows you"),
    "read:lists": _("See your lists"),
    "read:mutes": _("See whom you mute"),
    "read:notifications": _("See your notifications"),
    "read:search": _("Search in your name"),
    "read:statuses": _("See all posts that you can see, including private mentions"),
    "write": _("Do everything in your name: post, delete, follow, block, report, and change your profile"),
    "write:accounts": _("Change your profile"),
    "write:blocks": _("Block and unblock people and servers"),
    "write:bookmarks": _("Set and remove bookmarks"),
    "write:collections": _("Make and change collections"),
    "write:conversations": _("Mark conversations as read and remove them"),
    "write:favourites": _("Set and remove favourites"),
    "write:filters": _("Make and change filters"),
    "write:follows": _("Follow and unfollow people"),
    "write:lists": _("Make and change lists"),
    "write:media": _("Upload pictures, videos and sounds"),
    "write:mutes": _("Mute and unmute people and conversations"),
    "write:notifications": _("Clear your notifications"),
    "write:reports": _("Report people to the moderators"),
    "write:statuses": _("Write, edit and delete posts"),
    "follow": _("Follow, mute and block people, and see whom you follow, mute and block"),
    "push": _("Send you push notifications"),
    "profile": _("See who you are: your name, address and picture"),
    "crypto": _("Use your end-to-end encryption keys"),
    "admin:read": _("See all data that moderators see"),
    "admin:write": _("Do everything that moderators can do"),
    "admin:read:accounts": _("See what moderators see about accounts"),
    "admin:read:reports": _("See reports and what was reported"),
    "admin:read:domain_allows": _("See all allowed servers"),
    "admin:read:domain_blocks": _("See all blocked servers"),
    "admin:read:ip_blocks": _("See all blocked network addresses"),
    "admin:read:email_domain_blocks": _("See all blocked e-mail providers"),
    "admin:read:canonical_email_blocks": _("See all blocked e-mail addresses"),
    "admin:write:accounts": _("Moderate accounts"),
    "admin:write:reports": _("Deal with reports"),
    "admin:write:domain_allows": _("Allow servers"),
    "admin:write:domain_blocks": _("Block servers"),
    "admin:write:ip_blocks": _("Block network addresses"),
    "admin:write:email_domain_blocks": _("Block e-mail providers"),
    "admin:write:canonical_email_blocks": _("Block e-mail addresses"),
}


def _kind(scope: str) -> Kind:
    if scope.startswith("admin:"):
        return "staff"
    return "change" if scope.startswith("write") or scope in ("follow", "crypto") else "see"


def permission_groups(scopes: Sequence[str]) -> list[Group]:
    """Group the permissions of these scopes for the page, in the order of the scope tree; implied scopes are left out."""
    granted = frozenset(scopes)
    shown = [
        scope for scope in tree.SCOPES if scope in granted and not (tree.sufficient_scopes(scope) - {scope}) & granted
    ]
    groups = [
        Group(kind, title, [Permission(_WORDS[scope], scope) for scope in shown if _kind(scope) == kind])
        for kind, title in _TITLES.items()
    ]
    return [group for group in groups if group.permissions]


# These errors are sent to the application. All other errors mean that the application's request is wrong, and are shown to the
# person.
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
    """`/oauth/authorize`: GET asks for consent, POST grants it, DELETE (or POST with `decision=deny`) refuses it.

    Only the code, `access_denied` and `invalid_scope` are sent to the application, and only for a signed-in person, because
    otherwise the page would be an open redirect.
    """

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Check the request in the same way for all three methods, then run the method."""
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
            return self._handle_request(request)
        except OAuthToolkitError as refused:
            return self._handle_error(request, refused.oauthlib_error)

    def _handle_request(self, request: HttpRequest) -> HttpResponse:
        oauth_request = OAuthRequest(self.sent, user=self.user)
        requested_scopes, credentials = self.validate_authorization_request(oauth_request)
        application = credentials["request"].client
        scopes = granted_scopes(requested_scopes, staff=self.user.is_staff)
        if not scopes:
            return self._handle_error(request, errors.InvalidScopeError())
        if request.method in ("GET", "HEAD") and not self._has_consent(application, scopes):
            return self._show_consent_page(request, application, scopes, narrowed=len(scopes) < len(requested_scopes))
        allow = not _denied(request)
        _uri, _headers, answer, _status = self.create_authorization_response(
            oauth_request, " ".join(scopes), credentials, allow
        )
        if self.redirect_uri == OUT_OF_BAND:
            return redirect(with_query(reverse("oauth_native"), code=answer["code"], lang=request.GET.get("lang")))
        return self._redirect_to_client(request, answer)

    def _has_consent(self, application: Application, scopes: tuple[str, ...]) -> bool:
        """Tell whether the person has granted exactly these scopes before; return False if the request sets `force_login`."""
        if as_boolean(self.sent.get("force_login")):
            return False
        return has_token(user=self.user, application=application, scopes=scopes)

    @property
    def redirect_uri(self) -> str:
        """The redirect URI of the request; once the request has been checked, it is a registered redirect URI."""
        return self.sent.get("redirect_uri", "")

    def _show_consent_page(
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
                # Signing out leads to the sign-in page, which leads back to this page.
                "other_account_url": sign_in_url(request, self._own_url(request)),
            },
        )
        allow_redirects_to(response, self.redirect_uri)
        return response

    def _handle_error(self, request: HttpRequest, error: errors.OAuth2Error) -> HttpResponse:
        if isinstance(error, errors.InvalidClientIdError | errors.MissingClientIdError):
            text = gettext(
                "This server does not know the application that sent you here. Try to sign in from the "
                "application again."
            )
            status, detail = (401, "invalid_client") if "client_id" in self.sent else (400, "invalid_request")
            return error_page(request, gettext("Unknown application"), text, status=status, detail=detail)
        if isinstance(error, errors.FatalClientError):
            text = gettext(
                "The application that sent you here wants the answer sent to an address that it has not "
                "registered. For your safety, the request was refused."
            )
            return error_page(request, gettext("Wrong address"), text, status=400, detail="invalid_redirect_uri")
        text = error.description or sentence_of(error.error)
        if self.redirect_uri == OUT_OF_BAND or error.error not in _SENT_BACK:
            return error_page(request, gettext("Not authorized"), text, status=400, detail=error.error)
        answer = {"error": error.error}
        if text.isascii():  # RFC 6749 section 4.1.2.1 allows no other characters
            answer["error_description"] = text
        if "state" in self.sent:
            answer["state"] = self.sent["state"]
        return self._redirect_to_client(request, answer)

    def _redirect_to_client(self, request: HttpRequest, answer: dict[str, str]) -> HttpResponse:
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
        # Django's own redirect refuses custom URI schemes, which apps use.
        response = HttpResponse(status=302)
        response.headers["Location"] = iri_to_uri(with_answer(uri, answer, fragment=mode == "fragment"))
        return response

    def _own_url(self, request: HttpRequest) -> str:
        return with_query(AUTHORIZE, **self.sent, lang=request.GET.get("lang"))


def native(request: HttpRequest) -> HttpResponse:
    """`/oauth/authorize/native`: shows the code, ready to be copied (contract, behaviours section 5 "Out of band")."""
    code = request.GET.get("code", "")
    if not _CODE.fullmatch(code):
        text = gettext("This address contains no code. Try to sign in from the application again.")
        return error_page(request, gettext("No code"), text, status=400)
    return show(request, "oauth/native.html", {"code": code})


def _denied(request: HttpRequest) -> bool:
    # Forms written for other server programs send DELETE as `_method=delete`.
    method = request.POST.get("_method") or request.method or ""
    return method.upper() == "DELETE" or request.POST.get("decision") == "deny"


def _host(uri: str) -> str:
    """Return the host of the URI, without a user name, and with non-ASCII characters in Punycode (security row 62)."""
    if not uri.lower().startswith(("http://", "https://")):
        return ""
    return unambiguous_domain(urlsplit(uri).netloc.rpartition("@")[2])


def _app_scheme(uri: str) -> str:
    return "" if _host(uri) else uri.partition(":")[0]
