"""Tests that every text column in the database refuses values above its maximum length (security row 33)."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import DatabaseError, connection, models, transaction

from social.kernel.lengths import TextLength, is_refused_value

pytestmark = pytest.mark.django_db
APPS = ("social", "accounts", "statuses", "timelines", "moderation", "notifications", "federation")
# The maximum in the model applies to names of remote accounts; another constraint limits local names to 255 characters.
SHORTER_BY_ANOTHER_RULE = {"accounts.Account.username"}
#: SQL for a value with a given number of characters, keyed by kind of column.
TEXT, JSON, ARRAY = "repeat('x', %s)", "to_jsonb(repeat('x', %s - 2))", "ARRAY[repeat('x', %s - 2)]"


def limit_of(model: type[models.Model], column: str) -> int | None:
    """Return the maximum length that the model declares for a column, or None if it declares none."""
    field = model._meta.get_field(column)
    if isinstance(field, models.CharField):
        return field.max_length
    return min(
        (
            value
            for constraint in model._meta.constraints
            if isinstance(constraint, models.CheckConstraint) and isinstance(constraint.condition, models.Q)
            for path, value in _conditions(constraint.condition)
            if path in (f"{column}__length__lte", f"{column}__{TextLength.lookup_name}__lte")
        ),
        default=None,
    )


def _conditions(condition: models.Q) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for child in condition.children:
        if isinstance(child, models.Q):
            found += _conditions(child)
        elif isinstance(child, tuple):
            found.append(child)
    return found


def text_columns() -> Iterator[tuple[type[models.Model], models.Field, str]]:
    """Yield each text column of this project, with an SQL expression for a value of a given length."""
    for label in APPS:
        if not apps.is_installed(label):
            continue
        for model in apps.get_app_config(label).get_models():
            for field in model._meta.local_concrete_fields:
                if isinstance(field, models.JSONField):
                    yield model, field, JSON
                elif isinstance(field, ArrayField) and isinstance(
                    field.base_field, models.TextField | models.CharField
                ):
                    yield model, field, ARRAY
                elif isinstance(field, models.TextField | models.CharField):
                    yield model, field, TEXT


def takes(column: str, expression: str, length: int) -> bool:
    """Return whether the table `probe` accepts a value of this length."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f'INSERT INTO probe ("{column}") VALUES ({expression})', [length])
    except DatabaseError as error:
        if not is_refused_value(error):
            raise
        return False
    return True


def test_row_33_postgresql_refuses_values_beyond_the_maximum_length_of_a_column() -> None:
    found: dict[type[models.Model], list[tuple[models.Field, str]]] = {}
    for model, field, expression in text_columns():
        found.setdefault(model, []).append((field, expression))
    assert len(found) > 50
    endless, longer, shorter = [], [], []
    for model, columns in found.items():
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS probe")
            cursor.execute(f'CREATE TEMPORARY TABLE probe (LIKE "{model._meta.db_table}" INCLUDING CONSTRAINTS)')
            # In this copy all columns may be null, so that a row with a value in only one column violates no other constraint.
            cursor.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = 'probe'::regclass AND attnum > 0 AND attnotnull"
            )
            for (column,) in cursor.fetchall():
                cursor.execute(f'ALTER TABLE probe ALTER "{column}" DROP NOT NULL')
        for field, expression in columns:
            limit = limit_of(model, field.name)
            name = f"{model._meta.label}.{field.name}"
            if limit is None:
                endless.append(name)
                continue
            if takes(field.column, expression, limit + 1):
                longer.append(name)
            if name not in SHORTER_BY_ANOTHER_RULE and not takes(field.column, expression, limit):
                shorter.append(name)
    assert (endless, longer, shorter) == ([], [], [])
