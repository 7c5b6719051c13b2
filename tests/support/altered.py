"""Copies of modules of the standard library with other functions, for one module under test instead of the whole process."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any


def altered(module: ModuleType, **functions: Any) -> SimpleNamespace:
    """Return what the module contains, with these functions in the place of its own."""
    return SimpleNamespace(**{**vars(module), **functions})
