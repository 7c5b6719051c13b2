"""Forms for signing in and up, and the base of forms whose values a service validates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm, LoginForm, ReauthenticateForm, ResetPasswordForm
from allauth.account.forms import ResetPasswordKeyForm as AllauthResetPasswordKeyForm
from django import forms
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.policies.sign_up import EMAIL_LIMIT, PASSWORD_MINIMUM, REASON_LIMIT, USERNAME_LIMIT
from accounts.queries.site_settings import find_minimum_age, find_registrations
from accounts.queries.tokens import find_email_of
from social.kernel.errors import Forbidden, Invalid, KernelError, NotFound, RateLimited

PLAIN = {"autocapitalize": "none", "autocorrect": "off", "spellcheck": "false", "dir": "ltr"}
_EMAIL_ATTRIBUTES = {"autocomplete": "email", "inputmode": "email", **PLAIN}


def _email_field(**options: Any) -> forms.EmailField:
    return forms.EmailField(
        label=_("E-mail address"), max_length=EMAIL_LIMIT, widget=forms.EmailInput(_EMAIL_ATTRIBUTES), **options
    )


def _password_field(label: Any, autocomplete: str, **options: Any) -> forms.CharField:
    widget = forms.PasswordInput({"autocomplete": autocomplete, "dir": "ltr"})
    return forms.CharField(label=label, strip=False, max_length=4096, widget=widget, **options)


def text_field(label: Any, **options: Any) -> forms.CharField:
    """An optional text field. The service checks its length in characters as people count them, each of which may be
    several code points.
    """
    widget = options.pop("widget", None) or forms.TextInput({"dir": "auto"})
    return forms.CharField(label=label, required=False, widget=widget, **options)


def check_field(label: Any, help_text: Any = "") -> forms.BooleanField:
    """A checkbox."""
    return forms.BooleanField(label=label, required=False, help_text=help_text)


#: Refusals by a service that are shown in the form, so that what was typed stays.
REFUSALS: Final = (Invalid, Forbidden, NotFound, RateLimited)


class SignInForm(LoginForm):
    """E-mail address or username, and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        widget = forms.TextInput({"autocomplete": "username", "autofocus": True, **PLAIN})
        login = forms.CharField(label=_("E-mail address or username"), max_length=EMAIL_LIMIT, widget=widget)
        self.fields = {"login": login, "password": _password_field(_("Password"), "current-password")}

    def clean_login(self) -> str:
        """Return the e-mail address; a username (`anna`, `@anna`, `@anna@this.server`) is replaced by the e-mail
        address of its owner.
        """
        typed: str = self.cleaned_data["login"].strip()
        return find_email_of(typed) or typed


class ServiceForm(forms.Form):
    """A form whose values a service validates."""

    #: The form's name of a value, keyed by the service's name; only names that differ.
    renamed: Mapping[str, str] = {}
    #: The fields of each part of the page.
    parts: Mapping[str, Sequence[str]] = {}

    def sections(self) -> dict[str, list[forms.BoundField]]:
        """Return the bound fields of each part of the page."""
        return {part: [self[name] for name in names if name in self.fields] for part, names in self.parts.items()}

    def add_refusal(self, error: KernelError) -> None:
        """Show one of the REFUSALS of the service."""
        if isinstance(error, Invalid):
            self.add_details(error)
        elif isinstance(error, NotFound):
            self.add_error(None, _("What you answer, quote or change is not there any more, or not for you to see."))
        elif isinstance(error, RateLimited):
            self.add_error(None, _("You have tried this too often. Please wait a while, then try again."))
        else:
            self.add_error(None, capfirst(error.message))

    def add_details(self, error: Invalid) -> None:
        """Show the service's errors beside their fields, each sentence once."""
        details = error.extra.get("details")
        if not details:
            self.add_error(None, error.message)
            return
        seen = set()
        for name, found in details.items():
            field = self.renamed.get(name, name)
            for item in found:
                if (field, item["description"]) not in seen:
                    seen.add((field, item["description"]))
                    self.add_error(field if field in self.fields else None, capfirst(item["description"]))


class SignUpForm(ServiceForm):
    """Sign-up form. Only the service validates the values, so that it finds all errors at once."""

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
    # A text field, because the service parses the date, as it does for API clients.
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
            # Only browsers require a value: the service reports a missing value together with all other errors.
            field.required = False
            field.widget.attrs["required"] = True

    def try_save(self, request: HttpRequest) -> tuple[User, None]:
        """Create the account. Raises Invalid with `details`, or Forbidden."""
        return get_adapter(request).save_user(request, None, self), None


class NewEmailForm(ServiceForm):
    """Form for a new e-mail address, which the service validates."""

    email = forms.CharField(
        label=_("New e-mail address"), max_length=EMAIL_LIMIT, widget=forms.EmailInput(_EMAIL_ATTRIBUTES)
    )


class ForgottenPasswordForm(ResetPasswordForm):
    """The e-mail address to which the link for a new password is sent."""

    email = _email_field()


class NewPasswordForm(AllauthResetPasswordKeyForm):
    """A new password, typed once: browsers remember it, and a forgotten one can be reset by mail."""

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
    """The password, as reauthentication."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"] = _password_field(_("Password"), "current-password")


def _one_password(form: forms.Form) -> None:
    del form.fields["password2"]
    field = form.fields["password1"]
    field.label = _("New password")
    field.help_text = _("At least 8 characters.")
    field.widget.attrs.pop("placeholder", None)
    # No maxlength: browsers would silently truncate a pasted password.
    field.widget.attrs["minlength"] = PASSWORD_MINIMUM
