"""Client applications over HTTP: registration, and looking at one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.queries.applications import find_application
from accounts.serializers.application import ApplicationSerializer, CredentialApplicationSerializer
from accounts.services.applications import register_application
from social.api.access import any_token, anyone
from social.api.declarations import Endpoint
from social.api.inputs import ClientString, Input, parameters
from social.api.limits import limited
from social.api.responses import reply
from social.api.viewsets import ApiViewSet


@dataclass(frozen=True)
class RegistrationForm:
    """The text parameters of `POST /api/v1/apps`."""

    client_name: str = ""
    scopes: str | None = None
    website: str | None = None


class RegistrationInput(Input[RegistrationForm]):
    """What an application says of itself; the rules are the service's."""

    draft = RegistrationForm
    client_name = ClientString()
    scopes = ClientString()
    website = ClientString()


def _redirect_uris(sent: dict[str, Any]) -> str | Sequence[str]:
    """A string with one address per line, or a list in any spelling (clients.md, trap 2)."""
    value = sent.get("redirect_uris")
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str)]
    return value if isinstance(value, str) else ""


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
        sent = parameters(request)
        form = RegistrationInput.read(request)
        made = register_application(
            name=form.client_name, redirect_uris=_redirect_uris(sent), scopes=form.scopes, website=form.website
        )
        return reply(CredentialApplicationSerializer(made).data)

    def verify_credentials(self, request: Request) -> HttpResponse:
        """The application that the token belongs to, the user's as well as its own (SEED-092)."""
        return reply(ApplicationSerializer(find_application(self.identity.application_id)).data)
