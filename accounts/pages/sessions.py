"""The page on which people see in which browsers they are signed in, and sign them out."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_POST

from accounts.models import User
from accounts.queries.sessions import list_sessions
from accounts.services.sessions import end_session, end_sessions
from social.pages.frame import show


class SessionsView(View):
    """`/auth/sessions`: GET lists the browsers, POST signs all out but the one that asks."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """The list."""
        assert isinstance(request.user, User)
        sessions = list_sessions(request.user, request.session.session_key)
        context = {"sessions": sessions, "password_url": reverse("account_change_password")}
        return show(request, "accounts/sessions.html", context)

    def post(self, request: HttpRequest) -> HttpResponse:
        """Sign the other browsers out."""
        assert isinstance(request.user, User)
        end_sessions(user=request.user, except_key=request.session.session_key)
        messages.success(request, _("All other browsers are signed out."))
        return redirect("usersessions_list")


@require_POST
def end_one(request: HttpRequest, session_id: int) -> HttpResponse:
    """`POST /auth/sessions/:id`: sign one browser out, this one too. Raises NotFound for what is not one's own."""
    assert isinstance(request.user, User)
    if end_session(user=request.user, session_id=session_id) == request.session.session_key:
        logout(request)
        return redirect("account_login")
    messages.success(request, _("The browser is signed out."))
    return redirect("usersessions_list")
