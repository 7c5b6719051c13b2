"""The forms of signing in and up, worded and labelled for people."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm, LoginForm, ReauthenticateForm, ResetPasswordForm
from allauth.account.forms import ResetPasswordKeyForm as AllauthResetPasswordKeyForm
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm as AllauthAuthenticateForm
from allauth.mfa.base.forms import ReauthenticateForm as AllauthReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.policies.sign_up import EMAIL_LIMIT, PASSWORD_MINIMUM, REASON_LIMIT, USERNAME_LIMIT
from accounts.queries.identities import find_email_of
from accounts.services.mails import report_second_factor_lock
from social.api.addresses import client_ip
from social.kernel.errors import Invalid

_PLAIN = {"autocapitalize": "none", "autocorrect": "off", "spellcheck": "false", "dir": "ltr"}


def _email_field(**options: Any) -> forms.EmailField:
    attributes = {"autocomplete": "email", "inputmode": "email", **_PLAIN}
    return forms.EmailField(
        label=_("E-mail address"), max_length=EMAIL_LIMIT, widget=forms.EmailInput(attributes), **options
    )


def _password_field(label: Any, autocomplete: str, **options: Any) -> forms.CharField:
    widget = forms.PasswordInput({"autocomplete": autocomplete, "dir": "ltr"})
    return forms.CharField(label=label, strip=False, max_length=4096, widget=widget, **options)


def _code_field() -> forms.CharField:
    attributes = {"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True, **_PLAIN}
    return forms.CharField(label=_("Code"), max_length=32, widget=forms.TextInput(attributes))


class SignInForm(LoginForm):
    """E-mail address or username, and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        widget = forms.TextInput({"autocomplete": "username", "autofocus": True, **_PLAIN})
        login = forms.CharField(label=_("E-mail address or username"), max_length=EMAIL_LIMIT, widget=widget)
        self.fields = {"login": login, "password": _password_field(_("Password"), "current-password")}

    def clean_login(self) -> str:
        """The e-mail address; a username (`anna`, `@anna`, `@anna@this.server`) stands for its owner's."""
        typed: str = self.cleaned_data["login"].strip()
        return find_email_of(typed) or typed


class SignUpForm(forms.Form):
    """What a new person must give. The rules are those of the service; it is what tells them apart."""

    by_passkey = False

    username = forms.CharField(
        label=_("Username"),
        max_length=USERNAME_LIMIT,
        help_text=_("Letters, digits and underscores. It cannot be changed later."),
        widget=forms.TextInput({"autocomplete": "username", **_PLAIN}),
    )
    email = _email_field()
    password = _password_field(_("Password"), "new-password", help_text=_("At least 8 characters."))
    reason = forms.CharField(
        label=_("Why do you want to join?"),
        max_length=REASON_LIMIT,
        widget=forms.Textarea({"rows": 3}),
        help_text=_("A moderator will read this."),
    )
    # Text: the service reads it, as it does a client's.
    date_of_birth = forms.CharField(
        label=_("Date of birth"),
        help_text=_("We check how old you are and do not keep the date."),
        widget=forms.DateInput({"type": "date", "autocomplete": "bday"}),
    )
    agreement = forms.BooleanField(label=_("I agree to the rules of this server"))

    def __init__(self, *args: Any, invited: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].widget.attrs["minlength"] = PASSWORD_MINIMUM
        if settings.REGISTRATIONS != "approval" or invited:
            del self.fields["reason"]
        if not settings.MINIMUM_AGE:
            del self.fields["date_of_birth"]

    def try_save(self, request: HttpRequest) -> tuple[User, None]:
        """Make the account. Raises Invalid with `details`, or Forbidden."""
        return get_adapter(request).save_user(request, None, self), None

    def add_details(self, error: Invalid) -> None:
        """Show what the service found beside the fields it concerns."""
        for name, found in error.extra.get("details", {}).items():
            for item in found:
                self.add_error(name if name in self.fields else None, capfirst(item["description"]))


class ForgottenPasswordForm(ResetPasswordForm):
    """Where the link to a new password shall be sent."""

    email = _email_field()


class NewPasswordForm(AllauthResetPasswordKeyForm):
    """A new password, typed once: browsers remember it, and a link for another one is a mail away."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _one_password(self)


class PasswordForm(ChangePasswordForm):
    """The old password and a new one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["oldpassword"] = _password_field(_("Current password"), "current-password")
        _one_password(self)


class IsItYouForm(ReauthenticateForm):
    """The password once more."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"] = _password_field(_("Password"), "current-password")


class _ReportsLock:
    """Tells the owner of an account by mail when wrong codes have locked their second factor."""

    user: User

    def clean_code(self) -> str:
        """The code, if it is right."""
        try:
            return super().clean_code()  # type: ignore[misc, no-any-return]  # allauth has no types
        except forms.ValidationError as error:
            if error.code == "too_many_login_attempts":
                report_second_factor_lock(user=self.user, address=client_ip(context.request))
            raise


class SecondFactorForm(_ReportsLock, AllauthAuthenticateForm):
    """A code of the authenticator app, or a recovery code."""

    code = _code_field()


class SecondFactorAgainForm(_ReportsLock, AllauthReauthenticateForm):
    """As SecondFactorForm, before something that concerns the safety of the account."""

    code = _code_field()


class AuthenticatorAppForm(ActivateTOTPForm):
    """The first code of a new authenticator app."""

    code = _code_field()


def _one_password(form: forms.Form) -> None:
    del form.fields["password2"]
    field = form.fields["password1"]
    field.label = _("New password")
    field.help_text = _("At least 8 characters.")
    field.widget.attrs.pop("placeholder", None)
    # No maxlength: browsers would cut a pasted password off without a word.
    field.widget.attrs["minlength"] = PASSWORD_MINIMUM
