"""Sign-up over HTTP."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.identity.policies.sign_up import SignUpDraft
from accounts.identity.serializers.inputs.sign_up import SignUpInput
from accounts.identity.serializers.oauth import TokenSerializer
from accounts.identity.services.signing_up import sign_up
from accounts.identity.services.tokens import issue_token
from accounts.models import Application
from accounts.viewsets.accounts import AccountsViewSet
from social.api.access import app_token
from social.api.declarations import Endpoint
from social.api.limits import limited
from social.api.responses import reply


class SignUpViewSet(AccountsViewSet):
    """`/api/v1/accounts`: sign-up by POST, accounts by id by GET."""

    endpoints = {
        "create": Endpoint(app_token("write:accounts"), "Token", input=SignUpInput, throttles=limited("sign_up")),
        "list": AccountsViewSet.endpoints["list"],
    }

    def create(self, request: Request) -> HttpResponse:
        """Sign up; the answer is the new person's token with the scopes of the application."""
        form = SignUpInput.read(request)
        application = Application.objects.get(id=self.identity.application_id)
        draft = SignUpDraft(**form.__dict__, ip=request.client_ip)  # type: ignore[attr-defined]  # set by the middleware
        made = sign_up(draft=draft, application=application)
        token = issue_token(application=application, user=made, scopes=application.scope_list)
        return reply(TokenSerializer(token).data)
