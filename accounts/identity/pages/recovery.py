"""The page that an operator's link opens."""

from __future__ import annotations

from allauth.account import app_settings
from allauth.account.utils import perform_login
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from accounts.identity.adapters import RECOVERY
from accounts.identity.services.recovery import find_recovering
from social.kernel.errors import require_found
from social.pages.frame import show


@require_http_methods(["GET", "HEAD", "POST"])
def recover(request: HttpRequest, token: str) -> HttpResponse:
    """`/auth/recover/<token>`: GET shows whose account it is, because previews also open links; POST signs in, with the
    second factor if there is one. Raises NotFound for a link that is too old or used.
    """
    user = require_found(find_recovering(token))
    if request.method != "POST":
        return show(request, "account/recover.html", {"username": user.account.username})
    answer: HttpResponse = perform_login(
        request, user, email_verification=app_settings.EMAIL_VERIFICATION, signal_kwargs={RECOVERY: True}
    )
    return answer
