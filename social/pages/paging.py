"""Pages of a list that is ordered by ids: the cursor of a request, and the links to the next and previous pages."""

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from django.db.models import QuerySet
from django.http import HttpRequest

from social.kernel.cursors import Cursor
from social.kernel.ids import parse_id

T = TypeVar("T")
#: Number of rows on a page.
PAGE_SIZE: Final = 20


def cursor_of(request: HttpRequest, size: int) -> Cursor:
    """Return the cursor of a request with `max_id` or `min_id`. The cursor reads one row more than the page shows, to find out
    whether there is another page.
    """
    before, after = parse_id(request.GET.get("max_id", "")), parse_id(request.GET.get("min_id", ""))
    return Cursor(size + 1, before=before, after=after, ascending=after is not None)


def one_page(rows: Sequence[T], cursor: Cursor) -> list[T]:
    """Return the rows of the page, in the order of display, without the additional row of `cursor_of`."""
    size = cursor.limit - 1
    return [*(rows[-size:] if cursor.ascending else rows[:size])]


def links(request: HttpRequest, rows: Sequence[Any], cursor: Cursor, ids: Sequence[int | str]) -> dict[str, str]:
    """Return the values of `pages/paging.html`: links to newer, newest and older rows, empty where there are none. `rows`
    are all rows that were read, `ids` the cursor values of the rows on the page, in the order of display.
    """
    more = len(rows) >= cursor.limit
    first_page = cursor.before is None and cursor.after is None
    kept = request.GET.copy()
    for name in ("max_id", "min_id", "since", "lang"):
        kept.pop(name, None)

    def link(name: str, value: int | str) -> str:
        query = kept.copy()
        query[name] = str(value)
        return f"{request.path}?{query.urlencode()}"

    newest = f"{request.path}?{kept.urlencode()}" if kept else request.path
    return {
        "newer": link("min_id", ids[0]) if ids and not first_page and (more or not cursor.ascending) else "",
        "older": link("max_id", ids[-1]) if ids and (more or cursor.ascending) else "",
        "newest": "" if first_page else newest,
    }


def read_page(
    request: HttpRequest, rows: QuerySet[Any, T], column: str = "id", size: int = PAGE_SIZE
) -> tuple[list[T], dict[str, str]]:
    """Return the rows of the requested page, ordered by `column`, and the values of `pages/paging.html`."""
    cursor = cursor_of(request, size)
    found = cursor.cut(rows, column)
    page = one_page(found, cursor)
    return page, links(request, found, cursor, [getattr(row, column) for row in page])
