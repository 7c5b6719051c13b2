"""Block lists in the admin, whose rows are added and removed (singly or several at once) by services."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accounts.admin.permitted import EditedAdmin
from social.api.staff_acts import BoundAct


class BlockListAdmin(EditedAdmin):
    """Base of block lists, whose rows a service removes."""

    actions = ("remove",)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return only the names of the rows; their counters are deleted as well, but need not be listed."""
        return [self.name_of(row) for row in objs], {}, set(), []

    @admin.action(description=_("Remove"), permissions=["manage"])
    def remove(self, request: HttpRequest, queryset: QuerySet[Any]) -> TemplateResponse | None:
        done = ngettext_lazy("%(count)d entry was removed.", "%(count)d entries were removed.", "count")
        act = BoundAct(partial(self.delete_model, request), "remove", done, _("Remove these entries?"))
        return self.each(request, queryset, act)


class AddedOnly:
    """Mixin for rows that cannot be changed, only added and removed; it comes before the base class."""

    form: Any
    list_display: Any

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fields of the form for a new row, and the columns of the list for an existing one."""
        return list(self.form.Meta.fields if obj is None else self.list_display)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Return all fields of an existing row."""
        return [] if obj is None else self.get_fields(request, obj)


class AddedOnlyAdmin(AddedOnly, BlockListAdmin):
    """A block list whose rows cannot be changed."""
