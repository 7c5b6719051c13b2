"""The foreign keys to a table, and how rows are made to refer to another row of it."""

from __future__ import annotations

from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import CASCADE, SET_NULL, ForeignObjectRel, Model

BATCH: Final = 500


def references_to(model: type[Model]) -> list[ForeignObjectRel]:
    """The foreign keys to a table whose rows are deleted, or emptied, with it."""
    found = [field for field in model._meta.get_fields(include_hidden=True) if isinstance(field, ForeignObjectRel)]
    return [
        relation
        for relation in found
        if relation.field.concrete and getattr(relation, "on_delete", None) in (CASCADE, SET_NULL)
    ]


def move_references(model: type[Model], column: str, source_id: int, target_id: int) -> int:
    """Have the rows whose `column` is `source_id` refer to `target_id`; how many.

    Rows that the table's constraints refuse there, mostly because `target_id` has the same one, stay as they are. In
    batches, each a transaction; primary keys are numbers.
    """
    moved, last = 0, 0
    rows = model._base_manager.filter(**{column: source_id}).order_by("pk")
    while True:
        ids = list(rows.filter(pk__gt=last).values_list("pk", flat=True)[:BATCH])
        if not ids:
            return moved
        last = ids[-1]
        moved += _move(model, column, ids, source_id, target_id)


def _move(model: type[Model], column: str, ids: list[int], source_id: int, target_id: int) -> int:
    rows = model._base_manager.filter(pk__one_of=ids, **{column: source_id})
    try:
        with transaction.atomic():
            return rows.update(**{column: target_id})
    except IntegrityError:
        # Halves, so that few refused rows among many cost few statements.
        if len(ids) == 1:
            return 0
        middle = len(ids) // 2
        return sum(_move(model, column, part, source_id, target_id) for part in (ids[:middle], ids[middle:]))
