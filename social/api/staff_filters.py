"""Filters of the admin that are more than links: fields to choose from and to write into, as the theme makes them.

A `list_filter` with one of them needs `list_filter_submit = True`, so that what was written is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.contrib.filters.admin import (
    ChoicesDropdownFilter,
    RangeDateFilter,
    RangeDateTimeFilter,
    RelatedDropdownFilter,
)

if TYPE_CHECKING:
    DropdownFilter = admin.SimpleListFilter
    TextFilter = admin.SimpleListFilter
    Autocomplete = admin.RelatedFieldListFilter
else:  # The theme's classes have no types.
    from unfold.contrib.filters.admin import AutocompleteSelectFilter as Autocomplete
    from unfold.contrib.filters.admin import DropdownFilter, TextFilter


class AutocompleteSelectFilter(Autocomplete):
    """A filter by a row of another table, looked for while one types. Who may not see that table has no such filter."""

    def __init__(self, field: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(field, request, *args, **kwargs)
        known = admin.site._registry.get(field.related_model)
        self.may_look = known is not None and known.has_view_permission(request)

    def has_output(self) -> bool:
        """Tell whether the filter is shown."""
        return self.may_look


__all__ = [
    "AutocompleteSelectFilter",
    "ChoicesDropdownFilter",
    "DropdownFilter",
    "RangeDateFilter",
    "RangeDateTimeFilter",
    "RelatedDropdownFilter",
    "TextFilter",
]
