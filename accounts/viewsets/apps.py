"""Client applications over HTTP: registration, and looking at one's own."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.queries.applications import find_application
from accounts.serializers.application import ApplicationSerializer, CredentialApplicationSerializer
from accounts.serializers.inputs.apps import RegistrationInput
from accounts.services.applications import register_application
from social.api.access import any_token, anyone
from social.api.declarations import Endpoint
from social.api.limits import limited
from social.api.responses import reply
from social.api.viewsets import ApiViewSet


class AppsViewSet(ApiViewSet):
    """`/api/v1/apps` (contract, parameters section 1)."""

    endpoints = {
        "create": Endpoint(
            anyone(),
            "CredentialApplication",
            input=RegistrationInput,
            also=("redirect_uris",),
            throttles=limited("apps"),
        ),
        "verify_credentials": Endpoint(any_token(), "Application"),
    }

    def create(self, request: Request) -> HttpResponse:
        """Register an application; the answer is the only place where its secret is shown."""
        form = RegistrationInput.read(request)
        made = register_application(
            name=form.client_name, redirect_uris=form.redirect_uris, scopes=form.scopes, website=form.website
        )
        return reply(CredentialApplicationSerializer(made).data)

    def verify_credentials(self, request: Request) -> HttpResponse:
        """The application that the token belongs to, the user's as well as its own (SEED-092)."""
        return reply(ApplicationSerializer(find_application(self.identity.application_id)).data)
