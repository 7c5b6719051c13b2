"""Meaning of the words of visibility. They stand here and nowhere else: other modules ask the predicates below, or take
an SQL condition. Source: contract, behaviours section 7.
"""

from __future__ import annotations

from typing import Final

from accounts.models import Visibility

CHOICES: Final = (*Visibility,)
"""The visibilities a client may ask for."""

OPEN_VISIBILITIES: Final = (Visibility.PUBLIC, Visibility.UNLISTED)
"""Visibilities that need no relation to the author ("distributable")."""

FOLLOWER_VISIBILITIES: Final = (*OPEN_VISIBILITIES, Visibility.PRIVATE)
"""Visibilities that every follower reads; also those that a boost may have, and that a post may be pinned with."""

ADDRESSED_VISIBILITIES: Final = (Visibility.DIRECT, Visibility.LIMITED)
"""Visibilities that only the addressed read."""


def is_listed(visibility: str) -> bool:
    """Tell whether a post of this visibility may stand in public places."""
    return visibility == Visibility.PUBLIC


def is_for_anybody(visibility: str) -> bool:
    """Tell whether a post of this visibility needs no relation to its author."""
    return visibility in OPEN_VISIBILITIES


def is_counted(visibility: str) -> bool:
    """Tell whether a profile counts such posts."""
    return visibility != Visibility.DIRECT


COUNTED: Final = tuple(visibility for visibility in Visibility.values if is_counted(visibility))


def is_reserved_for_posts(visibility: str) -> bool:
    """Tell whether a post may have it, and a boost may not."""
    return visibility == Visibility.DIRECT


def is_for_addressed(visibility: str) -> bool:
    """Tell whether only those read it whom it addresses."""
    return visibility in ADDRESSED_VISIBILITIES


def is_conversational(visibility: str) -> bool:
    """Tell whether posts of this visibility make conversations among those they mention."""
    return visibility == Visibility.DIRECT


CONVERSATION_VISIBILITIES: Final = tuple(
    visibility for visibility in Visibility.values if is_conversational(visibility)
)


def is_for_followers_only(visibility: str) -> bool:
    """Tell whether followers read it and strangers do not."""
    return visibility == Visibility.PRIVATE


def shown_visibility(visibility: str) -> str:
    """The visibility that clients get: they know four, and a post for some people only is private to them."""
    return Visibility.PRIVATE.value if visibility == Visibility.LIMITED else visibility


def allowed_visibility(visibility: str, *, limited: bool) -> str:
    """The visibility itself; unlisted instead of public for the posts of an author who is limited."""
    return Visibility.UNLISTED.value if limited and visibility == Visibility.PUBLIC else visibility


def boost_visibility(original: str, chosen: str) -> str:
    """The visibility of a boost: of a private post private, else the one chosen, if a boost may have it."""
    return Visibility.PRIVATE if original == Visibility.PRIVATE or chosen not in FOLLOWER_VISIBILITIES else chosen


def quote_visibility(quoted: str, chosen: str) -> str:
    """The visibility of a post that quotes: of a post that is not for anybody private at most."""
    return Visibility.PRIVATE if quoted not in OPEN_VISIBILITIES and chosen in OPEN_VISIBILITIES else chosen


def received_visibility(*, in_to: bool, in_cc: bool, followers: bool) -> Visibility:
    """Visibility of a post whose addressing names everybody first (`in_to`) or second (`in_cc`), or the author's
    followers.
    """
    if in_to:
        return Visibility.PUBLIC
    if in_cc:
        return Visibility.UNLISTED
    return Visibility.PRIVATE if followers else Visibility.DIRECT


def with_silent_readers(visibility: str) -> str:
    """Visibility that a direct post gets when it reaches somebody here whom it does not mention."""
    return Visibility.LIMITED if visibility == Visibility.DIRECT else visibility


_ADDRESSED_WORDS: Final = ", ".join(f"'{visibility}'" for visibility in ADDRESSED_VISIBILITIES)

ADDRESSED_POST: Final = f"s.visibility IN ({_ADDRESSED_WORDS})"
"""`is_for_addressed` for a post `s`."""

PUBLIC_POST: Final = f"s.visibility = '{Visibility.PUBLIC}' AND s.reblog_of_id IS NULL AND s.deleted_at IS NULL"
"""Posts `s` that may stand in public places. Literals, not parameters: they choose the partial index."""


def readable_sql(post: str, *, follows_author: str, may_be_addressed: str = "TRUE") -> str:
    """Make the SQL condition that somebody whom the author does not block may read `post` (an alias) by its visibility.

    The other two parameters are conditions.
    """
    words = ", ".join(f"'{visibility}'" for visibility in OPEN_VISIBILITIES)
    return f"""(
      {post}.visibility IN ({words})
      OR ({post}.visibility = '{Visibility.PRIVATE}' AND {follows_author})
      OR ({may_be_addressed} AND EXISTS (
        SELECT 1 FROM statuses_mention m WHERE m.status_id = {post}.id AND m.account_id = %(viewer)s))
    )"""  # noqa: S608 (constants)
