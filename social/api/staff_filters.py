"""Admin filters that are form fields instead of links: the theme's dropdowns and text fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import Promise
from unfold.contrib.filters.admin import RangeDateTimeFilter as RangeDateTimeFilter
from unfold.contrib.filters.admin import RelatedDropdownFilter as RelatedDropdownFilter

if TYPE_CHECKING:
    DropdownFilter = admin.SimpleListFilter
    TextFilter = admin.SimpleListFilter
    Autocomplete = admin.RelatedFieldListFilter
else:  # The theme's classes have no type annotations.
    from unfold.contrib.filters.admin import AutocompleteSelectFilter as Autocomplete
    from unfold.contrib.filters.admin import DropdownFilter, TextFilter


class AutocompleteSelectFilter(Autocomplete):
    """Filter by a row of another table, with search as you type. The filter is hidden from staff who may not see that table."""

    def __init__(self, field: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(field, request, *args, **kwargs)
        known = admin.site._registry.get(field.related_model)
        self.may_look = known is not None and known.has_view_permission(request)

    def has_output(self) -> bool:
        return self.may_look


def is_form_field(declared: Any) -> bool:
    """Tell whether a filter named in `list_filter` is one of `text_filter` or `dropdown_filter`."""
    return isinstance(declared, type) and issubclass(declared, DropdownFilter | TextFilter)


def text_filter(
    parameter: str, title: str | Promise, found: Callable[[QuerySet[Any], str], QuerySet[Any]]
) -> type[TextFilter]:
    """Return a filter with a text field: `found` selects the rows for a text, which is stripped and not empty."""
    return type(
        "TextFilter", (TextFilter,), {"title": title, "parameter_name": parameter, "queryset": _queryset(found)}
    )


def dropdown_filter(
    parameter: str,
    title: str | Promise,
    choices: Callable[[], list[tuple[str, Any]]],
    found: Callable[[QuerySet[Any], str], QuerySet[Any]],
) -> type[DropdownFilter]:
    """Return a filter with a list of `choices` (values and their labels); `found` selects the rows for the chosen value."""

    def lookups(self: DropdownFilter, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return choices()

    declared = {"title": title, "parameter_name": parameter, "lookups": lookups, "queryset": _queryset(found)}
    return type("DropdownFilter", (DropdownFilter,), declared)


def _queryset(found: Callable[[QuerySet[Any], str], QuerySet[Any]]) -> Callable[..., QuerySet[Any]]:
    def queryset(self: Any, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = (self.value() or "").strip()
        return found(queryset, value) if value else queryset

    return queryset
