"""ORM queries whose shape never changes, with Slots for their values.

A query is compiled once (`social.kernel.fast.compiled`) or, with `PLAIN`, each time. `prefetch_related` is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, ClassVar, Final, Generic, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import EmptyResultSet, FullResultSet
from django.db.models import BigIntegerField, Expression, Field, Lookup, QuerySet
from django.db.models.expressions import BaseExpression
from django.db.models.fields.related import ForeignObject
from django.db.models.sql.compiler import SQLCompiler

from social.kernel.fast import compiled, is_plain

Row = TypeVar("Row")
_PLAIN: Final = is_plain("plans")
_values: Final[ContextVar[Mapping[str, Any] | None]] = ContextVar("values", default=None)
"""Values for the Slots of the query that is being compiled; None while a query is compiled for all values."""


class Slot(Expression):
    """Value that is only known when the plan is run. `field` gives its type: the type of the column it is compared with."""

    def __init__(self, name: str, field: Field[Any, Any]) -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        values = _values.get()
        return "%s", [self if values is None else values[self.name]]


IDS: Final = Slot("ids", ArrayField(BigIntegerField()))  # A list of ids, for `one_of`


@ForeignObject.register_lookup
@Field.register_lookup
class OneOf(Lookup):
    """`column = ANY(array)`: like `__in`, but with the same SQL for any number of values, in a Slot or a collection.

    A statement takes at most 65,535 parameters, and an array is one parameter.
    """

    lookup_name = "one_of"
    prepare_rhs = False
    template: ClassVar[str] = "{} = ANY({})"
    if_empty: ClassVar[type[Exception]] = EmptyResultSet  # no query is made, as with `__in`

    def get_prep_lookup(self) -> Any:
        return self.rhs if isinstance(self.rhs, BaseExpression) else list(self.rhs)

    def get_db_prep_lookup(self, value: Any, connection: Any) -> tuple[str, Any]:
        return "%s", [value]

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        if self.rhs == []:
            raise self.if_empty
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = self.process_rhs(compiler, connection)
        return self.template.format(left, right), [*left_params, *right_params]


@Field.register_lookup
class NoneOf(OneOf):
    """The negation of OneOf, except that it is true for NULL. It is meant for lists that exclude few rows.

    For `column <> ALL(array)` the planner assumes that each value excludes a share of the rows: with many values it expects few
    rows to remain, reads all of them and sorts them. For the CASE below, the planner assumes that few rows are excluded.
    """

    lookup_name = "none_of"
    template, if_empty = "CASE WHEN {} = ANY({}) THEN 1 ELSE 0 END <> 1", FullResultSet


class Plan(Generic[Row]):
    """Query with slots. `build` makes its QuerySet."""

    def __init__(self, build: Callable[[], QuerySet[Any, Row]]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._made: compiled.Compiled | None = None

    def run(self, **values: Any) -> list[Row]:
        """Return the rows, with every slot filled by the value of the same name. Raises KeyError when a value is missing."""
        if _PLAIN:
            token = _values.set(values)
            try:
                return list(self._build())
            finally:
                _values.reset(token)
        made = self._made or self._compile()
        return compiled.run(made, lambda item: values[item.name] if isinstance(item, Slot) else item)

    def first(self, **values: Any) -> Row | None:
        rows = self.run(**values)
        return rows[0] if rows else None

    def _compile(self) -> compiled.Compiled:
        with self._lock:
            if self._made is None:
                self._made = compiled.compile_query(self._build())
        return self._made
