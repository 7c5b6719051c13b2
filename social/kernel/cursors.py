"""Cursors of lists that are ordered by a number that is unique in the list (usually the id), for QuerySets and for SQL."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from django.db.models import QuerySet

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cursor:
    """Request for at most `limit` rows whose number is below `before` and above `after`: the rows with the highest numbers or,
    with `ascending`, the rows with the lowest. A page always shows the highest number first.
    """

    limit: int
    before: int | None = None
    after: int | None = None
    ascending: bool = False

    @property
    def direction(self) -> str:
        return "ASC" if self.ascending else "DESC"

    @property
    def parameters(self) -> dict[str, int | None]:
        """The parameters of the SQL that `between` and `ordered` return."""
        return {"before": self.before, "after": self.after, "limit": self.limit}

    def between(self, column: str) -> str:
        """Return the bounds as SQL, to be appended to a condition. The SQL has no condition for an absent bound, because
        PostgreSQL keeps one plan per statement, and a plan for both absent and present bounds would be slow for both.
        """
        before = "" if self.before is None else f" AND {column} < %(before)s"
        return before if self.after is None else f"{before} AND {column} > %(after)s"

    def ordered(self, column: str) -> str:
        """Return the SQL of `between`, followed by the order and the limit: the end of a simple statement."""
        return f"{self.between(column)} ORDER BY {column} {self.direction} LIMIT %(limit)s"

    def newest_first(self, rows: list[T]) -> list[T]:
        """Return rows that were read in the cursor's direction, reordered so that the highest number comes first."""
        return rows[::-1] if self.ascending else rows

    def cut(self, queryset: QuerySet[Any, T], column: str = "id") -> list[T]:
        """Return the page of an unordered queryset, with the highest number first. Runs one query."""
        bounds: dict[str, int] = {}
        if self.before is not None:
            bounds[f"{column}__lt"] = self.before
        if self.after is not None:
            bounds[f"{column}__gt"] = self.after
        found = queryset.filter(**bounds) if bounds else queryset
        return self.newest_first(list(found.order_by(column if self.ascending else f"-{column}")[: self.limit]))

    def behind(self, last: int) -> Cursor:
        """Return the cursor for the rows after `last`, the number of the last row read in the cursor's direction."""
        return replace(self, after=last) if self.ascending else replace(self, before=last)
