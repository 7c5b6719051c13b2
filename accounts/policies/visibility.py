"""Which visibility a person's posts have where none is chosen (contract, parameters section 2 and 3)."""

from __future__ import annotations

from typing import Final

from accounts.models.visibility import Visibility

DEFAULTS: Final = (Visibility.PUBLIC, Visibility.UNLISTED, Visibility.PRIVATE)
"""What a person may choose for all posts to come."""


def default_visibility(chosen: str | None, *, locked: bool) -> str:
    """The person's own choice, else private for a locked account, else public."""
    return str(chosen or (Visibility.PRIVATE if locked else Visibility.PUBLIC))
