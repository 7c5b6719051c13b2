"""ORM queries that are compiled once per process and then only run, because building the SQL takes longer than the query.

The plain alternative builds and compiles the query each time; `social.kernel.plans` chooses between them. Rows are still
converted by the ORM (models, `select_related`, `values_list`, converters).
"""

import copy
import itertools
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models.sql.compiler import SQLCompiler

from social.kernel.statements import is_value, rows_of

_PLACEHOLDER: Final = re.compile("%s|%%")


class Compiled(NamedTuple):
    """Query with its SQL. `params` are values, or placeholders that the argument `fill` of `run` replaces with values."""

    queryset: Any
    compiler: SQLCompiler
    sql: str
    params: tuple[Any, ...]
    numbered: str | None
    """The SQL with named placeholders, for `social.kernel.statements`; None if only Django's cursor can run it."""
    converters: dict[int, Any]
    composite: bool


def compile_query(queryset: Any) -> Compiled:
    """Compile a query. Raises ValueError for a query with `prefetch_related`, which would be ignored here."""
    if queryset._prefetch_related_lookups:
        raise ValueError("a plan carries out no prefetch_related")
    compiler = queryset.query.get_compiler(using=DEFAULT_DB_ALIAS)
    sql, params = compiler.as_sql()
    columns = [column for column, *_ in compiler.select]
    converters = compiler.get_converters(columns)
    composite = compiler.has_composite_fields(columns)
    plain = queryset.db == DEFAULT_DB_ALIAS and not compiler.has_extra_select
    numbered = _numbered(sql) if plain else None
    return Compiled(queryset, compiler, sql, tuple(params), numbered, converters, composite)


def run(made: Compiled, fill: Callable[[Any], Any]) -> list[Any]:
    """Run a compiled query, whose parameters `fill` replaces with values; return its rows."""
    filled = tuple(map(fill, made.params))
    compiler: Any = copy.copy(made.compiler)
    compiler.connection = connections[made.queryset.db]
    if made.numbered is not None and all(map(is_value, filled)):
        rows = rows_of(made.numbered, {f"value_{place}": value for place, value in enumerate(filled)})
        compiler.execute_sql = lambda *_args, **_options: [rows]
    else:
        compiler.as_sql = lambda *_args, **_options: (made.sql, filled)
    compiler.get_converters = lambda _columns: made.converters
    compiler.has_composite_fields = lambda _columns: made.composite
    return list(made.queryset._iterable_class(_Source(made.queryset, compiler)))


def _numbered(sql: str) -> str:
    places = itertools.count()
    return _PLACEHOLDER.sub(lambda found: "%%" if found[0] == "%%" else f"%(value_{next(places)})s", sql)


class _Source:
    """The part of a query set that Django's iterables use, with a compiler that already has its SQL."""

    def __init__(self, queryset: Any, compiler: SQLCompiler) -> None:
        self.db = queryset.db
        self.query = _Query(queryset.query, compiler)
        self._known_related_objects: dict[Any, Any] = {}
        self._fields = queryset._fields


class _Query:
    def __init__(self, query: Any, compiler: SQLCompiler) -> None:
        self._query, self._compiler = query, compiler

    def get_compiler(self, *_args: Any, **_options: Any) -> SQLCompiler:
        return self._compiler

    def __getattr__(self, name: str) -> Any:
        return getattr(self._query, name)
