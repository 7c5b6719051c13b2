"""Asks once more who it is before what cannot be taken back: password, and second factor where there is one."""

from __future__ import annotations

from typing import Any

from allauth.account import app_settings
from allauth.account.authentication import get_authentication_records
from allauth.mfa.models import Authenticator
from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.pages.factor_forms import SecondFactorAgainForm
from accounts.pages.service_forms import ServiceForm
from accounts.queries.second_factors import find_app, load_second_factors
from social.api import admission, limits
from social.kernel import clock
from social.pages.frame import with_query


def passkey_first(request: HttpRequest, user: User) -> HttpResponse | None:
    """The way to the page that asks for a passkey and leads back here: for whom a passkey is the second factor, and who has
    not shown it within the last minutes. None for everybody else; codes of an app are asked for in the form.
    """
    factors = load_second_factors(user)
    if factors.app or not factors.passkeys:
        return None
    since = clock.now().timestamp() - app_settings.REAUTHENTICATION_TIMEOUT
    records = get_authentication_records(request, user)
    if any(record.get("type") == Authenticator.Type.WEBAUTHN and record["at"] > since for record in records):
        return None
    return redirect(with_query(reverse("mfa_reauthenticate_webauthn"), next=request.path))


class ConfirmationForm(ServiceForm):
    """Asks for the password, and for a code where there is a second factor, before what cannot be taken back.

    Attempts are counted (security rows 25 and 26).
    """

    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput({"autocomplete": "current-password", "dir": "ltr"}),
    )
    code = forms.CharField(
        label=_("Code of your second factor"),
        max_length=32,
        widget=forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric", "dir": "ltr"}),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        self.user = user
        super().__init__(*args, **kwargs)
        if find_app(user) is None:
            del self.fields["code"]

    def clean_password(self) -> str:
        """The password, if it is right. Raises RateLimited after too many attempts."""
        typed: str = self.cleaned_data["password"]
        count = admission.count(limits.PASSWORD_AGAIN, subject=str(self.user.pk))
        limits.refuse_exceeded([count] if count is not None else [])
        if not self.user.check_password(typed):
            raise forms.ValidationError(_("This password is not right."))
        return typed

    def clean(self) -> dict[str, Any]:
        """The code is only asked of whoever knows the password: it is used up by it, and its lock is its owner's."""
        sent = super().clean() or {}
        if "code" in self.fields and "code" in sent and "password" in sent:
            form = SecondFactorAgainForm({"code": sent["code"]}, user=self.user)
            if not form.is_valid():
                for errors in form.errors.values():
                    self.add_error("code", list(errors))
        return sent


class MoveForm(ConfirmationForm):
    """The account to move to."""

    acct = forms.CharField(
        label=_("Address of the new account"),
        max_length=2400,
        help_text=_("For example name@server.example"),
        widget=forms.TextInput({"dir": "ltr", "autocapitalize": "none", "autocorrect": "off", "spellcheck": "false"}),
    )
    field_order = ["acct", "password", "code"]
