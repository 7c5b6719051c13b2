"""The staff member who uses the admin, and admin actions that each call one service."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import Promise

from accounts.policies.staff import Staff, staff_of
from social.api.staff import ActionVariant, ReadOnlyAdmin, action
from social.api.staff_forms import StaffForm

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

#: Function called with the staff member, the row and, if the action has a form, its cleaned data.
Act = Callable[..., Any]


def acting(request: HttpRequest) -> Staff:
    """Return the staff member who uses the admin, in the form that services expect."""
    user: Any = request.user
    return staff_of(user)


def row_action(
    description: str | _StrPromise,
    act: Act,
    *,
    icon: str,
    verb: str,
    done: str | _StrPromise,
    question: str | Promise,
    permission: str = "manage",
    variant: Any = ActionVariant.DEFAULT,
    form: type[StaffForm] | None = None,
) -> Callable[..., HttpResponse]:
    """A button on a row's page, for `actions_detail`, that runs `act` through `ReadOnlyAdmin.one`."""

    @action(description=description, icon=icon, permissions=[permission], variant=variant)
    def on_row(self: ReadOnlyAdmin, request: HttpRequest, object_id: Any) -> HttpResponse:
        run = partial(act, acting(request))
        return self.one(request, object_id, run, verb=verb, done=done, question=question, form=form)

    return on_row


def rows_action(
    description: str | _StrPromise,
    act: Act,
    *,
    verb: str,
    done: str | _StrPromise,
    question: str | Promise = "",
    permission: str = "manage",
    form: type[StaffForm] | None = None,
) -> Callable[..., TemplateResponse | None]:
    """An entry of the action menu of a list, for `actions`, that runs `act` through `ReadOnlyAdmin.each`."""

    @admin.action(description=description, permissions=[permission])
    def on_rows(self: ReadOnlyAdmin, request: HttpRequest, queryset: QuerySet[Any]) -> TemplateResponse | None:
        run = partial(act, acting(request))
        return self.each(request, queryset, run, verb=verb, done=done, question=question, form=form)

    return on_rows
