"""Columns of staff's tables with words of their own, filters by condition, one way to write a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.db.models.expressions import BaseExpression
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import Promise, cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Pages = Paginator[Any]
else:  # Django's class takes no type argument when it runs
    Pages = Paginator
Column = Callable[[Any], Any]
PLACEHOLDER = "–"
# A page further down than this is nobody's way to find something; counting all posts would take seconds.
COUNT_LIMIT = 1_000
# Columns are given the row alone.
_request: ContextVar[HttpRequest] = ContextVar("staff_request")


def shown(
    name: str,
    label: str | _StrPromise,
    read: Column | None = None,
    *,
    order: str | BaseExpression | None = None,
    minor: bool = False,
) -> Column:
    """A column or a line of a row's page. `name` is its CSS class, and the attribute when `read` is not given.

    `order` is what the list is sorted by when the heading is pressed; without it the column does not sort. A `minor`
    column is left out on phones, where the list says what a row is and how it stands.
    """

    def column(row: Any) -> Any:
        return written(getattr(row, name) if read is None else read(row))

    # Django makes the cell's classes of the function's name: `field-<name>`, and here a second one.
    column.__name__ = f"{name} minor" if minor else name
    return admin.display(description=label, ordering=order)(column)


def lines(title: str | Promise | None, *columns: Column, tab: bool = False) -> Any:
    """A part of a row's page, for `fieldsets`; with `tab` it is one of several behind tabs."""
    return (title, {"fields": columns, "classes": ["tab"] if tab else []})


def written(value: Any) -> Any:
    """A value as people read it: words for truth, a dash for nothing, one format for moments."""
    if value is None or value in ("", [], {}):
        return PLACEHOLDER
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return value


def moment(value: datetime) -> SafeString:
    """`2026-11-20 13:17 UTC`: the same in every language; the seconds on demand."""
    utc = value.astimezone(UTC)
    return format_html(
        '<time dir="ltr" datetime="{}" title="{}">{}</time>',
        utc.isoformat(),
        f"{utc:%Y-%m-%d %H:%M:%S} UTC",
        f"{utc:%Y-%m-%d %H:%M} UTC",
    )


_MARKS = {"good": "success", "waiting": "warning", "bad": "danger", "plain": "default"}


def mark(text: str | Promise, kind: str) -> SafeString:
    """A state in a word; `kind` is good, waiting, bad or plain."""
    return render_to_string("unfold/helpers/label.html", {"text": text, "type": _MARKS[kind]})


def link(url: str, text: str) -> SafeString:
    """A link to an address, for a column."""
    return format_html('<a href="{}">{}</a>', url, address(text))


@contextmanager
def read_by(request: HttpRequest) -> Iterator[None]:
    """Make a page for the person of the request: within it `may_open` and `row_link` know who that is."""
    token = _request.set(request)
    try:
        yield
    finally:
        _request.reset(token)


def may_open(model: type[Model]) -> bool:
    """Tell whether the pages of a model open for who reads the page that is being made."""
    return bool(admin.site.get_model_admin(model).has_view_permission(_request.get()))


def row_link(model: type[Model], key: Any, text: str) -> SafeString:
    """The page of a row in the admin, under these words; the words alone for who may not open it."""
    if not may_open(model):
        return address(text)
    return link(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[key]), text)


def address(text: str) -> SafeString:
    """`@user`, `user@domain` or an URL: left to right among any words."""
    return format_html('<bdi dir="ltr">{}</bdi>', text)


def shortened(text: str, length: int) -> SafeString:
    """The beginning of a text, broken anywhere so that one long word does not widen the table."""
    return format_html('<span class="words" dir="auto">{}</span>', Truncator(text).chars(length))


def table(headers: Sequence[str | Promise], rows: Sequence[Sequence[Any]]) -> SafeString:
    """A table in a line of a row's page, over its whole width; a dash when it is empty."""
    if not rows:
        return format_html("{}", PLACEHOLDER)
    cells = [[written(cell) for cell in row] for row in rows]
    context = {"table": {"headers": headers, "rows": cells}, "class": "staff-table"}
    return render_to_string("unfold/components/table.html", context)


class ConditionFilter(admin.SimpleListFilter):
    """A filter whose choices are conditions: `conditions` maps a value of the address to its words and its condition."""

    conditions: ClassVar[Mapping[str, tuple[str | Promise, Q]]] = {}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """The choices, in their order."""
        return [(value, words) for value, (words, _condition) in self.conditions.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that meet the chosen condition; all of them without one."""
        chosen = self.conditions.get(self.value() or "")
        return queryset if chosen is None else queryset.filter(chosen[1])


class CappedPaginator(Paginator):
    """Pages of a table of any size: counts no further than the last page that can be turned to."""

    @cached_property
    def count(self) -> int:
        """The number of rows, at most COUNT_LIMIT."""
        rows: Any = self.object_list
        # The keys alone: what is shown beside each row would be worked out for all that are counted.
        return int(rows.order_by().values("pk")[:COUNT_LIMIT].count())
