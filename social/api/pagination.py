"""Pages of lists, and the `Link` header with the addresses of the next and the previous page.

Source: contract, behaviours section 2 and parameters section 0; clients.md, traps 9-12.

    endpoints = {"list": Endpoint(user("read:bookmarks"), "Status", many=True, paging=ByCursor(Limit(20, 40)))}

    page = self.paginate(queries.list_bookmarks(account_id))
    return page.respond(StatusSerializer(hydrate(page.items), many=True).data)

`page.items` are the rows as they were read. Filtering or hydrating the rows afterwards does not change the links.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote_plus, unquote_plus

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.encoding import escape_uri_path
from rest_framework.request import Request

from social.api.fields import as_integer
from social.api.inputs import parameters
from social.api.parameters import decode
from social.api.responses import reply
from social.kernel.cursors import Cursor

T = TypeVar("T")
_POSITIONS = frozenset({"max_id", "since_id", "min_id", "offset"})


@dataclass(frozen=True, slots=True)
class Limit:
    """Number of items on a page: `default` unless the client sends `limit`, and never more than `maximum`. With
    `zero_is_all`, `limit=0` means all items (two endpoints).
    """

    default: int
    maximum: int
    zero_is_all: bool = False

    def of(self, values: dict[str, Any]) -> int:
        """Return the absolute value of the client's `limit`, or `default`, capped at `maximum` (security row 42)."""
        return min(abs(as_integer(values.get("limit"), self.default)), self.maximum)


@dataclass(frozen=True, slots=True)
class ByCursor:
    """Pagination by `max_id`, `since_id` and, on some lists, `min_id`, with a `Link` header.

    `prev`: the parameter in the link to the previous page, "min_id" for lists of statuses and the like, or "since_id" for
    lists of accounts, where `min_id` is read only with `takes_min_id`. `next_when`: whether only "full" pages have a link
    to the next page or, on timelines and notifications, "any" page that is not empty.
    """

    limit: Limit
    prev: Literal["min_id", "since_id"] = "min_id"
    next_when: Literal["full", "any"] = "full"
    takes_min_id: bool = False

    @property
    def reads_min_id(self) -> bool:
        return self.takes_min_id or self.prev == "min_id"

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset({"limit", "max_id", "since_id", *(["min_id"] if self.reads_min_id else [])})


@dataclass(frozen=True, slots=True)
class ByOffset:
    """Pagination by `offset`, in the order of the source.

    `links`: whether there is a `Link` header (trends and collections), with `next` if the page is full. `prev`: the header has
    a `prev` link if the offset is greater than one limit ("beyond_limit"; trends: on empty pages too) or greater than zero
    ("beyond_zero"). `path`: the path of the links, if it is not the path of the request.
    """

    limit: Limit
    links: bool = False
    prev: Literal["beyond_limit", "beyond_zero"] = "beyond_limit"
    path: str | None = None

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset({"limit", "offset"})


Paging = ByCursor | ByOffset
Loader = Callable[[Cursor], Sequence[T]]
IsRepeated = Callable[[str], bool]  # predicate: tells whether the links to other pages repeat a parameter of the query


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """Items of a page, newest first, and the addresses of the next and the previous page."""

    items: list[T]
    links: tuple[tuple[str, str], ...] = ()
    limit: int = 0
    offset: int = field(default=0, kw_only=True)

    @property
    def headers(self) -> dict[str, str]:
        """The header `Link`, with the next page first; empty when there is no other page."""
        if not self.links:
            return {}
        return {"Link": ", ".join(f'<{url}>; rel="{rel}"' for rel, url in self.links)}

    def respond(self, data: Any) -> HttpResponse:
        return reply(data, headers=self.headers)


def read_cursor(request: Request, limit: Limit, *, min_id: bool = True) -> Cursor:
    """Return the cursor in a request; `min_id=False` ignores the parameter `min_id`. Empty values count as absent. `since_id`
    selects the newest items above that id. `min_id` selects the oldest items above it, and takes precedence.
    """
    values = parameters(request)
    lowest = _position(values, "min_id") if min_id else None
    return Cursor(
        limit=limit.of(values),
        before=_position(values, "max_id"),
        after=_position(values, "since_id") if lowest is None else lowest,
        ascending=lowest is not None,
    )


def paginate(
    request: Request,
    source: QuerySet[Any, T] | Loader[T],
    paging: ByCursor,
    *,
    cursor: str = "id",
    ends: Callable[[Sequence[T]], tuple[int, int]] | None = None,
    repeated: IsRepeated,
) -> ListPage[T]:
    """Return a page by cursor.

    `source` is an unordered queryset, which is ordered and cut here (one query), or a loader that returns the items at a
    `Cursor`, newest first (feeds). `cursor` is the column with an item's position, such as the id of the row that joins it to
    the list; items that are ints are their own positions. `ends` returns the lowest and the highest position of the page, for
    its links; by default, these are the positions of the last and the first item. `repeated`: as for `page_address`.
    """
    limit, prev = paging.limit, paging.prev
    position = read_cursor(request, limit, min_id=paging.reads_min_id)
    if position.limit == 0:
        return ListPage(_all_items(source, cursor) if limit.zero_is_all else [])
    items = position.cut(source, cursor) if isinstance(source, QuerySet) else list(source(position))
    if not items:
        return ListPage([], limit=position.limit)
    read = _reader(cursor)
    lowest, highest = ends(items) if ends else (read(items[-1]), read(items[0]))
    links, address = [], page_address(request, repeated)
    if paging.next_when == "any" or len(items) >= position.limit:
        links.append(("next", f"{address}max_id={lowest}"))
    links.append(("prev", f"{address}{prev}={highest}"))
    return ListPage(items, tuple(links), position.limit)


def paginate_offset(
    request: Request, source: QuerySet[Any, T] | Sequence[T], paging: ByOffset, *, repeated: IsRepeated
) -> ListPage[T]:
    """Return a page by `offset`; a negative offset counts as 0. `repeated`: as for `page_address`."""
    values = parameters(request)
    size = paging.limit.of(values)
    offset = max(0, as_integer(values.get("offset")))
    trends = paging.links and paging.prev == "beyond_limit"
    if size == 0 and not trends:
        return ListPage([], offset=offset)
    items = list(source[offset : offset + size])
    adjacent = []
    if paging.links and (items or trends):
        address = page_address(request, repeated, paging.path)
        if len(items) >= size:
            adjacent.append(("next", f"{address}offset={offset + size}"))
        if offset > (size if trends else 0):
            adjacent.append(("prev", f"{address}offset={max(0, offset - size)}"))
    return ListPage(items, tuple(adjacent), size, offset=offset)


def page_address(request: Request, repeated: IsRepeated, path: str | None = None) -> str:
    """Return the URL to which the position of another page (`max_id=5`) is appended. The URL has the request's path, or `path`,
    and the request's parameters for which `repeated` is true.
    """
    query: str = request.META.get("QUERY_STRING", "")
    kept = ""
    for pair in decode(query.encode("latin-1", "replace")).split("&"):
        name, equals, value = pair.partition("=")
        plain = unquote_plus(name)
        if plain not in _POSITIONS and repeated(plain):
            kept += f"{quote_plus(plain)}={quote_plus(unquote_plus(value))}&" if equals else f"{quote_plus(plain)}&"
    return f"{settings.BASE_URL}{path or escape_uri_path(request.path.rstrip('/'))}?{kept}"


def _position(values: dict[str, Any], name: str) -> int | None:
    raw = values.get(name)
    if raw is None or raw == "" or isinstance(raw, list | dict):
        return None
    return max(0, as_integer(raw))


def _reader(cursor: str) -> Callable[[Any], int]:
    path = cursor.split("__")

    def read(item: Any) -> int:
        if isinstance(item, int):
            return item
        for step in path:
            item = item[step] if isinstance(item, dict) else getattr(item, step)
        return int(item)

    return read


def _all_items(source: QuerySet[Any, T] | Loader[T], cursor: str) -> list[T]:
    if isinstance(source, QuerySet):
        return list(source.order_by(f"-{cursor}"))
    return list(source(Cursor(limit=0)))
