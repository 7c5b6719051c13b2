"""Knows how to remove rows with all that hangs on them in small steps, instead of by one cascade in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db import models, transaction
from django.db.models import CASCADE, SET_NULL, ForeignObjectRel, Model

BATCH: Final = 500


def erase_some(model: type[Model], ids: Sequence[Any], batch: int = BATCH) -> bool:
    """Remove some of the rows that hang on these, or these themselves when nothing does; whether they are gone.

    Call it again, each time in a transaction of its own, until it says so; it may be stopped in between and taken up by
    anybody. Rows go in the order their foreign keys need, at most `batch` in a call, and references that are only to
    be emptied are. `ids` are at most `batch` primary keys. Services must have said and counted before what is to be said
    and counted: here rows disappear and nothing else happens.
    """
    with transaction.atomic():
        for relation in _relations_to(model):
            child: type[Model] = relation.related_model
            hanging = child._base_manager.filter(**{f"{relation.field.name}__one_of": list(ids)})
            chosen = list(hanging.order_by().values_list("pk", flat=True)[:batch])
            if not chosen:
                continue
            if relation.on_delete is CASCADE:
                erase_some(child, chosen, batch)
            else:
                child._base_manager.filter(pk__one_of=chosen).update(**{relation.field.name: None})
            return False
        rows: models.QuerySet[Any] = model._base_manager.filter(pk__one_of=list(ids))
        rows._raw_delete(rows.db)
        return True


def _relations_to(model: type[Model]) -> list[ForeignObjectRel]:
    """The foreign keys to a table whose rows go, or are emptied, with it."""
    found = [field for field in model._meta.get_fields(include_hidden=True) if isinstance(field, ForeignObjectRel)]
    return [
        relation
        for relation in found
        if relation.field.concrete and getattr(relation, "on_delete", None) in (CASCADE, SET_NULL)
    ]
