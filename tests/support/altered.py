"""Helper that replaces functions of a standard library module only for the module under test, not for the whole process."""

from types import ModuleType, SimpleNamespace
from typing import Any


def altered(module: ModuleType, **functions: Any) -> SimpleNamespace:
    """Return a copy of the module in which these functions are replaced."""
    return SimpleNamespace(**{**vars(module), **functions})
