"""Pages of second factors and passkeys. allauth runs the ceremonies; these views add sign-outs, limits and recovery codes."""

import json
from typing import Any

from allauth.account import app_settings
from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn import views as webauthn
from allauth.mfa.webauthn.internal import auth
from allauth.mfa.webauthn.internal.flows import add_authenticator, perform_passwordless_login
from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views import View
from django.views.decorators.http import require_safe
from fido2.webauthn import ResidentKeyRequirement, UserVerificationRequirement

from accounts.identity.pages.factor_forms import NewPasskeyForm, SecondFactorAgainForm, counter_of
from accounts.identity.pages.steps import has_reauthenticated_with_issuer, sign_in_url
from accounts.identity.queries.sign_in import find_app, load_second_factors
from accounts.identity.services import second_factors
from accounts.identity.services.mails import RECOVERY_CODES_MADE, report_security_change
from accounts.models import User
from accounts.pages.forms import ServiceForm, address_field
from accounts.pages.person import shown_person
from accounts.pages.settings import signed_in
from social.api import admission, limits
from social.api.addresses import client_ip, rate_key
from social.api.staff_site import WANTED_PAGE
from social.kernel import clock
from social.kernel.errors import NotFound
from social.pages.frame import show, with_query


def passkey_first(request: HttpRequest, user: User) -> HttpResponse | None:
    """Redirect to a page for reauthentication, which redirects back; return None if a password and code in the form are enough.

    Users without a password reauthenticate with their issuer. Users who have passkeys but no authenticator app reauthenticate
    with a passkey. A user who has reauthenticated in this way in the last few minutes is not asked again.
    """
    if not user.has_usable_password() and not has_reauthenticated_with_issuer(request, user):
        return redirect(with_query(reverse("identity_again"), next=request.path))
    since = clock.now().timestamp() - app_settings.REAUTHENTICATION_TIMEOUT
    records = get_authentication_records(request, user)
    factors = load_second_factors(user)
    if factors.app or not factors.passkeys:
        return None
    if any(record.get("type") == Authenticator.Type.WEBAUTHN and record["at"] > since for record in records):
        return None
    return redirect(with_query(reverse("mfa_reauthenticate_webauthn"), next=request.path))


class ConfirmationForm(ServiceForm):
    """Asks for the password, and for a code if the user has an app, before an irreversible change (security rows 25 and 26)."""

    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput({"autocomplete": "current-password", "dir": "ltr"}),
    )
    code = forms.CharField(
        label=_("Code from your second factor"),
        max_length=32,
        widget=forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric", "dir": "ltr"}),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        self.user = user
        super().__init__(*args, **kwargs)
        if find_app(user) is None:
            del self.fields["code"]
        if not user.has_usable_password():
            del self.fields["password"]

    def clean_password(self) -> str:
        typed: str = self.cleaned_data["password"]
        if not get_adapter().reauthenticate(self.user, typed):
            raise forms.ValidationError(_("This password is wrong."))
        return typed

    def clean(self) -> dict[str, Any]:
        """Check the code only if the password is right, because a code can be used only once."""
        sent = super().clean() or {}
        if "code" in self.fields and "code" in sent and ("password" in sent or "password" not in self.fields):
            form = SecondFactorAgainForm({"code": sent["code"]}, user=self.user)
            if not form.is_valid():
                for errors in form.errors.values():
                    self.add_error("code", list(errors))
        return sent


class MoveForm(ConfirmationForm):
    acct = address_field(_("Address of the new account"))
    field_order = ["acct", "password", "code"]


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """`/auth/second_factor`: shows which factors are set up, with links to change them."""
    factors = load_second_factors(signed_in(request))
    return show(request, "mfa/index.html", {"factors": factors, "admin_url": _wanted_page(request, factors.any)})


class ActivateAppView(ActivateTOTPView):
    def form_valid(self, form: Any) -> HttpResponse:
        """Turn the factor on and sign out other browsers, which have not used the second factor (row 24)."""
        response: HttpResponse = super().form_valid(form)
        user = self.request.user
        authenticator = find_app(user)
        if authenticator is not None:
            # The code must not be accepted again at the next sign-in.
            counter = counter_of(authenticator, form.cleaned_data["code"])
            second_factors.accept_app_code(authenticator=authenticator, counter=counter)
        return _show_new_codes(self.request) or response


class _RemovingView(View):
    def form_valid(self, form: Any) -> HttpResponse:
        """Sign out other browsers; recovery codes are removed with the last factor."""
        response: HttpResponse = super().form_valid(form)  # type: ignore[misc]  # of the view that is extended too
        second_factors.factor_removed(user=signed_in(self.request), session_key=self.request.session.session_key)
        return response


class DeactivateAppView(_RemovingView, DeactivateTOTPView):
    """Removes the authenticator app from the account."""


class RecoveryCodesView(View):
    """`/auth/second_factor/codes`: GET asks for confirmation, POST creates new codes and shows them, once."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return show(request, "mfa/recovery_codes/generate.html", {"left": self._count_codes(request)})

    def post(self, request: HttpRequest) -> HttpResponse:
        self._count_codes(request)
        user = signed_in(request)
        codes = second_factors.make_recovery_codes(user=user)
        report_security_change(user=user, kind=RECOVERY_CODES_MADE, address=client_ip(request))
        return _show_codes(request, codes)

    def _count_codes(self, request: HttpRequest) -> int:
        factors = load_second_factors(signed_in(request))
        if not factors.any:
            raise NotFound
        return factors.codes


class AddPasskeyView(webauthn.AddWebAuthnView):
    """Registers a passkey, as a second factor and, if it can verify its owner, as a replacement for the password."""

    template_name = "mfa/webauthn/add_form.html"
    success_url = reverse_lazy("mfa_index")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super(webauthn.AddWebAuthnView, self).get_context_data(**kwargs)
        user = self.request.user
        options, state = auth.get_server().register_begin(
            user=auth.build_user_payload(user),
            credentials=auth.get_credentials(user),
            # User verification is preferred but not required, because older security keys that lack it can still be a second
            # factor.
            resident_key_requirement=ResidentKeyRequirement.PREFERRED,
            user_verification=UserVerificationRequirement.PREFERRED,
            extensions=auth.EXTENSIONS,
        )
        auth.set_state(state)
        return {**context, "options": json.dumps(dict(options))}

    def form_valid(self, form: NewPasskeyForm) -> HttpResponse:
        data = form.cleaned_data
        authenticator, _codes = add_authenticator(self.request, name=data["name"], credential=data["credential"])
        second_factors.store_passkey_facts(authenticator=authenticator, count=form.count, verified=form.verified)
        return _show_new_codes(self.request) or redirect("mfa_index")


class RenamePasskeyView(webauthn.EditWebAuthnView):
    template_name = "mfa/webauthn/edit_form.html"
    success_url = reverse_lazy("mfa_index")


class RemovePasskeyView(_RemovingView, webauthn.RemoveWebAuthnView):
    template_name = "mfa/webauthn/authenticator_confirm_delete.html"
    success_url = reverse_lazy("mfa_index")


class SecondFactorView(AuthenticateView):
    """The second step of signing in: a code, or a passkey."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        factors = load_second_factors(self.stage.login.user)
        return {**context, "factors": factors, "options": json.dumps(context["js_data"]["request_options"])}


class PasskeySignInView(webauthn.LoginWebAuthnView):
    """`/auth/passkeys/sign_in`: the script of the sign-in page requests a challenge and sends the signature."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Count the attempt, then check the signature. Raises RateLimited."""
        limits.refuse_exceeded([admission.count(limits.SIGN_IN_ADDRESS, address=rate_key(client_ip(request)))])
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        authenticator = form.cleaned_data["credential"]
        login = Login(user=authenticator.user, redirect_url=get_next_redirect_url(self.request))
        return perform_passwordless_login(self.request, authenticator, login)

    def form_invalid(self, form: Any) -> HttpResponse:
        for message in form.errors.get("credential", []):
            messages.error(self.request, message)
        return redirect(sign_in_url(self.request, get_next_redirect_url(self.request) or ""))


class PasskeyAgainView(webauthn.ReauthenticateWebAuthnView):
    """Reauthentication with a passkey, before a change to the security of the account."""

    template_name = "mfa/webauthn/reauthenticate.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super(webauthn.ReauthenticateWebAuthnView, self).get_context_data(**kwargs)
        return {**context, "options": json.dumps(auth.begin_authentication(self.request.user))}

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form))


def _show_new_codes(request: HttpRequest) -> HttpResponse | None:
    """Return the page that shows new recovery codes, which are created with the first factor; None for a further factor."""
    codes = second_factors.factor_added(user=signed_in(request), session_key=request.session.session_key)
    return _show_codes(request, codes) if codes else None


def _wanted_page(request: HttpRequest, has_factor: bool) -> str:
    """Return the admin page that redirected the user here; the session stores it until the user has a second factor."""
    page: str = request.session.get(WANTED_PAGE, "")
    if page and has_factor:
        del request.session[WANTED_PAGE]
    return page


def _show_codes(request: HttpRequest, codes: list[str]) -> HttpResponse:
    title = gettext("Recovery codes for %(name)s") % {"name": shown_person(signed_in(request).account).address}
    context = {"codes": codes, "file": "\n".join([title, "", *codes, ""]), "admin_url": _wanted_page(request, True)}
    return show(request, "mfa/recovery_codes/index.html", context)
