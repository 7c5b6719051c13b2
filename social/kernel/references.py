"""Moves references (foreign keys) to another row, or deletes rows together with the rows that refer to them, in small steps."""

from collections.abc import Collection, Sequence
from typing import Any

from django.db import IntegrityError, models, transaction
from django.db.models import CASCADE, SET_NULL, ForeignObjectRel, Model

from social.kernel.batches import BATCH


def references_to(model: type[Model]) -> list[ForeignObjectRel]:
    """Return the foreign keys to a table that cascade, or are set to NULL, when its rows are deleted."""
    found = [field for field in model._meta.get_fields(include_hidden=True) if isinstance(field, ForeignObjectRel)]
    return [
        relation
        for relation in found
        if relation.field.concrete and getattr(relation, "on_delete", None) in (CASCADE, SET_NULL)
    ]


def move_references(model: type[Model], column: str, source_id: int, target_id: int) -> int:
    """Change `column` from `source_id` to `target_id` in all rows of a table; return how many were changed.

    Rows for which a constraint refuses the change, usually because `target_id` already has an equal row, stay unchanged. Works
    in batches, each in a separate transaction; primary keys must be numbers.
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
        # The batch is halved, so that a few refused rows among many cost only a few statements.
        if len(ids) == 1:
            return 0
        middle = len(ids) // 2
        return sum(_move(model, column, part, source_id, target_id) for part in (ids[:middle], ids[middle:]))


def erase_some(model: type[Model], ids: Sequence[Any], batch: int = BATCH) -> bool:
    """Delete some of the rows that refer to the rows `ids` of `model`, or, when none is left, the rows `ids` themselves; return
    whether the rows `ids` are gone.

    Call the function again, each time in a separate transaction, until it returns True; any process may continue after an
    interruption. Rows are deleted in the order that their foreign keys need, at most `batch` of each table in a call, and
    references with SET_NULL are set to NULL. `ids` are at most `batch` primary keys. This function publishes no events and
    changes no counters: the calling service must do both beforehand.
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
    """Delete as `erase_some` does, but only the rows that refer to the rows `ids` of `model`; return whether none is left.
    Tables in `kept` stay unchanged.
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
