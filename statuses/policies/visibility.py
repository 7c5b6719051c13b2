"""Meaning of each visibility (behaviours section 7). Other modules use the predicates and SQL below, never the values."""

from typing import Final

from accounts.models import Visibility
from accounts.policies.relations import VIEWER_IS_LOCAL

CHOICES: Final = (*Visibility,)
"""Visibilities that a client may request."""

LOCAL: Final = "local"
"""Value with which a client requests a public local-only post, as in Pleroma (docs/adr/0042); it is never stored."""

OPEN_VISIBILITIES: Final = (Visibility.PUBLIC, Visibility.UNLISTED)
"""Visibilities of posts that may be read without any relation to the author ("distributable")."""

FOLLOWER_VISIBILITIES: Final = (*OPEN_VISIBILITIES, Visibility.PRIVATE)
"""Visibilities that every follower may read; boosts and pinned posts may have only these."""

ADDRESSED_VISIBILITIES: Final = (Visibility.DIRECT, Visibility.LIMITED)
"""Visibilities that only addressed accounts may read."""


WAITING_VISIBILITY: Final = Visibility.DIRECT
"""Visibility of a reply as long as it awaits approval (docs/adr/0044)."""


def is_listed(visibility: str) -> bool:
    """Tell whether a post of this visibility may appear in public timelines and lists."""
    return visibility == Visibility.PUBLIC


def is_for_anybody(visibility: str) -> bool:
    """Tell whether everyone may read a post of this visibility, whatever their relation to its author."""
    return visibility in OPEN_VISIBILITIES


def is_counted(visibility: str) -> bool:
    """Tell whether the post count of a profile includes posts of this visibility."""
    return visibility != Visibility.DIRECT


COUNTED_VISIBILITIES: Final = tuple(visibility for visibility in Visibility.values if is_counted(visibility))


def is_reserved_for_posts(visibility: str) -> bool:
    """Tell whether only posts, and no boosts, may have this visibility."""
    return visibility == Visibility.DIRECT


def is_for_addressed(visibility: str) -> bool:
    """Tell whether only addressed accounts may read a post of this visibility."""
    return visibility in ADDRESSED_VISIBILITIES


def is_conversational(visibility: str) -> bool:
    """Tell whether posts of this visibility form conversations among the accounts they mention."""
    return visibility == Visibility.DIRECT


CONVERSATION_VISIBILITIES: Final = tuple(
    visibility for visibility in Visibility.values if is_conversational(visibility)
)


def is_for_followers_only(visibility: str) -> bool:
    """Tell whether only followers may read a post of this visibility."""
    return visibility == Visibility.PRIVATE


def shown_visibility(visibility: str) -> str:
    """Return the visibility that clients are shown. Clients know only four visibilities: limited is shown as private."""
    return Visibility.PRIVATE.value if visibility == Visibility.LIMITED else visibility


def stored_visibility(requested: str | None) -> str | None:
    """Return the visibility to be stored for a requested value: PUBLIC for LOCAL, otherwise the value itself."""
    return Visibility.PUBLIC.value if requested == LOCAL else requested


def requested_visibility(visibility: str, *, local_only: bool) -> str:
    """Return the value with which a client requests a post of this visibility: LOCAL for a local-only public post."""
    return LOCAL if local_only and visibility == Visibility.PUBLIC else visibility


def allowed_visibility(visibility: str, *, limited: bool) -> str:
    """Return the visibility, but unlisted instead of public for a limited author."""
    return Visibility.UNLISTED.value if limited and visibility == Visibility.PUBLIC else visibility


def lowered_visibility(visibility: str, limit: str) -> str:
    """Return the narrower of two visibilities that followers may read; with an empty `limit`, return `visibility`."""
    return max(Visibility(visibility), Visibility(limit), key=FOLLOWER_VISIBILITIES.index) if limit else visibility


def boost_visibility(original: str, requested: str) -> str:
    """Return the visibility of a boost: private if the post is private or boosts may not have the requested visibility."""
    return Visibility.PRIVATE if original == Visibility.PRIVATE or requested not in FOLLOWER_VISIBILITIES else requested


def quote_visibility(quoted: str, requested: str) -> str:
    """Return the visibility of a post with a quote: at most private if the quoted post is neither public nor unlisted."""
    return Visibility.PRIVATE if quoted not in OPEN_VISIBILITIES and requested in OPEN_VISIBILITIES else requested


def received_visibility(*, in_to: bool, in_cc: bool, followers: bool) -> Visibility:
    """Return the visibility of a remote post that addresses the public in `to` or `cc`, or the author's followers."""
    if in_to:
        return Visibility.PUBLIC
    if in_cc:
        return Visibility.UNLISTED
    return Visibility.PRIVATE if followers else Visibility.DIRECT


def with_silent_readers(visibility: str) -> str:
    """Return the visibility of a post that reaches a local account which it does not mention: limited instead of direct."""
    return Visibility.LIMITED if visibility == Visibility.DIRECT else visibility


_ADDRESSED_WORDS: Final = ", ".join(f"'{visibility}'" for visibility in ADDRESSED_VISIBILITIES)

ADDRESSED_POST: Final = f"s.visibility IN ({_ADDRESSED_WORDS})"
"""SQL form of `is_for_addressed` for a post `s`."""

PUBLIC_POST: Final = f"s.visibility = '{Visibility.PUBLIC}' AND s.reblog_of_id IS NULL AND s.deleted_at IS NULL"
"""SQL condition for posts `s` of public timelines, with literals, so that the planner chooses the partial index."""

LIVE_POST: Final = "NOT s.from_archive"
"""SQL condition for posts `s` that were not imported from an archive."""


FEDERATED_POST: Final = "NOT s.local_only"
"""SQL condition for posts `s` that are not local-only."""


def readable_sql(post: str, *, follows_author: str, may_be_addressed: str = "TRUE") -> str:
    """Return the SQL condition under which a viewer may read `post` (an alias), considering its visibility and whether it is
    local-only, but not blocks. The other two parameters are SQL conditions.
    """
    words = ", ".join(f"'{visibility}'" for visibility in OPEN_VISIBILITIES)
    return f"""((NOT {post}.local_only OR {VIEWER_IS_LOCAL}) AND (
      {post}.visibility IN ({words})
      OR ({post}.visibility = '{Visibility.PRIVATE}' AND {follows_author})
      OR ({may_be_addressed} AND EXISTS (
        SELECT 1 FROM statuses_mention m WHERE m.status_id = {post}.id AND m.account_id = %(viewer)s))
    ))"""  # noqa: S608 (constants)
