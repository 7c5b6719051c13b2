"""The front page: what this server is, or, for somebody who is signed in, their account."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.pages.account_state import show_account_state, text_of
from accounts.pages.person import person
from accounts.pages.settings import navigation
from accounts.pages.steps import registrations
from accounts.queries.tokens import SignInState, find_sign_in_state
from social.pages.frame import show, url_of


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    """`/`."""
    if not isinstance(request.user, User):
        return show(request, "pages/front.html", dict(registrations()))
    state = find_sign_in_state(request.user)
    if state is SignInState.UNAPPROVED:
        # Nothing else works yet: neither an app nor the settings.
        return show_account_state(request, request.user, state, back="/", status=200)
    context: dict[str, Any] = {
        **person(request.user.account),
        "standing": text_of(state),
        "settings_groups": navigation(request.user),
        "admin_url": url_of("admin:index") if request.user.is_staff else "",
    }
    return show(request, "pages/front.html", context)
