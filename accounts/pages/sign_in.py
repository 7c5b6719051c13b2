"""Signing in, signing up, a forgotten password. allauth does the work."""

from __future__ import annotations

from typing import Any

from allauth.account.views import LoginView, PasswordResetView, SignupView
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from accounts.pages.forms import ForgottenPasswordForm, SignUpForm
from accounts.services.mails import request_password_reset
from social.api import gate, limits
from social.api.addresses import client_ip, rate_key
from social.kernel.errors import Invalid


class SignInView(LoginView):
    """Attempts are counted by the adapter, which sees those of other pages too."""


class SignUpView(SignupView):
    """The form for a new account; each try counts (5 in 30 minutes per address)."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Count, then sign up. Raises RateLimited, or Forbidden when registrations are closed."""
        (rule,) = limits.limited("sign_up")
        _refuse(gate.count(rule, address=rate_key(client_ip(request))))
        response: HttpResponseBase = super().post(request, *args, **kwargs)
        return response

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        """Make the account and go on, or show what the service found wrong."""
        try:
            response: HttpResponse = super().form_valid(form)
        except Invalid as error:
            form.add_details(error)
            response = self.form_invalid(form)
        return response


class ForgottenPasswordView(PasswordResetView):
    """Sends the link. The answer is the same whether the address is known or not."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Count by client and by address typed, then send. Raises RateLimited."""
        email = request.POST.get("email", "").strip().lower()
        _refuse(
            gate.count(limits.PASSWORD_RESET_ADDRESS, address=rate_key(client_ip(request))),
            gate.count(limits.PASSWORD_RESET_EMAIL, subject=email) if email else None,
        )
        response: HttpResponseBase = super().post(request, *args, **kwargs)
        return response

    def form_valid(self, form: ForgottenPasswordForm) -> HttpResponse:
        """Have the link sent to the address on record: what was typed may only look like it."""
        for user in form.users:
            request_password_reset(user=user)
        return redirect(self.get_success_url())


def _refuse(*counts: limits.Count | None) -> None:
    limits.refuse_exceeded([count for count in counts if count is not None])
