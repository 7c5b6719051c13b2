"""Serializers of entities: one explicit dict per entity, made without database queries.

class StatusSerializer(EntitySerializer):
    def to_representation(self, status: Status) -> dict[str, Any]:
        return {"id": str(status.id), ...}

StatusSerializer(status, context={...}).data
StatusSerializer(statuses, many=True, context={...}).data
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from django.conf import settings
from django.db import connections

# Read once, because a page contains a hundred entities.
_QUERIES_FORBIDDEN: Final[bool] = settings.SERIALIZER_QUERIES_FORBIDDEN


class QueriesForbidden(AssertionError):
    """Error: a serializer has queried the database. Load the data beforehand, in a fixed number of queries."""


@contextmanager
def no_queries() -> Iterator[None]:
    """Forbid SQL inside the block. Raises QueriesForbidden at the first statement."""

    def refuse(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        raise QueriesForbidden(f"a query while an entity was being shown: {sql[:300]}")

    with ExitStack() as stack:
        for connection in connections.all(initialized_only=True):
            stack.enter_context(connection.execute_wrapper(refuse))
        yield


class EntitySerializer:
    """Base of the serializers of entities, with the interface of DRF's serializers but none of their code for input, because a
    page creates hundreds of instances.

    `context` has the values that the serializer needs in addition to the instance.

    With settings.SERIALIZER_QUERIES_FORBIDDEN (tests) a query in a serializer fails.
    """

    def __init__(self, instance: Any = None, *, many: bool = False, context: Mapping[str, Any] | None = None) -> None:
        self.instance, self.many, self.context = instance, many, context or {}

    def to_representation(self, instance: Any) -> Any:
        raise NotImplementedError  # each subclass has its own

    @property
    def data(self) -> Any:
        """The entity, or with `many` the list of entities. Load querysets first, because evaluating a queryset here runs a
        query.
        """
        if not _QUERIES_FORBIDDEN:
            return self._show()
        with no_queries():
            return self._show()

    def _show(self) -> Any:
        show, instance = self.to_representation, self.instance
        return [show(item) for item in instance or ()] if self.many else show(instance)
