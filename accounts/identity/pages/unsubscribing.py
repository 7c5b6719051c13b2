"""The page behind the unsubscribe link in mails, which requires no sign-in (RFC 8058)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from accounts.policies.mails import STAFF_SWITCHES, SWITCHES, signed_switch
from accounts.services.preferences import end_mails
from social.kernel.errors import NotFound
from social.pages.frame import show


# The signed link is the permission, and mail programs send no CSRF token (RFC 8058 section 3.1).
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe(request: HttpRequest, signed: str) -> HttpResponse:
    """`/unsubscribe/<signed>`: GET asks for confirmation, because mail scanners open links; POST ends the mails. Raises
    NotFound.
    """
    found = signed_switch(signed)
    if found is None:
        raise NotFound
    user_id, switch = found
    if request.method == "POST":
        end_mails(user_id=user_id, switch=switch)
    page = "settings_preferences" if switch in STAFF_SWITCHES else "settings_notification_mails"
    context = {"title": SWITCHES[switch], "ended": request.method == "POST", "choose": reverse(page)}
    return show(request, "accounts/unsubscribe.html", context)
