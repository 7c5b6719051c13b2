"""Forms of signing in and up, worded and labelled for people, and the base of forms whose rules are those of a service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm, LoginForm, ReauthenticateForm, ResetPasswordForm
from allauth.account.forms import ResetPasswordKeyForm as AllauthResetPasswordKeyForm
from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.policies.sign_up import EMAIL_LIMIT, PASSWORD_MINIMUM, REASON_LIMIT, USERNAME_LIMIT
from accounts.queries.site_settings import find_registrations
from accounts.queries.tokens import find_email_of
from social.kernel.errors import Invalid

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
    """A text, which may be empty. Its length is for the service to count, as people count: a character may be several code
    points.
    """
    widget = options.pop("widget", None) or forms.TextInput({"dir": "auto"})
    return forms.CharField(label=label, required=False, widget=widget, **options)


def check_field(label: Any, help_text: Any = "") -> forms.BooleanField:
    """A choice of yes or no."""
    return forms.BooleanField(label=label, required=False, help_text=help_text)


class SignInForm(LoginForm):
    """E-mail address or username, and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        widget = forms.TextInput({"autocomplete": "username", "autofocus": True, **PLAIN})
        login = forms.CharField(label=_("E-mail address or username"), max_length=EMAIL_LIMIT, widget=widget)
        self.fields = {"login": login, "password": _password_field(_("Password"), "current-password")}

    def clean_login(self) -> str:
        """The e-mail address; a username (`anna`, `@anna`, `@anna@this.server`) stands for its owner's."""
        typed: str = self.cleaned_data["login"].strip()
        return find_email_of(typed) or typed


class ServiceForm(forms.Form):
    """A form whose rules are a service's."""

    #: Where the service's name of a value is another one than the form's.
    renamed: Mapping[str, str] = {}
    #: The fields of each part of the page.
    parts: Mapping[str, Sequence[str]] = {}

    def sections(self) -> dict[str, list[forms.BoundField]]:
        """Fields of each part of the page."""
        return {part: [self[name] for name in names if name in self.fields] for part, names in self.parts.items()}

    def add_details(self, error: Invalid) -> None:
        """Show what the service found beside the fields it concerns, each sentence once."""
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
    """Data of a new person. The rules are those of the service alone, which finds all mistakes at once."""

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
        if invited or find_registrations() != "approval":
            del self.fields["reason"]
        if not settings.MINIMUM_AGE:
            del self.fields["date_of_birth"]
        for field in self.fields.values():
            # Browsers ask for it; what is missing is found with all other mistakes.
            field.required = False
            field.widget.attrs["required"] = True

    def try_save(self, request: HttpRequest) -> tuple[User, None]:
        """Make the account. Raises Invalid with `details`, or Forbidden."""
        return get_adapter(request).save_user(request, None, self), None


class NewEmailForm(ServiceForm):
    """Form for another e-mail address. The rules are those of the service."""

    email = forms.CharField(
        label=_("New e-mail address"), max_length=EMAIL_LIMIT, widget=forms.EmailInput(_EMAIL_ATTRIBUTES)
    )


class ForgottenPasswordForm(ResetPasswordForm):
    """The address that the link to a new password is sent to."""

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


def _one_password(form: forms.Form) -> None:
    del form.fields["password2"]
    field = form.fields["password1"]
    field.label = _("New password")
    field.help_text = _("At least 8 characters.")
    field.widget.attrs.pop("placeholder", None)
    # No maxlength: browsers would cut a pasted password off without a word.
    field.widget.attrs["minlength"] = PASSWORD_MINIMUM
