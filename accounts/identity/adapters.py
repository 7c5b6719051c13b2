"""Connects allauth to this app: who may sign up, where links in mails lead, and what a new password revokes."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from allauth.account.models import EmailAddress
from allauth.account.utils import get_next_redirect_url, user_pk_to_url_str
from allauth.core.exceptions import ReauthenticationRequired
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext, gettext_lazy

from accounts.identity.pages.steps import has_reauthenticated_with_issuer
from accounts.identity.pages.visits import find_browser, record_daily_visit, remember_browser
from accounts.identity.policies.second_factors import relying_party
from accounts.identity.policies.sign_up import SignUpDraft, password_errors
from accounts.identity.queries.sign_in import load_identities, load_second_factors
from accounts.identity.queries.sign_up import find_usable_invite
from accounts.identity.services.activation import activate_if_ready
from accounts.identity.services.confirmations import bounded, confirmation_url, request_confirmation
from accounts.identity.services.mails import report_security_change
from accounts.identity.services.sessions import change_password, close_streams_of_sessions, publish_user_state
from accounts.identity.services.signing_up import sign_up
from accounts.models import User
from accounts.queries.site_settings import find_registrations
from social.api import admission, limits
from social.api.addresses import client_ip, rate_key
from social.kernel import crypto
from social.kernel.errors import Forbidden
from social.pages.frame import is_local_path


def invite_code(request: HttpRequest) -> str:
    """Return the code of the invitation in the request; empty if there is none."""
    return request.GET.get("invite_code", "")


#: Session key for the issuer that signed the person in, and for the ID token that can end the session at the issuer.
ISSUER_SESSION = "issuer"
#: Key in `signal_kwargs` that marks a sign-in with a recovery link, which an operator has created.
RECOVERY = "recovery"
_WAYS = {
    "reauthenticate": gettext_lazy("Use your password"),
    "mfa_reauthenticate": gettext_lazy("Use a code from your authenticator app"),
    "mfa_reauthenticate:webauthn": gettext_lazy("Use a passkey"),
    "issuer": gettext_lazy("Sign in with your organisation"),
}


class AccountAdapter(DefaultAccountAdapter):
    """allauth's adapter for accounts. Links are built from BASE_URL, never from the Host header, which anybody can forge."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": gettext_lazy("The name or the password is wrong."),
        "too_many_login_attempts": gettext_lazy(
            "You have tried this too many times. Please wait a while, then try again."
        ),
        "incorrect_code": gettext_lazy("This code is wrong or has expired."),
        "incorrect_password": gettext_lazy("This password is wrong."),
        "enter_current_password": gettext_lazy("This is not your current password."),
    }

    def logout(self, request: HttpRequest) -> None:
        """Sign out, and end the streams that pages of this browser have opened."""
        session_key = request.session.session_key or ""
        super().logout(request)
        close_streams_of_sessions(UserSession.objects.filter(session_key=session_key))

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        """Raise Forbidden if people may sign in only through issuers, except with a recovery link (security row 27)."""
        if settings.ISSUERS_ONLY and not {"sociallogin", RECOVERY} & set(kwargs.get("signal_kwargs") or ()):
            raise Forbidden(gettext("On this server, people sign in with their organisation."))
        return super().pre_login(request, user, **kwargs)

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Tell whether registrations are open (possibly with approval), or the request has a usable invitation."""
        return find_registrations() != "closed" or find_usable_invite(invite_code(request)) is not None

    def save_user(self, request: HttpRequest, user: Any, form: forms.Form, commit: bool = True) -> User:
        """Sign up through the service that the API uses. Raises Invalid with `details`, or Forbidden."""
        draft = SignUpDraft(
            **form.cleaned_data,
            locale=get_language(),
            invite_code=invite_code(request),
            ip=client_ip(request),
            return_to=bounded(get_next_redirect_url(request) or ""),
        )
        return sign_up(draft=draft)

    def clean_password(self, password: str, user: Any = None) -> str:
        """Return the password if it meets the rules of a sign-up. Raises ValidationError."""
        errors = password_errors(password)
        if errors:
            raise forms.ValidationError([capfirst(error.message) for error in errors])
        return password

    def set_password(self, user: User, password: str) -> None:
        """Set a new password, which ends all sessions and revokes all tokens (security row 24)."""
        change_password(user=user, password=password, asking_key=self.request.session.session_key)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Return the sign-in page, because a new password ends every session."""
        return reverse("account_login")

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Mark an address as confirmed; the tokens of its owner work from the next request on."""
        confirmed: bool = super().confirm_email(request, email_address)
        if confirmed:
            activate_if_ready(user_id=email_address.user_id)
            publish_user_state(user=email_address.user)
        return confirmed

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """Request the mail, which the worker sends. Do nothing at sign-up, because `sign_up` has already requested the mail."""
        if not signup:
            user = emailconfirmation.email_address.user
            return_to = get_next_redirect_url(request) or ""
            request_confirmation(user=user, address=rate_key(client_ip(request)), return_to=return_to)

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return confirmation_url(emailconfirmation.email_address)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the sign-in attempt (behaviours section 4, security row 81). Raises RateLimited."""
        email = str(credentials.get("email") or "").lower()
        address = rate_key(client_ip(request))
        counts = [admission.count(limits.SIGN_IN_ADDRESS, address=address)]
        if browser := find_browser(request, email):
            counts.append(admission.count(limits.SIGN_IN_BROWSER, subject=browser))
        elif email:
            counts.append(admission.count(limits.SIGN_IN_EMAIL, subject=email))
        limits.refuse_exceeded(counts)

    def _rollback_login_failed_rl_usage(self) -> None:
        # This call only resets allauth's own counters, which `pre_authenticate` does not use.
        return

    def login(self, request: HttpRequest, user: User) -> None:
        super().login(request, user)
        record_daily_visit(request, user)

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        """Redirect to the page that the person wanted to open, and remember the browser."""
        response: HttpResponse = super().post_login(request, user, **kwargs)
        by_issuer = (kwargs.get("signal_kwargs") or {}).get("sociallogin")
        if by_issuer is not None:
            # Signing out here can also end the session at the issuer (`accounts.issuers.pages`).
            request.session[ISSUER_SESSION] = [by_issuer.account.provider, by_issuer.state.get("id_token", "")]
        remember_browser(request, response, user.email)
        return response

    def reauthenticate(self, user: User, password: str) -> bool:
        """Tell whether the password of a signed-in user is right. Raises RateLimited.

        Attempts are counted per user, separately from sign-in attempts, because strangers can make sign-in attempts (security
        row 81).
        """
        limits.refuse_exceeded([admission.count(limits.REAUTHENTICATION, subject=str(user.pk))])
        return user.check_password(password)

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Return True. Raises ReauthenticationRequired for a user who signs in only through an issuer and has not
        reauthenticated there, because allauth itself would not ask such a user to reauthenticate.
        """
        user = self.request.user
        passes = (
            not isinstance(user, User)
            or get_reauthentication_flows(user)
            or has_reauthenticated_with_issuer(self.request, user)
        )
        if not passes and load_identities(user):
            raise ReauthenticationRequired
        return True

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return the methods of reauthentication, each with a description; the first one is the default."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        if isinstance(user, User) and load_identities(user):
            methods.append({"id": "issuer", "url": reverse("identity_again")})
        return [{**method, "description": _WAYS[method["id"]]} for method in methods]

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the client's IP address; forwarding headers count only if our own proxies set them."""
        return client_ip(request)

    def is_safe_url(self, url: str | None) -> bool:
        """Tell whether a page may redirect to this URL: only local paths are allowed (security row 30)."""
        return bool(url) and is_local_path(str(url))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Refuse to send, because reactions send mails (`accounts.identity.services.mails`). Raises NotImplementedError."""
        raise NotImplementedError(template_prefix)

    def send_notification_mail(self, template_prefix: str, user: User, *args: Any, **kwargs: Any) -> None:
        kind = template_prefix.rpartition("/")[2]
        report_security_change(user=user, kind=kind, address=client_ip(self.request))


class SecondFactorAdapter(DefaultMFAAdapter):
    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": gettext_lazy("This code is wrong or has expired."),
        "unverified_email": gettext_lazy("Please confirm your e-mail address first."),
    }

    def encrypt(self, text: str) -> str:
        return crypto.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return crypto.decrypt(encrypted_text)

    def get_totp_label(self, user: User) -> str:
        return f"{user.account.username}@{settings.LOCAL_DOMAIN}"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return relying_party()

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        """Return the name and id of the user as the authenticator stores them; the id contains only the user's primary key."""
        name = self.get_totp_label(user)
        return {"id": user_pk_to_url_str(user).encode(), "name": name, "display_name": name}

    def generate_authenticator_name(self, user: User, type: str) -> str:
        number = len(load_second_factors(user).passkeys) + 1
        return gettext("Passkey %(number)d") % {"number": number}
