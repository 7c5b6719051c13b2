"""Rule for the members of a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def may_be_listed(relation: Mapping[str, Any]) -> bool:
    """Tell whether the owner of a list may add another account, given the entity "Relationship": only an account that the
    owner follows or has requested to follow (contract, behaviours section 14).
    """
    return bool(relation["following"] or relation["requested"])
