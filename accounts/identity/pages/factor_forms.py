"""Forms of second factors and passkeys, with checks that allauth's own forms omit."""

import json
import struct
from dataclasses import dataclass
from typing import Any

from allauth.core import context, ratelimit
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm as AllauthAuthenticateForm
from allauth.mfa.base.forms import ReauthenticateForm as AllauthReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from allauth.mfa.webauthn import forms as webauthn
from django import forms
from django.utils.translation import gettext_lazy as _
from fido2.utils import websafe_encode
from fido2.webauthn import AuthenticationResponse, RegistrationResponse

from accounts.identity.policies.second_factors import NAME_LIMIT, PASSKEYS_LIMIT, is_own_origin
from accounts.identity.queries.sign_in import is_registered_passkey, load_second_factors
from accounts.identity.services.mails import report_second_factor_lock
from accounts.identity.services.second_factors import accept_app_code, accept_signature, use_recovery_code
from accounts.models import User
from accounts.pages.forms import PLAIN
from social.api.addresses import client_ip
from social.kernel import crypto

# Errors that the library raises for invalid WebAuthn data.
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, struct.error)
_CREDENTIAL_LIMIT = 20_000


def _code_field() -> forms.CharField:
    attributes = {"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True, **PLAIN}
    return forms.CharField(label=_("Code"), max_length=32, widget=forms.TextInput(attributes))


class _CredentialField(forms.Field):
    """Field for the JSON object that a browser's `navigator.credentials` returns. The form never shows the object again."""

    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        try:
            credential = json.loads(value) if value and len(value) <= _CREDENTIAL_LIMIT else None
        except (ValueError, RecursionError):
            credential = None
        if not isinstance(credential, dict):
            raise _wrong_passkey()
        return credential

    def bound_data(self, data: Any, initial: Any) -> str:
        """Return an empty value, because each attempt has a challenge of its own."""
        return ""


@dataclass(frozen=True)
class _UsedCode:
    """Used recovery code. It has the attributes of allauth's Authenticator that allauth needs to record the sign-in."""

    user: User
    pk: None = None
    type: str = "recovery_codes"

    def record_usage(self) -> None:
        """Do nothing, because the code has already been deleted."""


class _TypedCode:
    """Mixin for forms that accept a code from the authenticator app or a recovery code. The user gets a mail when wrong codes
    lock the second factor.
    """

    user: User
    authenticator: Any

    def clean_code(self) -> str:
        typed: str = self.cleaned_data["code"]  # type: ignore[attr-defined]  # of the form it is mixed into
        try:
            code: str = super().clean_code()  # type: ignore[misc]  # of allauth, which has no types
        except forms.ValidationError as error:
            if error.code == "too_many_login_attempts":
                report_second_factor_lock(user=self.user, address=client_ip(context.request))
            if error.code != "incorrect_code":
                raise
            if not use_recovery_code(user=self.user, typed=typed, address=client_ip(context.request)):
                raise
            # allauth does the same after a correct code of an authenticator app.
            ratelimit.clear(context.request, action="login_failed", key=f"mfa-auth-user-{self.user.pk}")
            self.authenticator = _UsedCode(self.user)
            return typed
        if not accept_app_code(authenticator=self.authenticator, counter=counter_of(self.authenticator, code)):
            raise get_adapter().validation_error("incorrect_code")
        return code


class SecondFactorForm(_TypedCode, AllauthAuthenticateForm):
    code = _code_field()


class SecondFactorAgainForm(_TypedCode, AllauthReauthenticateForm):
    """Form for reauthentication with a code, before a change to the security of the account."""

    code = _code_field()


class AuthenticatorAppForm(ActivateTOTPForm):
    code = _code_field()


class _Signature:
    """Mixin for forms that accept a passkey. allauth's library checks its signature, challenge, host and user presence."""

    passwordless: bool

    def clean_credential(self) -> Authenticator:
        """Return the passkey.

        Raises ValidationError if the passkey was used on a page of another server, if its counter suggests a copy, or if it
        replaces the password without user verification.
        """
        sent: Any = self.cleaned_data["credential"]  # type: ignore[attr-defined]  # of the form it is mixed into
        try:
            answer = AuthenticationResponse.from_dict(sent)
            authenticator: Authenticator = super().clean_credential()  # type: ignore[misc]  # of allauth, which has no types
        except _MALFORMED:
            raise _wrong_passkey() from None
        except forms.ValidationError as error:
            raise (_wrong_passkey() if error.code == "incorrect_code" else error) from None
        signed = answer.response.authenticator_data
        if not is_own_origin(answer.response.client_data.origin):
            raise _wrong_passkey()
        # The challenge may have been generated for a second factor, which does not require user verification.
        if self.passwordless and not signed.is_user_verified():
            raise _wrong_passkey()
        if not accept_signature(authenticator=authenticator, count=signed.counter, address=client_ip(context.request)):
            raise _wrong_passkey()
        return authenticator


class PasskeyForm(_Signature, webauthn.AuthenticateWebAuthnForm):
    credential = _CredentialField()


class PasskeyAloneForm(_Signature, webauthn.LoginWebAuthnForm):
    """Form for signing in with a passkey instead of a name and a password."""

    credential = _CredentialField()


class PasskeyAgainForm(_Signature, webauthn.ReauthenticateWebAuthnForm):
    """Form for reauthentication with a passkey, before a change to the security of the account."""

    credential = _CredentialField()


class NewPasskeyForm(webauthn.AddWebAuthnForm):
    passwordless = None
    credential = _CredentialField()
    name = forms.CharField(
        label=_("Name"),
        max_length=NAME_LIMIT,
        required=False,
        help_text=_("A name by which you recognise it later, for example the name of your phone."),
    )

    def clean(self) -> dict[str, Any]:
        """Return the values. Raises ValidationError unless the passkey is new and was created on a page of this server."""
        try:
            cleaned: dict[str, Any] = super().clean()
            sent = cleaned.get("credential")
            if sent is None:
                return cleaned
            response = RegistrationResponse.from_dict(sent).response
        except _MALFORMED:
            raise _wrong_passkey() from None
        except forms.ValidationError:
            raise _wrong_passkey() from None
        attested = response.attestation_object.auth_data.credential_data
        # WebAuthn Level 2, section 7.1, step 22: an id can be registered only once, whoever the user is.
        if attested is None or sent.get("rawId") != websafe_encode(attested.credential_id):
            raise _wrong_passkey()
        if not is_own_origin(response.client_data.origin) or is_registered_passkey(sent["rawId"]):
            raise _wrong_passkey()
        if len(load_second_factors(self.user).passkeys) >= PASSKEYS_LIMIT:
            raise forms.ValidationError(_("You have reached the maximum number of passkeys."))
        self.count = response.attestation_object.auth_data.counter
        self.verified = response.attestation_object.auth_data.is_user_verified()
        return cleaned


class PasskeyNameForm(webauthn.EditWebAuthnForm):
    name = forms.CharField(label=_("Name"), max_length=NAME_LIMIT)


def counter_of(authenticator: Authenticator, code: str) -> int:
    """Return the TOTP time step of this code, which allauth has just accepted; -1 if no time step around now has this code."""
    secret = crypto.decrypt(authenticator.data["secret"])
    typed = normalize_user_code(code)
    return max(
        (
            counter
            for counter in yield_hotp_counters_from_time()
            if normalize_user_code(format_hotp_value(hotp_value(secret, counter))) == typed
        ),
        default=-1,
    )


def _wrong_passkey() -> forms.ValidationError:
    return forms.ValidationError(_("This passkey was not accepted. Please try again."), code="incorrect_code")
