"""The page that says why an account cannot be used, and offers the actions that its owner can take."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.identity.pages.steps import sign_in_url, to_sign_in
from accounts.identity.queries.tokens import SignInState, find_sign_in_state
from accounts.identity.services.confirmations import request_confirmation
from accounts.models import User
from accounts.pages.person import person
from social.api.addresses import client_ip, rate_key
from social.pages.frame import show

_TEXTS: dict[SignInState, tuple[str | Promise, str | Promise]] = {
    SignInState.DISABLED: (
        _("Sign-in disabled"),
        _("The people who run this server have disabled sign-in for this account."),
    ),
    SignInState.SUSPENDED: (
        _("Account suspended"),
        _("The people who run this server have suspended this account. No application can use it."),
    ),
    SignInState.UNCONFIRMED: (
        _("Confirm your address first"),
        _("We have sent you an e-mail with a link. Open the link, then come back to the application and try again."),
    ),
    SignInState.UNAPPROVED: (
        _("Your account is waiting"),
        _("A person reviews every request to join. You will get an e-mail when yours is approved; then try again."),
    ),
    SignInState.MOVED: (
        _("This account has moved"),
        _("You have moved to another account. Sign in with that one."),
    ),
}


def text_of(standing: SignInState) -> str | Promise:
    """Return the sentence that says why the account cannot be used; empty if it can."""
    return _TEXTS[standing][1] if standing in _TEXTS else ""


def show_account_state(
    request: HttpRequest, user: User, standing: SignInState, *, back: str, status: int = 403
) -> HttpResponse:
    """Return the page that says why the account cannot be used. It links to the sign-in page, which redirects to `back`."""
    title, text = _TEXTS[standing]
    context = {
        **person(user.account),
        "title": title,
        "text": text,
        "can_resend": standing is SignInState.UNCONFIRMED,
        "can_withdraw": standing is SignInState.UNAPPROVED,
        "other_account_url": sign_in_url(request, back),
    }
    return show(request, "oauth/blocked.html", context, status=status)


@require_POST
def resend_confirmation(request: HttpRequest) -> HttpResponse:
    """Send the confirmation mail once more to a signed-in user whose address is not confirmed."""
    if not isinstance(request.user, User):
        return to_sign_in(request, "/")
    if find_sign_in_state(request.user) is SignInState.UNCONFIRMED:
        request_confirmation(user=request.user, address=rate_key(client_ip(request)))
    return redirect(reverse("account_email_verification_sent"))
