"""Compares the database tables with the models, because applied migrations do not prove that the tables are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import Error, connection, models, transaction

from social.runtime.failures import OperatorError
from social.settings.env import manage_command

# A column that is filled without being named by an INSERT has a default, is an identity, or is generated.
_COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
       a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> ''
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
"""
_NAMES = """
SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('i', 'I')
 UNION SELECT conname FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
"""
_REMEDY = "Start the release that this database belongs to, or load a dump that was made before the change."


@dataclass(frozen=True)
class Difference:
    """Difference between a model and its table; `what` describes it, as a clause without a full stop. `missing` is a field,
    index or constraint that can be added to the table without changing existing data.
    """

    what: str
    model: type[models.Model]
    missing: models.Field[Any, Any] | models.Index | models.BaseConstraint | None = None


def differences() -> list[Difference]:
    """Return the missing tables, columns, indexes and constraints; the columns of another type or nullability; and the
    columns that require a value but are unknown to this release. Needs two queries.
    """
    tables: dict[str, dict[str, tuple[str, bool, bool]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS)
        for table, column, *facts in cursor.fetchall():
            tables.setdefault(table, {})[column] = (facts[0], facts[1], facts[2])
        cursor.execute(_NAMES)
        names = {name for (name,) in cursor.fetchall()}
    found: list[Difference] = []
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy:
            found += _of_model(model, tables.get(model._meta.db_table), names)
    return found


def _of_model(
    model: type[models.Model], columns: dict[str, tuple[str, bool, bool]] | None, names: set[str]
) -> Iterator[Difference]:
    table = model._meta.db_table
    if columns is None:
        yield Difference(f"the table {table} is missing", model)
        return
    fields = {field.column: field for field in model._meta.local_concrete_fields}
    for column, field in fields.items():
        if column not in columns:
            yield Difference(f"{table}.{column} is missing", model, field)
            continue
        kind, nullable, _filled = columns[column]
        wanted = (field.db_type(connection) or "").split(" DEFAULT ")[0].replace("varchar", "character varying")
        # For tables of many-to-many fields, Django's migrations use ids of a different width than its models.
        if kind != wanted and not model._meta.auto_created:
            yield Difference(f"{table}.{column} is {kind} instead of {wanted}", model)
        if nullable != field.null:
            yield Difference(f"{table}.{column} {'may' if nullable else 'may not'} be null", model)
    for column, (_kind, nullable, filled) in columns.items():
        if column not in fields and not nullable and not filled:
            yield Difference(f"{table}.{column} is required by another release", model)
    for part in (*model._meta.indexes, *model._meta.constraints):
        if part.name not in names:
            yield Difference(f"{part.name} on {table} is missing", model, part)


def describe(found: list[Difference]) -> str:
    """Describe the first difference and the number of others, in one sentence without a full stop."""
    more = f" and {len(found) - 1} more differences" if len(found) > 1 else ""
    return f"the tables are not those of this release: {found[0].what}{more}"


def remedy(found: list[Difference]) -> str:
    """Return the remedy for differences in a database that records all migrations as applied."""
    if all(one.missing for one in found):
        return (
            f"Make a dump of the database (pg_dump), then add what is missing: {manage_command('setup --add-missing')}"
        )
    return _REMEDY


def check_tables() -> None:
    """Raise OperatorError, with the remedy, if the tables differ from the models."""
    if found := differences():
        raise OperatorError(f"All migrations are recorded as applied, but {describe(found)}. {remedy(found)}")


def add_missing() -> list[str]:
    """Add missing columns, indexes and constraints of the models, all of them or none, and return descriptions of them.
    Raises OperatorError if the existing rows do not allow one of them.
    """
    found = [one for one in differences() if one.missing]
    try:
        with transaction.atomic(), connection.schema_editor() as editor:
            # An index may need a column that is itself missing.
            for one in sorted(found, key=lambda one: not isinstance(one.missing, models.Field)):
                if isinstance(one.missing, models.Field):
                    editor.add_field(one.model, one.missing)
                elif isinstance(one.missing, models.Index):
                    editor.add_index(one.model, one.missing)
                elif one.missing is not None:
                    editor.add_constraint(one.model, one.missing)
    except Error as error:
        reason = str(error).strip().splitlines()[0]
        raise OperatorError(f"What is missing cannot be added ({reason}); nothing was changed. {_REMEDY}") from None
    return [one.what for one in found]
