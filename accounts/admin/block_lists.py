"""Lists of blocks in the admin: rows are added, and taken back one by one or many at once, each by a service."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy, ngettext_lazy

from accounts.admin.acting import acting
from accounts.admin.permitted import EditedAdmin
from accounts.policies.staff import Staff


class BlockListAdmin(EditedAdmin):
    """A list of blocks."""

    actions = ("remove",)

    @abstractmethod
    def take_back(self, by: Staff, row: Any) -> None:
        """Remove a row by its service."""

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Take it back by the service."""
        self.take_back(acting(request), obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return the names of the rows alone: what is counted for them goes with them and is nobody's loss."""
        return [self.name_of(row) for row in objs], {}, set(), []

    @admin.action(description=gettext_lazy("Remove"), permissions=["manage"])
    def remove(self, request: HttpRequest, queryset: QuerySet[Any]) -> TemplateResponse | None:
        """Take the chosen rows back."""
        by = acting(request)
        return self.each(
            request,
            queryset,
            lambda row: self.take_back(by, row),
            verb="remove",
            done=ngettext_lazy("%(count)d entry was removed.", "%(count)d entries were removed.", "count"),
            question=gettext_lazy("Remove these entries?"),
        )


class AddedOnlyAdmin(BlockListAdmin):
    """A list of blocks whose rows do not change: one is removed and another one added."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse everybody."""
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return what is asked for a new row, and what the list shows of one that is there."""
        form: Any = self.form
        return list(form.Meta.fields if obj is None else self.list_display)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Return all that is shown of a row that is there."""
        return [] if obj is None else self.get_fields(request, obj)
