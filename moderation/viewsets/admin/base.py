"""Base of all endpoints for staff: identifies the staff member, and refuses requests that the role or rank does not allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntFlag
from typing import Any, ClassVar

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request

from accounts.models import User
from accounts.models.user import Permission
from accounts.policies.staff import NotPermitted, Staff, require, staff_of
from accounts.queries.users import find_user
from social.api.staff_acts import Act
from social.api.viewsets import ApiViewSet
from social.kernel.errors import Forbidden


def require_second_factor(user: User) -> None:
    """Refuse a member of staff who must have a second factor and has none. Raises Forbidden (behaviours section 3)."""
    if settings.STAFF_SECOND_FACTOR and not is_mfa_enabled(user):
        raise Forbidden(_("Your account requires two-factor authentication"))


class AdminViewSet(ApiViewSet):
    """Base of the endpoints under `/api/v1/admin`."""

    by: Staff
    """The staff member who calls; set only if the endpoint requires a permission of staff."""

    acts: ClassVar[Mapping[str, Act]] = {}
    """Declared actions by the names of the viewset's methods, which `endpoints` declares as well; they use `find` and
    `present`.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, act in vars(cls).get("acts", {}).items():
            setattr(cls, name, _action(act))

    def find(self, row_id: int) -> Any:
        """Return the row that an action concerns. Raises NotFound."""
        raise NotImplementedError  # each subclass has its own

    def present(self, row: Any) -> HttpResponse:
        """Return the response to an action on this row."""
        raise NotImplementedError  # each subclass has its own

    def require_permission(self, permission: IntFlag) -> None:
        """Set `by` and check the permission. One query, and a second query for the second factor if staff must have one
        (STAFF_SECOND_FACTOR, as for the pages of staff). Raises NotPermitted, Forbidden.
        """
        user = find_user(self.identity.user_id)
        self.by = staff_of(user)
        require(self.by, Permission(permission))
        require_second_factor(user)

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # DRF declares its own Response
        """Answer errors as other endpoints do, but without naming the missing permission or rank (SEED-152)."""
        return super().handle_exception(Forbidden() if isinstance(exc, NotPermitted) else exc)


def _action(act: Act) -> Callable[..., HttpResponse]:
    def action(self: AdminViewSet, request: Request, id: int) -> HttpResponse:
        row = self.find(id)
        act.run(self.by, row)
        return self.present(row)

    action.__doc__ = act.api_summary
    return action
