"""How a query of the ORM is compiled once per process and then only run: building SQL costs more than asking.

For queries on hot paths whose shape never changes. What the ORM does with rows (models, `select_related`,
`values_list`, converters) is left to it; `prefetch_related` is refused because nothing here would carry it out.
"""

from __future__ import annotations

import copy
import itertools
import re
import threading
from collections.abc import Callable
from typing import Any, Final, Generic, NamedTuple, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import BigIntegerField, Expression, Field, Lookup, QuerySet
from django.db.models.fields.related import ForeignObject
from django.db.models.sql.compiler import SQLCompiler

from social.kernel.statements import fetch, is_value

Row = TypeVar("Row")
_PLACEHOLDER: Final = re.compile("%s|%%")


class Slot(Expression):
    """A value that is only known when the plan is run. `field` is its type, as of the column it is compared with."""

    def __init__(self, name: str, field: Field[Any, Any]) -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        """A placeholder, and this slot as its parameter."""
        return "%s", [self]


IDS: Final = Slot("ids", ArrayField(BigIntegerField()))
"""A list of ids, for `one_of`."""


@ForeignObject.register_lookup
@Field.register_lookup
class OneOf(Lookup):
    """`column = ANY(array)`: as `__in`, with the same SQL for any number of values, given as a Slot or as a collection.

    A statement takes 65,535 parameters; an array is one of them.
    """

    lookup_name = "one_of"
    prepare_rhs = False

    def get_prep_lookup(self) -> Any:
        """The values as a list, whatever holds them."""
        return self.rhs if isinstance(self.rhs, Expression) else list(self.rhs)

    def get_db_prep_lookup(self, value: Any, connection: Any) -> tuple[str, Any]:
        """The list as one parameter."""
        return "%s", [value]

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        """The comparison; as with `__in`, nothing is asked when there is nothing to compare with."""
        if self.rhs == []:
            raise EmptyResultSet
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = self.process_rhs(compiler, connection)
        return f"{left} = ANY({right})", [*left_params, *right_params]


class _Compiled(NamedTuple):
    queryset: Any
    compiler: SQLCompiler
    sql: str
    params: tuple[Any, ...]
    numbered: str | None
    """The SQL with named placeholders, for `social.kernel.statements`; None for what only Django's cursor does."""
    converters: dict[int, Any]
    composite: bool


class Plan(Generic[Row]):
    """A compiled query. `build` makes the QuerySet with Slots in it; it is called once, when the plan is first run."""

    def __init__(self, build: Callable[[], QuerySet[Any, Row]]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._made: _Compiled | None = None

    def run(self, **values: Any) -> list[Row]:
        """The rows, with every slot filled by the value of its name. Raises KeyError when one is missing."""
        made = self._made or self._compile()
        filled = tuple([values[item.name] if isinstance(item, Slot) else item for item in made.params])
        compiler: Any = copy.copy(made.compiler)
        compiler.connection = connections[made.queryset.db]
        if made.numbered is not None and all(map(is_value, filled)):
            rows = fetch(made.numbered, {f"value_{place}": value for place, value in enumerate(filled)})
            compiler.execute_sql = lambda *_args, **_options: [rows]
        else:
            compiler.as_sql = lambda *_args, **_options: (made.sql, filled)
        compiler.get_converters = lambda _columns: made.converters
        compiler.has_composite_fields = lambda _columns: made.composite
        return list(made.queryset._iterable_class(_Source(made.queryset, compiler)))

    def first(self, **values: Any) -> Row | None:
        """The first row, None when there is none."""
        rows = self.run(**values)
        return rows[0] if rows else None

    def _compile(self) -> _Compiled:
        with self._lock:
            if self._made is None:
                queryset: Any = self._build()
                if queryset._prefetch_related_lookups:
                    raise ValueError("a plan carries out no prefetch_related")
                compiler = queryset.query.get_compiler(using=DEFAULT_DB_ALIAS)
                sql, params = compiler.as_sql()
                columns = [column for column, *_ in compiler.select]
                converters = compiler.get_converters(columns)
                composite = compiler.has_composite_fields(columns)
                plain = queryset.db == DEFAULT_DB_ALIAS and not compiler.has_extra_select
                numbered = _numbered(sql) if plain else None
                self._made = _Compiled(queryset, compiler, sql, tuple(params), numbered, converters, composite)
        return self._made


def _numbered(sql: str) -> str:
    places = itertools.count()
    return _PLACEHOLDER.sub(lambda found: "%%" if found[0] == "%%" else f"%(value_{next(places)})s", sql)


class _Source:
    """What Django's iterables ask of a query set, with a compiler that knows its SQL."""

    def __init__(self, queryset: Any, compiler: SQLCompiler) -> None:
        self.db = queryset.db
        self.query = _Query(queryset.query, compiler)
        self._known_related_objects: dict[Any, Any] = {}
        self._fields = queryset._fields


class _Query:
    """A query whose compiler is given."""

    def __init__(self, query: Any, compiler: SQLCompiler) -> None:
        self._query, self._compiler = query, compiler

    def get_compiler(self, *_args: Any, **_options: Any) -> SQLCompiler:
        return self._compiler

    def __getattr__(self, name: str) -> Any:
        return getattr(self._query, name)
