"""Filters of the admin that are more than links: fields to choose from and to write into, as the theme makes them.

A `list_filter` with one of them needs `list_filter_submit = True`, so that what was written is sent.
"""

from __future__ import annotations

from unfold.contrib.filters.admin import (
    AutocompleteSelectFilter,
    ChoicesDropdownFilter,
    DropdownFilter,
    RangeDateFilter,
    RangeDateTimeFilter,
    RelatedDropdownFilter,
    TextFilter,
)

__all__ = [
    "AutocompleteSelectFilter",
    "ChoicesDropdownFilter",
    "DropdownFilter",
    "RangeDateFilter",
    "RangeDateTimeFilter",
    "RelatedDropdownFilter",
    "TextFilter",
]
