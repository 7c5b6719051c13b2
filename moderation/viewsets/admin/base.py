"""What all endpoints of staff share: who acts, and how a refusal by role or rank is answered."""

from __future__ import annotations

from django.http import HttpResponse

from accounts.models.user import Permission
from accounts.policies.staff import NotPermitted, Staff, require, staff_of
from accounts.queries.users import find_user
from social.api.viewsets import ApiViewSet
from social.kernel.errors import Forbidden


class AdminViewSet(ApiViewSet):
    """Base of the endpoints under `/api/v1/admin`."""

    def acting(self, permission: Permission) -> Staff:
        """Who calls, if their role grants the permission, or one of several. Raises NotPermitted. One query."""
        by = staff_of(find_user(self.identity.user_id))
        require(by, permission)
        return by

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # as in ApiViewSet
        """As everywhere; which permission or rank is missing is not said (SEED-152)."""
        return super().handle_exception(Forbidden() if isinstance(exc, NotPermitted) else exc)
