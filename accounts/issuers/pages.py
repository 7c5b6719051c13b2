"""Pages for signing in through issuers: redirects, the sign-up form for new people, linked identities, and signing out."""

from typing import Any, Final

from allauth.account import views as account_views
from allauth.account.internal.flows.reauthentication import resume_request
from allauth.socialaccount.internal import flows
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.views import SignupView
from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.identity.adapters import ISSUER_SESSION
from accounts.identity.pages.forms import SignUpForm
from accounts.identity.pages.steps import has_reauthenticated_with_issuer
from accounts.identity.policies.sign_up import Identity, SignUpDraft
from accounts.identity.queries.sign_in import load_identities
from accounts.identity.queries.sign_up import find_usable_invite
from accounts.identity.services.confirmations import bounded
from accounts.identity.services.signing_up import sign_up
from accounts.issuers.adapter import IssuerOAuth2Adapter
from accounts.issuers.services import find_issuer, follow_role, sign_out_url, unlink_identity
from accounts.models import User
from accounts.pages.settings import signed_in
from social.api import admission, limits
from social.api.addresses import client_ip, rate_key
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden, Invalid, NotFound
from social.kernel.links import web_url
from social.pages.frame import show, with_query

#: Number of seconds after the issuer's response within which the sign-up form can be submitted.
_PENDING_SECONDS: Final = 3600


@require_POST
def begin(request: HttpRequest, issuer_id: str, *, process: str = AuthProcess.LOGIN) -> HttpResponse:
    """`POST /auth/with/:issuer`: continue at the issuer, to sign in, link an identity or reauthenticate (`process`).

    Raises NotFound, RateLimited, Unavailable.
    """
    request.issuer_process = process  # type: ignore[attr-defined]  # read by the provider
    limits.refuse_exceeded([admission.count(limits.SIGN_IN_ADDRESS, address=rate_key(client_ip(request)))])
    issuer = find_issuer(issuer_id)
    answer = OAuth2LoginView.adapter_view(IssuerOAuth2Adapter(request, issuer.id))(request)
    return _lead(request, answer.headers["Location"], issuer.name)


def _lead(request: HttpRequest, address: str, name: str) -> HttpResponse:
    # A page is shown instead of a redirect, because browsers apply `form-action` to redirects as well, and the issuer chooses
    # the host.
    return show(request, "account/leading.html", {"address": address, "name": name})


@require_safe
def callback(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """`GET /auth/with/:issuer/callback`: handle the issuer's response. Raises NotFound, Forbidden, Unavailable.

    This view is not rate-limited, because it sends requests to an issuer only after a call of `begin`, which is rate-limited.
    """
    issuer = find_issuer(provider_id)
    if request.GET.get("iss", issuer.issuer) != issuer.issuer:
        # RFC 9207: this response is from another issuer, whose code must not be sent to this issuer.
        raise Forbidden(_("This sign-in has expired or was refused. Start again."))
    return OAuth2CallbackView.adapter_view(IssuerOAuth2Adapter(request, issuer.id))(request)


class IssuerSignUpForm(SignUpForm):
    """Sign-up form without a password, filled in with the values that the issuer states."""

    def __init__(self, *args: Any, sociallogin: Any, **kwargs: Any) -> None:
        state = sociallogin.state
        kwargs["initial"] = {"username": state["username"], "email": state["email"]}
        super().__init__(*args, **kwargs)
        del self.fields["password"]


class IssuerSignUpView(SignupView):
    """`/auth/with`: creates the account of a person whom an issuer identified; 5 attempts in 30 minutes per IP address."""

    form_class = IssuerSignUpForm
    template_name = "account/issuer_sign_up.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Discard an issuer's response after an hour, because somebody else may use the browser by then."""
        pending = flows.signup.get_pending_signup(request)
        if pending is not None and clock.now().timestamp() - pending.state["at"] > _PENDING_SECONDS:
            flows.signup.clear_pending_signup(request)
        return super().dispatch(request, *args, **kwargs)

    def get_form_class(self) -> type[forms.Form]:
        return IssuerSignUpForm

    def get_authenticated_redirect_url(self) -> str:
        return reverse("front")

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "invited": find_usable_invite(self._invite_code) is not None}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        issuer = find_issuer(self.sociallogin.account.provider)
        name = self.sociallogin.account.extra_data["name"]
        around = {"issuer": issuer.name, "identity": name, "issuers_only": settings.ISSUERS_ONLY}
        return {**super().get_context_data(**kwargs), **around}

    @property
    def _invite_code(self) -> str:
        return str(self.sociallogin.state["data"]["invite_code"])

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Show the form, after a redirect that adds the parameter `next` to its URL."""
        next_url = self.sociallogin.state.get("next")
        if next_url and "next" not in request.GET:
            return redirect(with_query(request.path, next=next_url))
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        (rule,) = limits.limited("sign_up")
        limits.refuse_exceeded([admission.count(rule, address=rate_key(client_ip(request)))])
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: IssuerSignUpForm) -> HttpResponse:
        login = self.sociallogin
        issuer = find_issuer(login.account.provider)
        draft = SignUpDraft(
            **form.cleaned_data,
            password="",
            locale=get_language(),
            invite_code=self._invite_code,
            ip=client_ip(self.request),
            return_to=bounded(login.state.get("next") or ""),
        )
        name = login.account.extra_data["name"]
        identity = Identity(issuer.id, login.account.uid, name, login.state["email"])
        try:
            user = sign_up(draft=draft, identity=identity)
        except Invalid as refusal:
            form.add_details(refusal)
            return self.form_invalid(form)
        follow_role(user=user, issuer=issuer, wanted=login.state["role"])
        flows.signup.clear_pending_signup(self.request)
        login.user = user
        login.account = SocialAccount.objects.get(provider=issuer.id, uid=identity.subject)
        return flows.signup.complete_social_signup(self.request, login)


@require_safe
def identities(request: HttpRequest) -> HttpResponse:
    """`/auth/identities`: the issuers, and the identities of the user."""
    linked = load_identities(signed_in(request))
    if not settings.ISSUERS:
        raise NotFound
    context = {
        "issuers": [
            {
                "id": issuer.id,
                "name": issuer.name,
                "identities": [
                    {"id": identity.pk, "name": identity.extra_data.get("name", ""), "since": identity.date_joined}
                    for identity in linked
                    if identity.provider == issuer.id
                ],
            }
            for issuer in settings.ISSUERS
        ]
    }
    return show(request, "account/identities.html", context)


@require_safe
def again(request: HttpRequest) -> HttpResponse:
    """`/auth/identities/again`: asks for reauthentication with the issuer, then resumes the form or opens the page `next`."""
    user = signed_in(request)
    if has_reauthenticated_with_issuer(request, user):
        return resume_request(request) or redirect("front")
    used = {identity.provider for identity in load_identities(user)}
    following = request.GET.get("next", "")
    if not used:
        return redirect(with_query(reverse("account_reauthenticate"), next=following))
    issuers = [issuer for issuer in settings.ISSUERS if issuer.id in used]
    return show(request, "account/identity_again.html", {"issuers": issuers, "next": following})


@require_POST
def unlink(request: HttpRequest, identity_id: int) -> HttpResponse:
    """`POST /auth/identities/:id/unlink`. Raises NotFound for an identity of another user."""
    try:
        unlink_identity(user=signed_in(request), identity_id=identity_id, address=client_ip(request))
    except Conflict as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("You can no longer sign in with it."))
    return redirect("identities")


@require_http_methods(["GET", "HEAD", "POST"])
def sign_out(request: HttpRequest) -> HttpResponseBase:
    """`/auth/sign_out`: ends the session and, if an issuer signed the person in, the session at the issuer."""
    issuer_id, token = request.session.get(ISSUER_SESSION) or ("", "")
    answer: HttpResponseBase = account_views.logout(request)
    if request.method == "POST" and issuer_id and not isinstance(request.user, User):
        address = sign_out_url(issuer_id, token, web_url(reverse("account_login")))
        if address:
            return _lead(request, address, find_issuer(issuer_id).name)
    return answer
