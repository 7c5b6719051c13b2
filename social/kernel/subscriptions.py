"""Subscriptions of reactions to events. Subscriptions are registered at the start of a process, and only read afterwards."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, dataclass_transform

import orjson

from social.kernel.releases import known_fields

DEFAULT_QUEUE: Final = "default"
DEFAULT_SECONDS: Final = 20.0
_SCALARS: Final = (int, str, bool, type(None))


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Event:
    """A fact in the past tense: every subclass is a frozen dataclass of ids and flags, never of contents.

    Fields are int, str, bool, None or tuples of int and str. `key` is a format string over the fields; events with the same key
    are handled in order, so the key names the object that changes (`status:{status_id}`). With an empty key there is no order.
    """

    key: ClassVar[str]

    def __init_subclass__(cls, *, key: str = "") -> None:
        super().__init_subclass__()
        cls.key = key
        dataclass(frozen=True)(cls)

    def ordering_key(self) -> str:
        return self.key.format(**self.values()) if self.key else ""

    def values(self) -> dict[str, Any]:
        """Return the fields by name. Raises TypeError for a value that would not come back from the outbox unchanged."""
        found: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            parts = value if isinstance(value, tuple) else (value,)
            if not all(isinstance(part, _SCALARS) for part in parts):
                raise TypeError(f"{type(self).__name__}.{field.name} holds {value!r}: events carry ids and flags only.")
            found[field.name] = value
        return found

    def encoded(self) -> str:
        return orjson.dumps(self.values()).decode()

    @classmethod
    def decoded(cls, payload: str | bytes) -> Self:
        """Return the event from its JSON, without fields that this release does not have, because the row may come from another
        release. Raises TypeError when a field without default is missing.
        """
        stored = known_fields(cls, orjson.loads(payload))
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()})


E = TypeVar("E", bound=Event)
Reaction = Callable[[Sequence[E]], None]


@dataclass(frozen=True)
class Subscription(Generic[E]):
    """Reaction to one kind of event; see `on` for the fields."""

    event: type[E]
    reaction: Reaction[E]
    queue: str
    when: Callable[[E], bool] | None
    database: bool
    batch: int | None
    seconds: float
    name: str | None = None

    @property
    def subscriber(self) -> str:
        """The dotted name under which rows find this reaction again after a restart."""
        return self.name or f"{self.reaction.__module__}.{self.reaction.__qualname__}"


class Subscriptions:
    """Subscriptions of a process, keyed by event and by the names in rows."""

    def __init__(self) -> None:
        self._by_event: dict[type[Event], list[Subscription[Any]]] = {}
        self._by_name: dict[tuple[str, str], Subscription[Any]] = {}

    def add(self, subscription: Subscription[Any]) -> None:
        """Register a subscription, unless it is registered already. Raises ValueError for a local function, or a reaction
        that is registered with other parameters.
        """
        if "<" in subscription.subscriber:
            raise ValueError(
                f"{subscription.subscriber} cannot be found again by its name: use a module-level function."
            )
        name = (subscription.event.__name__, subscription.subscriber)
        known = self._by_name.get(name)
        if known == subscription:
            return
        if known is not None:
            raise ValueError(f"{subscription.subscriber} is subscribed to {name[0]} already, on other terms.")
        self._by_name[name] = subscription
        self._by_event.setdefault(subscription.event, []).append(subscription)

    def remove(self, subscription: Subscription[Any]) -> None:  # for tests
        del self._by_name[(subscription.event.__name__, subscription.subscriber)]
        self._by_event[subscription.event].remove(subscription)

    def of(self, event: type[Event]) -> Sequence[Subscription[Any]]:
        return self._by_event.get(event, ())

    def named(self, event: str, subscriber: str) -> Subscription[Any] | None:
        """Return the subscription for which a row was written; None when this release does not know the subscription."""
        return self._by_name.get((event, subscriber))

    def queues(self) -> set[str]:
        return {subscription.queue for subscription in self._by_name.values()}


registry: Final = Subscriptions()


def on(
    event: type[E],
    reaction: Reaction[E],
    *,
    queue: str = DEFAULT_QUEUE,
    when: Callable[[E], bool] | None = None,
    database: bool = False,
    batch: int | None = None,
    seconds: float = DEFAULT_SECONDS,
    name: str | None = None,
) -> Subscription[E]:
    """Subscribe a reaction: after the commit of a transaction that published `event`, a worker process calls it.

    The reaction gets one or more events in order. The reaction must read the current state, because the event may be old, and
    be idempotent, because it runs at least once. When a call with several events fails, the reaction is called again with each
    event alone. With `database=True` the reaction changes only the database and takes effect exactly once: it runs in one
    transaction with the removal of its outbox rows. Without `database`, no transaction is open while the reaction runs.

    `queue` is the name of a queue in `social.queues.QUEUES`. `when(event)` is called when the event is published, and must be
    pure: if it returns False, no row is written. `batch` is the maximum number of events per call (1 if each takes a long
    time). `seconds` is the longest time that one call may take: after that, another process considers the events abandoned and
    runs them again. `name` is the reaction's dotted name in the rows. A function that has moved keeps its former name, which
    older rows contain.
    """
    subscription = Subscription(event, reaction, queue, when, database, batch, seconds, name)
    registry.add(subscription)
    return subscription
