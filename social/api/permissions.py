"""Knows where an action's declared access is enforced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission

from social.api.gate import admission_of

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

    from social.api.access import Access
    from social.api.identities import Identity


class AccessPermission(BasePermission):
    """Checks `access[action]` of the viewset against what the gate found; the order is that of `Access.check`."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """True, or Unauthorized (401), Forbidden (403), Invalid (422)."""
        access: Access = view.access[view.action]  # type: ignore[attr-defined]
        admission = admission_of(request)
        identity: Identity | None = request.auth  # type: ignore[assignment]
        access.check(identity, token_sent=admission is not None and admission.token_sent)
        return True
