"""Defaults of a person's posts: visibility, and who may quote them (contract, parameters sections 2 and 3)."""

from typing import Final

from accounts.models.visibility import Visibility

DEFAULTS: Final = (Visibility.PUBLIC, Visibility.UNLISTED, Visibility.PRIVATE)
"""Visibilities that a person can choose as the default for new posts."""


def default_visibility(chosen: str | None, *, locked: bool) -> str:
    """Return the visibility that the person has `chosen`; if none, private for a locked account, otherwise public."""
    return str(chosen or (Visibility.PRIVATE if locked else Visibility.PUBLIC))


QUOTES_BY_ANYBODY: Final = "public"
QUOTES_BY_FOLLOWERS: Final = "followers"
QUOTES_BY_NOBODY: Final = "nobody"
QUOTE_POLICIES: Final = (QUOTES_BY_ANYBODY, QUOTES_BY_FOLLOWERS, QUOTES_BY_NOBODY)
"""Quote policies that a person can choose, for a single post or as the default for new posts."""


LOWERED_VISIBILITIES: Final = (Visibility.UNLISTED, Visibility.PRIVATE)
"""Visibilities to which all posts of an archive can be lowered."""
