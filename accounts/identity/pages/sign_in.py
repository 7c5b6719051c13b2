"""Pages for signing in (also with an operator's link), signing up, and resetting a password, based on allauth's views."""

from typing import Any, Final

from allauth.account import app_settings
from allauth.account.utils import perform_login
from allauth.account.views import LoginView, PasswordResetView, SignupView
from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts.identity.adapters import RECOVERY, invite_code
from accounts.identity.pages.forms import ForgottenPasswordForm, SignUpForm
from accounts.identity.policies.sign_up import EMAIL_LIMIT
from accounts.identity.queries.sign_up import find_invite, find_unconfirmed, find_usable_invite, is_usable
from accounts.identity.services.confirmations import correct_email
from accounts.identity.services.mails import request_password_reset
from accounts.identity.services.staff import find_recovering
from accounts.pages.forms import ServiceForm
from accounts.queries.site_settings import load_site_texts
from social.api import admission, limits
from social.api.addresses import client_ip, rate_key
from social.api.responses import error, reply
from social.kernel import links
from social.kernel.errors import Invalid, require_found
from social.kernel.text.markdown import markdown_to_html
from social.pages.frame import show, with_query

_SIGNED_UP: Final = "signed_up"


def offered_issuers() -> dict[str, Any]:
    """Return the context of `account/issuers.html`: the issuers, and whether they are the only way to sign in."""
    return {"issuers": settings.ISSUERS, "issuers_only": settings.ISSUERS_ONLY}


class SignInView(LoginView):
    """The sign-in page. The adapter counts attempts, because it is also called for attempts on other pages."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        url = reverse("mfa_login_webauthn")
        return {
            **super().get_context_data(**kwargs),
            **offered_issuers(),
            "passkey_url": url,
            "passkey_options_url": url,
        }


class SignUpView(SignupView):
    """The form for a new account; attempts are limited to 5 in 30 minutes per IP address."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        (rule,) = limits.limited("sign_up")
        limits.refuse_exceeded([admission.count(rule, address=rate_key(client_ip(request)))])
        return super().post(request, *args, **kwargs)

    def get_form_kwargs(self) -> dict[str, Any]:
        """Return the arguments of the form, which does not ask invited people why they want to join."""
        return {**super().get_form_kwargs(), "invited": self._invited}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        around = {
            "invited": self._invited,
            "invitation_is_over": self._is_invitation_used_up,
            "invite_code": invite_code(self.request),
        }
        return {**super().get_context_data(**kwargs), **offered_issuers(), **around}

    def closed(self) -> HttpResponse:
        message = markdown_to_html(load_site_texts()["site_closed_message"])
        context = {"message": mark_safe(message), "invitation_is_over": self._is_invitation_used_up}  # noqa: S308 (the formatter returns safe HTML)
        return TemplateResponse(self.request, self.template_name_signup_closed, context)

    @cached_property
    def _invited(self) -> bool:
        return find_usable_invite(invite_code(self.request)) is not None

    @property
    def _is_invitation_used_up(self) -> bool:
        """Tell whether the request has an invitation that is used up or expired."""
        return not self._invited and find_invite(invite_code(self.request)) is not None

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        try:
            response: HttpResponse = super().form_valid(form)
            # The person who signed up in this browser may correct the e-mail address until it is confirmed.
            self.request.session[_SIGNED_UP] = self.user.pk if self.user is not None else None
        except Invalid as refusal:
            form.add_details(refusal)
            response = self.form_invalid(form)
        return response


class CorrectedEmailForm(ServiceForm):
    """Form for the corrected address of somebody who has just signed up."""

    email = forms.EmailField(label=gettext_lazy("E-mail address"), max_length=EMAIL_LIMIT)


@require_http_methods(["GET", "HEAD", "POST"])
def check_mailbox(request: HttpRequest) -> HttpResponse:
    """Show where the confirmation mail was sent; the browser that signed up can correct the address until it is confirmed."""
    waiting = find_unconfirmed(request.session.get(_SIGNED_UP))
    form = CorrectedEmailForm(
        request.POST if waiting is not None and request.method == "POST" else None,
        initial={"email": waiting.email if waiting is not None else ""},
    )
    if waiting is not None and form.is_accepted_by(
        lambda: correct_email(user=waiting.user, email=form.cleaned_data["email"], address=rate_key(client_ip(request)))
    ):
        return redirect("account_email_verification_sent")
    context = {"email": waiting.email if waiting is not None else "", "form": form}
    return show(request, "account/verification_sent.html", context, status=422 if form.errors else 200)


@require_safe
def change_password_page(request: HttpRequest) -> HttpResponse:
    """`/.well-known/change-password`: the page to which password managers send people (contract, endpoints)."""
    response = redirect("account_change_password", permanent=True)
    # Browsers must not cache the redirect, because the page may move one day.
    response.headers["Cache-Control"] = "no-cache"
    return response


@require_safe
def invitation(request: HttpRequest, code: str) -> HttpResponse:
    """`/invite/<code>`: redirects to the sign-up with the invitation, or returns it as JSON (contract, endpoints).

    Clients get the status 401 if the invitation cannot be used any more. Raises NotFound for an unknown code.
    """
    invite = require_found(find_invite(code))
    if "application/json" in request.headers.get("Accept", ""):
        if not is_usable(invite):
            return error(_("This invitation cannot be used any more"), status=401)
        return reply({"invite_code": invite.code, "instance_api_url": links.web_url("/api/v2/instance")})
    return redirect(with_query(reverse("account_signup"), invite_code=invite.code))


class ForgottenPasswordView(PasswordResetView):
    """Sends the link to reset a password. The response is the same whether the address is known or not."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Count the request by IP address and by the typed address, then request the mail. Raises RateLimited."""
        email = request.POST.get("email", "").strip().lower()
        counts = [admission.count(limits.PASSWORD_RESET_ADDRESS, address=rate_key(client_ip(request)))]
        if email:
            counts.append(admission.count(limits.PASSWORD_RESET_EMAIL, subject=email))
        limits.refuse_exceeded(counts)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: ForgottenPasswordForm) -> HttpResponse:
        """Request the mail to the stored address, because the typed address may only look like the stored address."""
        for user in form.users:
            request_password_reset(user=user)
        return redirect(self.get_success_url())


@require_http_methods(["GET", "HEAD", "POST"])
def recover(request: HttpRequest, token: str) -> HttpResponse:
    """`/auth/recover/<token>`: POST signs in, with the second factor if there is one. GET only shows whose account it is,
    because programs that show link previews send GET requests. Raises NotFound for a link that is too old or used.
    """
    user = require_found(find_recovering(token))
    if request.method != "POST":
        return show(request, "account/recover.html", {"username": user.account.username})
    return perform_login(
        request, user, email_verification=app_settings.EMAIL_VERIFICATION, signal_kwargs={RECOVERY: True}
    )
