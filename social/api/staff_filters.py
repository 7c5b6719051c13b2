"""Filters of the admin that are more than links: fields to choose from and to write into, as the theme makes them.

A `list_filter` with one of them needs `list_filter_submit = True`, so that what was written is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from unfold.contrib.filters.admin import (
    AutocompleteSelectFilter,
    ChoicesDropdownFilter,
    RangeDateFilter,
    RangeDateTimeFilter,
    RelatedDropdownFilter,
)

if TYPE_CHECKING:
    DropdownFilter = admin.SimpleListFilter
    TextFilter = admin.SimpleListFilter
else:  # The theme's classes have no types.
    from unfold.contrib.filters.admin import DropdownFilter, TextFilter

__all__ = [
    "AutocompleteSelectFilter",
    "ChoicesDropdownFilter",
    "DropdownFilter",
    "RangeDateFilter",
    "RangeDateTimeFilter",
    "RelatedDropdownFilter",
    "TextFilter",
]
