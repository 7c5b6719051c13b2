"""Values that may be read by another release than the one that stored them: both releases run during an upgrade, and some rows
are read only after the upgrade.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any


def known_fields(shape: type, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored values for which a dataclass has fields, without those that a newer release has added."""
    known = {field.name for field in fields(shape)}
    return {name: value for name, value in kept.items() if name in known}
