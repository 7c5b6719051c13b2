"""The foreign keys to a table: rows are made to refer to another row, or deleted in small steps with what refers to them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from django.db import IntegrityError, models, transaction
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


def erase_some(model: type[Model], ids: Sequence[Any], batch: int = BATCH) -> bool:
    """Delete some of the rows that refer to these, or these themselves when none is left; whether they are gone.

    Call it again, each time in a transaction of its own, until it says so; it may be stopped in between and taken up by
    anybody. Rows go in the order their foreign keys need, at most `batch` of each table in a call, and references that
    are only to be emptied are. `ids` are at most `batch` primary keys. No events are published and no counters changed:
    the calling service does that before.
    """
    with transaction.atomic():
        if not erase_related(model, ids, batch):
            return False
        rows: models.QuerySet[Any] = model._base_manager.filter(pk__one_of=list(ids))
        rows._raw_delete(rows.db)
        return True


def erase_related(
    model: type[Model], ids: Sequence[Any], batch: int = BATCH, *, kept: Collection[type[Model]] = ()
) -> bool:
    """Erases like `erase_some` the rows that refer to these only; returns whether none is left. Tables in `kept` stay
    as they are.
    """
    with transaction.atomic():
        for relation in references_to(model):
            child: type[Model] = relation.related_model
            if child in kept:
                continue
            dependent = child._base_manager.filter(**{f"{relation.field.name}__one_of": list(ids)})
            chosen = list(dependent.order_by().values_list("pk", flat=True)[:batch])
            if not chosen:
                continue
            if relation.on_delete is not CASCADE:
                child._base_manager.filter(pk__one_of=chosen).update(**{relation.field.name: None})
            elif not erase_some(child, chosen, batch):
                return False
            if len(chosen) == batch:
                return False
        return True
