"""Forms for signing in and up, for passwords and for e-mail addresses."""

from typing import Any, Final

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm, LoginForm, ReauthenticateForm, ResetPasswordForm, SetPasswordForm
from allauth.account.forms import ResetPasswordKeyForm as AllauthResetPasswordKeyForm
from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.identity.policies.sign_up import EMAIL_LIMIT, PASSWORD_MINIMUM, REASON_LIMIT, USERNAME_LIMIT
from accounts.identity.queries.tokens import find_email_of
from accounts.models import User
from accounts.pages.forms import PLAIN, ServiceForm
from accounts.queries.site_settings import find_minimum_age, find_registrations

_EMAIL_ATTRIBUTES: Final = {"autocomplete": "email", "inputmode": "email", **PLAIN}


def _email_field(**options: Any) -> forms.EmailField:
    return forms.EmailField(
        label=_("E-mail address"), max_length=EMAIL_LIMIT, widget=forms.EmailInput(_EMAIL_ATTRIBUTES), **options
    )


def _password_field(label: Any, autocomplete: str, **options: Any) -> forms.CharField:
    widget = forms.PasswordInput({"autocomplete": autocomplete, "dir": "ltr"})
    return forms.CharField(label=label, strip=False, max_length=4096, widget=widget, **options)


class SignInForm(LoginForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        widget = forms.TextInput({"autocomplete": "username", "autofocus": True, **PLAIN})
        login = forms.CharField(label=_("E-mail address or username"), max_length=EMAIL_LIMIT, widget=widget)
        self.fields = {"login": login, "password": _password_field(_("Password"), "current-password")}

    def clean_login(self) -> str:
        """Return the e-mail address; a username (`anna`, `@anna`, `@anna@this.server`) is replaced by its owner's address."""
        typed: str = self.cleaned_data["login"].strip()
        return find_email_of(typed) or typed


class SignUpForm(ServiceForm):
    """Sign-up form. Only the service validates the values, so that all errors are reported together."""

    by_passkey = False

    username = forms.CharField(
        label=_("Username"),
        help_text=_("Letters, digits and underscores. It cannot be changed later."),
        widget=forms.TextInput({"autocomplete": "username", "maxlength": USERNAME_LIMIT, **PLAIN}),
    )
    email = forms.CharField(label=_("E-mail address"), widget=forms.EmailInput(_EMAIL_ATTRIBUTES))
    password = _password_field(_("Password"), "new-password", help_text=_("At least 8 characters."))
    reason = forms.CharField(
        label=_("Why do you want to join?"),
        widget=forms.Textarea({"rows": 3, "maxlength": REASON_LIMIT}),
        help_text=_("A moderator will read this."),
    )
    # This is a text field, because the service parses the date, as it does for API clients.
    date_of_birth = forms.CharField(
        label=_("Date of birth"),
        help_text=_("We check how old you are and do not keep the date."),
        widget=forms.DateInput({"type": "date", "autocomplete": "bday"}),
    )
    agreement = forms.BooleanField(label=_("I agree to the rules of this server"))

    def __init__(self, *args: Any, invited: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].widget.attrs["minlength"] = PASSWORD_MINIMUM
        if invited or find_registrations() != "approval":
            del self.fields["reason"]
        if not find_minimum_age():
            del self.fields["date_of_birth"]
        for field in self.fields.values():
            # Only browsers require these fields. The service reports a missing value together with all other errors.
            field.required = False
            field.widget.attrs["required"] = True

    def try_save(self, request: HttpRequest) -> tuple[User, None]:
        """Create the account. Raises Invalid with `details`, or Forbidden."""
        return get_adapter(request).save_user(request, None, self), None


class NewEmailForm(ServiceForm):
    email = forms.CharField(
        label=_("New e-mail address"), max_length=EMAIL_LIMIT, widget=forms.EmailInput(_EMAIL_ATTRIBUTES)
    )


class ForgottenPasswordForm(ResetPasswordForm):
    """The e-mail address to which the link for a new password is sent."""

    email = _email_field()


class _TypedOnce(forms.Form):
    """Mixin for forms in which a new password is typed once; browsers remember it, and a forgotten password can be reset."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["password2"]
        field = self.fields["password1"]
        field.label = _("New password")
        field.help_text = _("At least 8 characters.")
        field.widget.attrs.pop("placeholder", None)
        # There is no maxlength, because browsers would silently truncate a pasted password.
        field.widget.attrs["minlength"] = PASSWORD_MINIMUM


class NewPasswordForm(_TypedOnce, AllauthResetPasswordKeyForm):
    """Form for a new password, on the page behind the link in a mail."""


class FirstPasswordForm(_TypedOnce, SetPasswordForm):
    """Form for the first password of somebody who signs in through an issuer or with a passkey."""


class PasswordForm(_TypedOnce, ChangePasswordForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["oldpassword"] = _password_field(_("Current password"), "current-password")


class IsItYouForm(ReauthenticateForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"] = _password_field(_("Password"), "current-password")
