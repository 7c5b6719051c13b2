"""The confirmation of one's e-mail address over HTTP."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request

from accounts.queries.users import find_user
from accounts.serializers.inputs.emails import ResendInput
from accounts.services.confirmations import resend_confirmation
from social.api.access import any_token
from social.api.admission import admission_of
from social.api.declarations import EMPTY, Endpoint
from social.api.limits import limited
from social.api.viewsets import ApiViewSet
from social.kernel.errors import Unauthorized


class EmailsViewSet(ApiViewSet):
    """`/api/v1/emails`: open to people who cannot use their account yet."""

    endpoints = {
        # Any token, because an application's own is refused as another application is, and not as elsewhere.
        "resend": Endpoint(any_token("write:accounts"), EMPTY, input=ResendInput, throttles=limited("confirmations")),
        "check": Endpoint(any_token("read:accounts"), "Boolean"),
    }

    def resend(self, request: Request) -> Any:
        """Send the confirmation mail again, to another address if one is given."""
        form = ResendInput.read(request)
        user = find_user(self.identity.user_id) if self.identity.user_id is not None else None
        resend_confirmation(user=user, application_id=self.identity.application_id, email=form.email)
        return {}

    def check(self, request: Request) -> Any:
        """Whether the address is confirmed."""
        if self.identity.user_id is None:
            raise Unauthorized
        return self.identity.confirmed

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # of DRF, whose Response we do not use
        """The answer to an error; `check` says of every missing user the same, with or without a token."""
        admission = admission_of(self.request)
        revoked = admission is not None and admission.refusal is not None
        if self.action == "check" and isinstance(exc, Unauthorized) and not revoked:
            exc = Unauthorized(_("This method requires an authenticated user"))
        return super().handle_exception(exc)
