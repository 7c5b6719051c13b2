"""Reads filters: all filters of an owner, or only the active filters, which are applied to a page of posts."""

from collections.abc import Collection
from typing import Any, Final, TypeVar

from django.db.models import Prefetch, QuerySet

from social.kernel import clock
from social.kernel.errors import require_found
from social.kernel.ids import parse_id
from social.kernel.statements import rows_of
from statuses.models import Filter, FilterKeyword, FilterStatus
from statuses.policies.filters import ActiveFilter, Filters, Keyword

T = TypeVar("T")

ACTIVE_SQL: Final = """
SELECT {columns} json_agg(json_build_array(
         f.id, f.title, f.context, to_char(f.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), f.action,
         (SELECT json_agg(json_build_array(k.keyword, k.whole_word) ORDER BY k.id)
            FROM statuses_filterkeyword k WHERE k.filter_id = f.id),
         (SELECT json_agg(p.status_id) FROM statuses_filterstatus p WHERE p.filter_id = f.id)) ORDER BY f.id)
  FROM statuses_filter f
 WHERE f.account_id = {accounts} AND (f.expires_at IS NULL OR f.expires_at > %(now)s)
 GROUP BY f.account_id
"""
"""SQL template: one row for each of `{accounts}` with active filters: `{columns}` and the input of `read_active`."""


def read_active(rows: list[list[Any]]) -> Filters:
    """Build filters from the rows of ACTIVE_SQL."""
    return Filters(
        [
            ActiveFilter(
                shown={
                    "id": str(number),
                    "title": title,
                    "context": context,
                    "expires_at": expires_at,
                    "filter_action": action,
                },
                keywords=tuple(Keyword(text, whole_word) for text, whole_word in keywords or ()),
                status_ids=frozenset(status_ids or ()),
            )
            for number, title, context, expires_at, action, keywords, status_ids in rows
        ]
    )


_ACTIVE_OF_ACCOUNT_SQL: Final = ACTIVE_SQL.format(columns="", accounts="%(account)s")
_ACTIVE_OF_ACCOUNTS_SQL: Final = ACTIVE_SQL.format(columns="f.account_id,", accounts="ANY(%(accounts)s)")


def load_active_filters(account_id: int) -> Filters:
    """Return the account's filters that have not expired. One query."""
    found = rows_of(_ACTIVE_OF_ACCOUNT_SQL, {"account": account_id, "now": clock.now()})
    return read_active(found[0][0]) if found else Filters()


def load_filters_of(account_ids: Collection[int]) -> dict[int, Filters]:
    """Return the active filters by account id; accounts without active filters are left out. One query, or none if there are no
    accounts.
    """
    if not account_ids:
        return {}
    found = rows_of(_ACTIVE_OF_ACCOUNTS_SQL, {"accounts": list(account_ids), "now": clock.now()})
    return {account_id: read_active(rows) for account_id, rows in found}


def list_filters(account_id: int) -> QuerySet[Filter]:
    """Select the account's filters, oldest first, with everything their entities need: three queries."""
    return (
        Filter.objects.filter(account_id=account_id)
        .order_by("id")
        .prefetch_related(
            Prefetch("keywords", FilterKeyword.objects.order_by("id")),
            Prefetch("statuses", FilterStatus.objects.order_by("id")),
        )
    )


def list_keywords(account_id: int) -> QuerySet[FilterKeyword]:
    """Select the keywords of all the account's filters, oldest first, with their filters."""
    return (
        FilterKeyword.objects.filter(filter__account_id=account_id).select_related("filter").order_by("filter_id", "id")
    )


def find_filter(filter_id: Any, account_id: int) -> Filter:
    """Return the account's own filter. Raises NotFound for another account's filter, as if it did not exist."""
    return _find(list_filters(account_id), filter_id)


def find_keyword(keyword_id: Any, account_id: int) -> FilterKeyword:
    """Return a keyword of the account's own filters. Raises NotFound for a keyword of another account's filter."""
    return _find(list_keywords(account_id), keyword_id)


def list_filtered_statuses(found: Filter) -> QuerySet[FilterStatus]:
    """Select the posts that were added to a filter, unordered."""
    return FilterStatus.objects.filter(filter=found)


def find_filter_status(filter_status_id: Any, account_id: int) -> FilterStatus:
    """Return a post of the account's own filters. Raises NotFound for a post of another account's filter."""
    return _find(FilterStatus.objects.filter(filter__account_id=account_id).select_related("filter"), filter_status_id)


def _find(rows: QuerySet[Any, T], row_id: Any) -> T:
    return require_found(rows.filter(id=parse_id(row_id) or 0).first())
