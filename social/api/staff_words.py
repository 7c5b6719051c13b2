"""Sentences of the admin's theme, listed here so that they are translated: the theme itself is in English only."""

from __future__ import annotations

from django.utils.translation import gettext_noop

SENTENCES = (
    gettext_noop("All applications"),
    gettext_noop("Apply Filters"),
    gettext_noop("Choose file to upload"),
    gettext_noop("Click to download"),
    gettext_noop("Dark"),
    gettext_noop("Date"),
    gettext_noop("Date from"),
    gettext_noop("Date to"),
    gettext_noop("Expand row"),
    gettext_noop("From"),
    gettext_noop("General"),
    gettext_noop("Go back"),
    gettext_noop("Image preview"),
    gettext_noop("Light"),
    gettext_noop("Loading more results..."),
    gettext_noop("More actions"),
    gettext_noop("No data"),
    gettext_noop("No results found"),
    gettext_noop("No results matching your query"),
    gettext_noop("Record picture"),
    gettext_noop("Reset filters"),
    gettext_noop("Run"),
    gettext_noop("Search apps and models..."),
    gettext_noop("Select action"),
    gettext_noop("Select action to run"),
    gettext_noop("Select all rows"),
    gettext_noop("Select record"),
    gettext_noop("Select value"),
    gettext_noop("System"),
    gettext_noop("This page yielded into no results. Create a new item or reset your filters."),
    gettext_noop("To"),
    gettext_noop("Type to search"),
    gettext_noop("Value"),
)
