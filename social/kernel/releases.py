"""Values that one release keeps and another one reads: while a server is upgraded both run, and some rows wait for longer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any


def known_fields(shape: type, kept: Mapping[str, Any]) -> dict[str, Any]:
    """The kept values that a dataclass has fields for; what a newer release has added is left out."""
    known = {field.name for field in fields(shape)}
    return {name: value for name, value in kept.items() if name in known}
