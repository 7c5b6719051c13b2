"""Base of all endpoints for staff: identifies the staff member, and refuses requests that the role or rank does not allow."""

from collections.abc import Callable, Mapping, Sequence
from enum import IntFlag
from functools import wraps
from typing import Any, ClassVar

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.http import HttpResponse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from rest_framework.request import Request

from accounts.models import User
from accounts.models.user import Permission
from accounts.policies.staff import NotPermitted, Staff, require, staff_of
from accounts.queries.users import find_user
from social.api import access
from social.api.declarations import EMPTY, Endpoint
from social.api.inputs import Reading
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply
from social.api.serializers import EntitySerializer
from social.api.viewsets import ApiViewSet
from social.kernel.errors import Forbidden, require_found


def require_second_factor(user: User) -> None:
    """Refuse a member of staff who must have a second factor and has none. Raises Forbidden (behaviours section 3)."""
    if settings.STAFF_SECOND_FACTOR and not is_mfa_enabled(user):
        raise Forbidden(_("Your account requires two-factor authentication"))


class AdminViewSet(ApiViewSet):
    """Base of the endpoints under `/api/v1/admin`."""

    by: Staff
    """The staff member who sends the request; set only if the endpoint requires a permission of staff."""

    acts: ClassVar[Mapping[str, tuple[str, Callable[[Staff, Any], object]]]] = {}
    """Actions on a row, by method name, each with its title in the OpenAPI document and the function that acts.

    `endpoints` also declares these methods. `find` finds the row, and `present` presents the row that the function returns or,
    if it returns None, the row that was found.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, (title, run) in vars(cls).get("acts", {}).items():
            setattr(cls, name, _action(title, run))

    def find(self, row_id: int) -> Any:
        """Return the row that an action concerns. Raises NotFound."""
        raise NotImplementedError  # each subclass has its own

    def present(self, row: Any) -> HttpResponse:
        """Return the response to an action on this row."""
        raise NotImplementedError  # each subclass has its own

    def require_permission(self, permission: IntFlag) -> None:
        """Set `by` and check the permission.

        One query, and a second query if staff must have a second factor (STAFF_SECOND_FACTOR, as for staff pages). Raises
        NotPermitted, Forbidden.
        """
        user = find_user(self.identity.user_id)
        self.by = staff_of(user)
        require(self.by, Permission(permission))
        require_second_factor(user)

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # DRF declares its own Response
        """Handle errors as other endpoints do, but without naming the missing permission or rank (SEED-152)."""
        return super().handle_exception(Forbidden() if isinstance(exc, NotPermitted) else exc)


def _action(title: str, run: Callable[[Staff, Any], object]) -> Callable[..., HttpResponse]:
    def action(self: AdminViewSet, request: Request, id: int) -> HttpResponse:
        row = self.find(id)
        changed = run(self.by, row)
        return self.present(row if changed is None else changed)

    action.__doc__ = title
    return action


def row_endpoints(
    scope: str,
    permission: Permission,
    entity: str,
    *,
    create: type[Reading],
    update: type[Reading] | None = None,
    also: tuple[str, ...] = (),
    most: int = 200,
) -> dict[str, Endpoint]:
    """Return the endpoints of an AdminRowsViewSet. `create` and `update` are the input classes of these actions, `also` names
    further parameters of `create`, and `most` is the maximum number of rows on a page.
    """
    reads, writes = (access.staff(f"admin:{kind}:{scope}", permission) for kind in ("read", "write"))
    endpoints = {
        "list": Endpoint(reads, entity, many=True, paging=ByCursor(Limit(100, most))),
        "retrieve": Endpoint(reads, entity),
        "create": Endpoint(writes, entity, input=create, also=also),
        "destroy": Endpoint(writes, EMPTY),
    }
    if update is not None:
        endpoints["update"] = Endpoint(writes, entity, input=update)
    return endpoints


def row_titles(one: str, many: str) -> dict[str, str]:
    """Return the titles of an AdminRowsViewSet; `one` begins with the article: `row_titles("a rule", "rules")`."""
    titles = {"list": f"List of {many}, newest first.", "retrieve": f"{capfirst(one)}.", "destroy": f"Remove {one}."}
    return titles


class AdminRowsViewSet(AdminViewSet):
    """Base of endpoints that list, show and remove the rows of one table; `titles` are their titles in the OpenAPI document."""

    model: ClassVar[Any]
    serializer: ClassVar[type[EntitySerializer]]
    titles: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, title in cls.titles.items():
            setattr(cls, name, _with_title(getattr(AdminRowsViewSet, name), title))

    def list(self, request: Request) -> HttpResponse:
        page = self.paginate(self.model.objects.all())
        return page.respond(self.entities(page.items))

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        return self.present(self.find(id))

    def destroy(self, request: Request, id: int) -> Any:
        self.remove(self.find(id))
        return {}

    def remove(self, row: Any) -> None:
        """Remove the row through its service."""
        raise NotImplementedError  # each subclass with `destroy` has its own

    def find(self, row_id: int) -> Any:
        return require_found(self.model.objects.filter(pk=row_id).first())

    def present(self, row: Any) -> HttpResponse:
        return reply(self.entities([row])[0])

    def entities(self, rows: Sequence[Any]) -> Any:
        return self.serializer(rows, many=True, context=self.context(rows)).data

    def context(self, rows: Sequence[Any]) -> dict[str, Any]:
        return {}


def _with_title(method: Callable[..., Any], title: str) -> Callable[..., Any]:
    @wraps(method)
    def action(self: AdminRowsViewSet, *args: Any, **kwargs: Any) -> Any:
        return method(self, *args, **kwargs)

    action.__doc__ = title
    return action
