"""Setting up a second factor, and what that ends."""

from __future__ import annotations

from typing import Any

from allauth.mfa.totp.views import ActivateTOTPView
from django.http import HttpResponse

from accounts.services.sessions import end_sessions


class ActivateAppView(ActivateTOTPView):
    """Ties an authenticator app to the account."""

    def form_valid(self, form: Any) -> HttpResponse:
        """From now on only this browser is signed in: the others never showed the second factor (row 24)."""
        response: HttpResponse = super().form_valid(form)
        end_sessions(user=self.request.user, except_key=self.request.session.session_key)
        return response
