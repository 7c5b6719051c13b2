"""Columns of admin tables with custom labels, filters by condition, and one format for dates and times."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
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
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Pages = Paginator[Any]
else:  # Django's class takes no type argument at run time
    Pages = Paginator
Column = Callable[[Any], Any]
PLACEHOLDER = "–"
# Rows are counted only up to this number, because nobody opens more pages to find a row, and counting all posts would take
# seconds.
COUNT_LIMIT = 1_000
# The request for the page that is being rendered, stored here because Django passes only the row to a column.
_request: ContextVar[HttpRequest] = ContextVar("staff_request")


def shown(
    name: str,
    label: str | _StrPromise,
    read: Column | None = None,
    *,
    order: str | BaseExpression | None = None,
    minor: bool = False,
) -> Column:
    """Return a column, or a line of a row's page. `name` is its CSS class; `read` returns its value, by default the
    attribute `name`.

    `order` is the expression by which the heading sorts the list; without it the column cannot be sorted. A `minor` column
    is hidden on phones, where the list shows only a row's name and state.
    """

    def column(row: Any) -> Any:
        return written(getattr(row, name) if read is None else read(row))

    # Django derives the cell's CSS classes from the function's name: `field-<name>`, and here `minor` too.
    column.__name__ = f"{name} minor" if minor else name
    return admin.display(description=label, ordering=order)(column)


def lines(title: str | Promise | None, *columns: Column | str, tab: bool = False) -> Any:
    """Return a section of a row's page, for `fieldsets`, with columns or fields of the form. With `tab`, it is a tab."""
    return (title, {"fields": columns, "classes": ["tab"] if tab else []})


def written(value: Any) -> Any:
    """Return a value as text: Yes or No for booleans, a dash for empty values, one format for dates and times."""
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
    """Return a date and time as `2026-11-20 13:17 CET` in the reader's time zone, whatever the language, with a tooltip."""
    local = localtime(value)
    return format_html(
        '<time dir="ltr" datetime="{}" title="{}">{}</time>',
        local.isoformat(),
        f"{local:%Y-%m-%d %H:%M:%S %Z}",
        f"{local:%Y-%m-%d %H:%M %Z}",
    )


_MARKS = {"good": "success", "waiting": "warning", "bad": "danger", "plain": "default"}


def mark(text: str | Promise, kind: str) -> SafeString:
    """Return a coloured label for a state; `kind` is good, waiting, bad or plain."""
    return render_to_string("unfold/helpers/label.html", {"text": text, "type": _MARKS[kind]})


def link(url: str, text: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', url, address(text))


@contextmanager
def read_by(request: HttpRequest) -> Iterator[None]:
    """Set the request for which the block renders a page; `may_open` and `row_link` check the permissions of its user."""
    token = _request.set(request)
    try:
        yield
    finally:
        _request.reset(token)


def may_open(model: type[Model]) -> bool:
    """Tell whether the user for whom a page is being rendered may open the admin pages of a model."""
    return bool(admin.site.get_model_admin(model).has_view_permission(_request.get()))


def row_link(model: type[Model], key: Any, text: str) -> SafeString:
    """Return a link to a row's page in the admin with `text`; the text alone for users who may not open that page."""
    if not may_open(model):
        return address(text)
    return link(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[key]), text)


def address(text: str) -> SafeString:
    """Return `@user`, `user@domain` or a URL, written from left to right in text of any direction."""
    return format_html('<bdi dir="ltr">{}</bdi>', text)


def shortened(text: str, length: int) -> SafeString:
    """Return the first `length` characters of a text. Lines may break anywhere, so that long words do not widen the table."""
    return format_html('<span class="words" dir="auto">{}</span>', Truncator(text).chars(length))


def table(headers: Sequence[str | Promise], rows: Sequence[Sequence[Any]]) -> SafeString:
    """Return a table with the full width of the row's page; a dash if there are no rows."""
    if not rows:
        return format_html("{}", PLACEHOLDER)
    cells = [[written(cell) for cell in row] for row in rows]
    context = {"table": {"headers": headers, "rows": cells}, "class": "staff-table"}
    return render_to_string("unfold/components/table.html", context)


class ConditionFilter(admin.SimpleListFilter):
    conditions: ClassVar[Mapping[str, tuple[str | Promise, Q]]] = {}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(value, words) for value, (words, _condition) in self.conditions.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.conditions.get(self.value() or "")
        return queryset if chosen is None else queryset.filter(chosen[1])


def condition_filter(
    parameter: str, title: str | Promise, **conditions: tuple[str | Promise, Q]
) -> type[ConditionFilter]:
    """Return a filter whose choices are conditions: each value of the URL's parameter has a label and a condition."""
    declared = {"title": title, "parameter_name": parameter, "conditions": conditions}
    return type("ConditionFilter", (ConditionFilter,), declared)


_TESTS: Mapping[str, Callable[[Any, Any], bool]] = {
    "": operator.eq,
    "gt": operator.gt,
    "isnull": lambda value, expected: (value is None) == expected,
}


def _meets(condition: Q, row: Any) -> bool:
    children: Any = condition.children
    parts = [(lookup.partition("__"), value) for lookup, value in children]
    return all(_TESTS[test](getattr(row, name), value) for (name, _separator, test), value in parts)


class States:
    """The states of a table's rows, keyed by names in URLs. Each state has words, a kind of label (`mark`) and a condition.

    A condition compares columns of the row or annotations by equality, `gt` or `isnull`; all of these comparisons must be true.
    A row is in the first state whose condition it meets.
    """

    def __init__(self, **states: tuple[str | Promise, str, Q]) -> None:
        self._states = states

    def of(self, row: Any) -> SafeString:
        words, kind, _condition = next(state for state in self._states.values() if _meets(state[2], row))
        return mark(words, kind)

    def column(self, name: str = "state", label: str | _StrPromise = "", order: str | None = None) -> Column:
        return shown(name, label or gettext_lazy("State"), self.of, order=order)

    def filter(self, parameter: str = "state", title: str | Promise = "") -> type[ConditionFilter]:
        found = {name: (words, condition) for name, (words, _kind, condition) in self._states.items()}
        return condition_filter(parameter, title or gettext_lazy("state"), **found)


#: States of rows that staff switch on and off.
ENABLED_STATES = States(
    on=(gettext_lazy("On"), "good", Q(enabled=True)), off=(gettext_lazy("Off"), "plain", Q(enabled=False))
)
#: Column with the time at which a row was created.
CREATION = shown("created_at", gettext_lazy("Since"), order="id", minor=True)


class CappedPaginator(Paginator):
    """Paginator for tables of any size: it counts no further than the last page that can be opened."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        # `values` leaves out annotations, which would otherwise be computed for all counted rows.
        return int(rows.order_by().values("pk")[:COUNT_LIMIT].count())
