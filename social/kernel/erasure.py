"""Deletes rows with all rows that refer to them in small steps, instead of by one cascade in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from django.db import models, transaction
from django.db.models import CASCADE, Model

from social.kernel.references import references_to

BATCH: Final = 500


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
    """As `erase_some`, for the rows that refer to these only; whether none is left. Tables in `kept` stay as they are."""
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
