"""Pages on which people see, and end, their sessions in browsers and the access of applications to their account."""

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.http import require_POST, require_safe

from accounts.identity.pages.steps import to_sign_in
from accounts.identity.queries.sign_in import list_sessions
from accounts.identity.queries.tokens import find_application, list_authorizations
from accounts.identity.serializers import AuthorizationSerializer
from accounts.identity.services.sessions import end_session, end_sessions
from accounts.identity.services.tokens import revoke_application_of_user
from accounts.models import User
from accounts.pages.settings import signed_in
from social.api.responses import reply
from social.pages.frame import show


class SessionsView(View):
    """`/auth/sessions`: GET lists the signed-in browsers, POST signs out all but the current one."""

    def get(self, request: HttpRequest) -> HttpResponse:
        sessions = list_sessions(signed_in(request), request.session.session_key)
        context = {"sessions": sessions, "password_url": reverse("account_change_password")}
        return show(request, "accounts/sessions.html", context)

    def post(self, request: HttpRequest) -> HttpResponse:
        end_sessions(user=signed_in(request), except_key=request.session.session_key)
        messages.success(request, _("All other browsers are signed out."))
        return redirect("usersessions_list")


@require_POST
def end_one(request: HttpRequest, session_id: int) -> HttpResponse:
    """`POST /auth/sessions/:id`: signs out a browser, possibly the current one. Raises NotFound for another user's session."""
    if end_session(user=signed_in(request), session_id=session_id) == request.session.session_key:
        logout(request)
        return redirect("account_login")
    messages.success(request, _("The browser is signed out."))
    return redirect("usersessions_list")


@require_safe
def authorized_applications(request: HttpRequest) -> HttpResponse:
    """`GET /oauth/authorized_applications`: a page, or the list as JSON for clients that accept JSON."""
    if not isinstance(request.user, User):
        return to_sign_in(request)
    authorizations = list_authorizations(request.user)
    if "application/json" in request.headers.get("Accept", ""):
        return reply(AuthorizationSerializer(authorizations, many=True).data)
    return show(request, "oauth/applications.html", {"applications": authorizations})


class AuthorizedApplicationView(View):
    """`/oauth/authorized_applications/:id`: DELETE, or POST from a form, revokes all tokens the application has."""

    def post(self, request: HttpRequest, application_id: int) -> HttpResponse:
        if not isinstance(request.user, User):
            return to_sign_in(request, "/oauth/authorized_applications")
        revoke_application_of_user(user=request.user, application=find_application(application_id))
        return redirect("oauth_authorized_applications")

    def delete(self, request: HttpRequest, application_id: int) -> HttpResponse:
        return self.post(request, application_id)

    def get(self, request: HttpRequest, application_id: int) -> HttpResponse:
        """Redirect to the list, for people who come back through the browser's history."""
        return redirect("oauth_authorized_applications")
