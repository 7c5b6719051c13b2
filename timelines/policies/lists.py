"""Decides who may be in a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def may_be_listed(relation: Mapping[str, Any]) -> bool:
    """Tell whether the owner of a list may put somebody else into it, from the entity "Relationship" (contract, behaviours
    section 14): whom they follow, or have asked to follow.
    """
    return bool(relation["following"] or relation["requested"])
