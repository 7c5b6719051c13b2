"""The page on which a person sees which applications use their account, and takes the right back."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views import View
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.pages.steps import to_sign_in
from accounts.queries.applications import find_application, list_authorizations
from accounts.serializers.application import AuthorizationSerializer
from accounts.services.tokens import revoke_application_of_user
from social.api.responses import reply
from social.pages.frame import show


@require_safe
def authorized_applications(request: HttpRequest) -> HttpResponse:
    """`GET /oauth/authorized_applications`; for programs in the person's browser the list as JSON."""
    if not isinstance(request.user, User):
        return to_sign_in(request)
    found = list_authorizations(request.user)
    if "application/json" in request.headers.get("Accept", ""):
        return reply(AuthorizationSerializer(found, many=True).data)
    return show(request, "oauth/applications.html", {"applications": found})


class AuthorizedApplicationView(View):
    """`/oauth/authorized_applications/:id`: DELETE, or POST from a form, revokes all tokens the application has."""

    def post(self, request: HttpRequest, application_id: int) -> HttpResponse:
        """Revoke and show the list again. Raises NotFound for an application that does not exist."""
        if not isinstance(request.user, User):
            return to_sign_in(request, "/oauth/authorized_applications")
        revoke_application_of_user(user=request.user, application=find_application(application_id))
        return redirect("oauth_authorized_applications")

    def delete(self, request: HttpRequest, application_id: int) -> HttpResponse:
        """As POST."""
        return self.post(request, application_id)

    def get(self, request: HttpRequest, application_id: int) -> HttpResponse:
        """Somebody came back here by the browser's history: the list is what they want."""
        return redirect("oauth_authorized_applications")
