"""Ports, through which an app calls an app above it without importing it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic, Protocol, TypeVar

T = TypeVar("T")


class Unplugged(RuntimeError):
    """Use of a port without an implementation: a wiring fault, not something a user can cause."""


class Port(Generic[T]):
    """Port that the lower app declares with a Protocol as T; the upper app's `apps.py` plugs in the implementation. `name` is
    for the message of `Unplugged`. The one implementation is plugged in at start, before any thread runs.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._implementation: T | None = None

    def plug(self, implementation: T) -> None:
        """Plug in an implementation. Raises RuntimeError when another one is plugged in already."""
        if self._implementation is not None and self._implementation is not implementation:
            raise RuntimeError(f"The port {self.name} is already answered by {self._implementation!r}.")
        self._implementation = implementation

    def unplug(self) -> None:
        self._implementation = None

    def get(self) -> T:
        """Return the implementation. Raises Unplugged when there is none."""
        if self._implementation is None:
            raise Unplugged(f"Nothing is plugged into the port {self.name}: call its plug() in an AppConfig.ready().")
        return self._implementation

    def find(self) -> T | None:
        """Return the implementation, or None; for callers that work without one (the server runs without the upper apps)."""
        return self._implementation

    @contextmanager
    def replaced(self, implementation: T | None) -> Iterator[None]:
        """Set another implementation, or none, inside the block (used in tests)."""
        before, self._implementation = self._implementation, implementation
        try:
            yield
        finally:
            self._implementation = before


class AuditLog(Protocol):
    """Writer of the audit log, which records who did what."""

    def __call__(
        self, *, by: Any, action: str, target_type: str, targets: Iterable[tuple[int, str]], **details: Any
    ) -> None:
        """Add a row for each target (id and name), in the transaction of the action.

        `by` is the user who acted, None for the operator at the command line; `action` is a verb, and `target_type` names the
        entity.
        """
        ...


audit_log: Final[Port[AuditLog]] = Port("social.kernel.ports.audit_log")
