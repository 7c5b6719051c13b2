"""Who may read a post. The only place of that rule, written twice, side by side: for a row in memory, and in SQL.

The words of visibility stand here and nowhere else: other modules ask the predicates below, or take an SQL condition.
Source: contract, behaviours sections 7 and 14. A property test holds the faces together.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Protocol

from django.db.models import Exists, OuterRef, Q

from accounts.models import Follow, Visibility
from accounts.policies.relations import VIEWER_IS_BLOCKED, Relations, blocked_by
from statuses.models import Mention

CHOICES: Final = (*Visibility,)
"""The visibilities a client may ask for."""

FOR_ANYBODY: Final = (Visibility.PUBLIC, Visibility.UNLISTED)
"""Those that need no relation to the author ("distributable")."""

FOR_FOLLOWERS: Final = (*FOR_ANYBODY, Visibility.PRIVATE)
"""Those that every follower reads; also those that a boost may have, and that a post may be pinned with."""

FOR_ADDRESSED: Final = (Visibility.DIRECT, Visibility.LIMITED)
"""Those that only the addressed read."""


def is_listed(visibility: str) -> bool:
    """Whether a post of this visibility may stand in public places."""
    return visibility == Visibility.PUBLIC


def is_for_anybody(visibility: str) -> bool:
    """Whether a post of this visibility needs no relation to its author."""
    return visibility in FOR_ANYBODY


def is_counted(visibility: str) -> bool:
    """Whether a profile counts such posts."""
    return visibility != Visibility.DIRECT


COUNTED: Final = tuple(visibility for visibility in Visibility.values if is_counted(visibility))


def is_reserved_for_posts(visibility: str) -> bool:
    """Whether a post may have it, and a boost may not."""
    return visibility == Visibility.DIRECT


def is_for_addressed(visibility: str) -> bool:
    """Whether only those read it whom it addresses."""
    return visibility in FOR_ADDRESSED


def is_conversational(visibility: str) -> bool:
    """Whether posts of this visibility make conversations among those they mention."""
    return visibility == Visibility.DIRECT


def is_for_followers_only(visibility: str) -> bool:
    """Whether followers read it and strangers do not."""
    return visibility == Visibility.PRIVATE


def shown_visibility(visibility: str) -> str:
    """The visibility that clients get: they know four, and a post for some people only is private to them."""
    return Visibility.PRIVATE.value if visibility == Visibility.LIMITED else visibility


def at_most_unlisted(visibility: str) -> str:
    """The same without public places: what a limited author's posts get."""
    return Visibility.UNLISTED if visibility == Visibility.PUBLIC else visibility


def boost_visibility(original: str, chosen: str) -> str:
    """The visibility of a boost: of a private post private, else the one chosen, if a boost may have it."""
    return Visibility.PRIVATE if original == Visibility.PRIVATE or chosen not in FOR_FOLLOWERS else chosen


def quote_visibility(quoted: str, chosen: str) -> str:
    """The visibility of a post that quotes: of a post that is not for anybody private at most."""
    return Visibility.PRIVATE if quoted not in FOR_ANYBODY and chosen in FOR_ANYBODY else chosen


def received_visibility(*, in_to: bool, in_cc: bool, followers: bool) -> Visibility:
    """What an addressing means that names everybody first (`in_to`) or second (`in_cc`), or the author's followers."""
    if in_to:
        return Visibility.PUBLIC
    if in_cc:
        return Visibility.UNLISTED
    return Visibility.PRIVATE if followers else Visibility.DIRECT


def with_silent_readers(visibility: str) -> str:
    """What a direct post becomes that reaches somebody here whom it does not mention."""
    return Visibility.LIMITED if visibility == Visibility.DIRECT else visibility


class Readable(Protocol):
    """What the rule looks at: a `Status` with its account loaded (and the boosted post with its), or a `Row`."""

    @property
    def account_id(self) -> int:
        """The author."""
        ...

    @property
    def visibility(self) -> str:
        """One of `Visibility`."""
        ...

    @property
    def is_deleted(self) -> bool:
        """Whether it is gone for everybody."""
        ...

    @property
    def is_author_suspended(self) -> bool:
        """Whether nothing of its author is shown."""
        ...

    @property
    def original(self) -> Readable | None:
        """The boosted post."""
        ...


class Listable(Readable, Protocol):
    """What lists look at besides."""

    @property
    def is_author_limited(self) -> bool:
        """Whether the author is kept out of public places."""
        ...

    @property
    def original(self) -> Listable | None:
        """The boosted post."""
        ...


def can_see(status: Readable, viewer_id: int | None, relations: Relations, mentioned_ids: Collection[int]) -> bool:
    """Whether the viewer (None: anybody) may read the post.

    `relations` must know the author, and the author of the boosted post. `mentioned_ids` are the accounts the post
    addresses, silently or not; of a boost those of the boosted post, for a boost addresses nobody itself.
    """
    original = status.original
    if original is not None:
        return _can_see_itself(status, viewer_id, relations, ()) and _can_see_itself(
            original, viewer_id, relations, mentioned_ids
        )
    return _can_see_itself(status, viewer_id, relations, mentioned_ids)


def _can_see_itself(
    status: Readable, viewer_id: int | None, relations: Relations, mentioned_ids: Collection[int]
) -> bool:
    if status.is_deleted or status.is_author_suspended:
        return False
    author_id = status.account_id
    if viewer_id is not None:
        if author_id == viewer_id:
            return True
        # Also when mentioned: who blocks is seen nowhere any more by those it blocks (SEED-129).
        if relations.is_blocked_by(author_id):
            return False
    if status.visibility in FOR_ANYBODY:
        return True
    if viewer_id is None:
        return False
    if status.visibility == Visibility.PRIVATE and author_id in relations.following:
        return True
    return viewer_id in mentioned_ids


def visible_to(viewer_id: int | None, *, prefix: str = "") -> Q:
    """`can_see` as a condition on a queryset of Status, boosts and what they boost included.

    `prefix` (`"status__"`) is the way to the post from another model's queryset.
    """
    boosted = f"{prefix}reblog_of__"
    itself = _visible_itself(viewer_id, prefix)
    return itself & (Q(**{f"{prefix}reblog_of": None}) | _visible_itself(viewer_id, boosted))


def _visible_itself(viewer_id: int | None, prefix: str) -> Q:
    exists = Q(**{f"{prefix}deleted_at": None, f"{prefix}account__suspended_at": None})
    open_to_all = Q(**{f"{prefix}visibility__in": FOR_ANYBODY})
    if viewer_id is None:
        return exists & open_to_all
    author = OuterRef(f"{prefix}account_id")
    own = Q(**{f"{prefix}account_id": viewer_id})
    followed = Exists(Follow.objects.filter(account_id=viewer_id, target_id=author))
    mentioned = Exists(Mention.objects.filter(account_id=viewer_id, status_id=OuterRef(f"{prefix}id")))
    for_followers = Q(**{f"{prefix}visibility": Visibility.PRIVATE}) & Q(followed)
    return exists & (own | (~blocked_by(viewer_id, author) & (open_to_all | for_followers | Q(mentioned))))


_WORDS_FOR_ANYBODY: Final = ", ".join(f"'{visibility}'" for visibility in FOR_ANYBODY)

_WORDS_FOR_ADDRESSED: Final = ", ".join(f"'{visibility}'" for visibility in FOR_ADDRESSED)

ADDRESSED_POST: Final = f"s.visibility IN ({_WORDS_FOR_ADDRESSED})"
"""`is_for_addressed` for a post `s`."""

PUBLIC_POST: Final = f"s.visibility = '{Visibility.PUBLIC}' AND s.reblog_of_id IS NULL AND s.deleted_at IS NULL"
"""Posts `s` that may stand in public places. Literals, not parameters: they choose the partial index."""

FOR_ADDRESSED_ONLY: Final = "s.visibility IN ({})".format(", ".join(f"'{visibility}'" for visibility in FOR_ADDRESSED))
"""Posts `s` that only the addressed read."""

# Not EXISTS, for which the planner may read everybody whom the viewer follows, once for each place where it is asked.
FOLLOWED: Final = (
    "(SELECT 1 FROM accounts_follow f WHERE f.account_id = %(viewer)s AND f.target_id = {author}) IS NOT NULL"
)
"""Whether the viewer follows the account whose id is the expression `{author}`."""


def readable_sql(post: str, *, follows_author: str, may_be_addressed: str = "TRUE") -> str:
    """What `can_see` asks of the visibility of a post (alias), of an author who neither is the viewer, nor shuts the
    viewer out, nor is suspended. The other two parameters are conditions.
    """
    return f"""(
      {post}.visibility IN ({_WORDS_FOR_ANYBODY})
      OR ({post}.visibility = '{Visibility.PRIVATE}' AND {follows_author})
      OR ({may_be_addressed} AND EXISTS (
        SELECT 1 FROM statuses_mention m WHERE m.status_id = {post}.id AND m.account_id = %(viewer)s))
    )"""  # noqa: S608 (constants)


def readable_by_viewer(author: str = "s.account_id") -> str:
    """`can_see` of the post `s` itself; of a boost what it boosts has to be asked about besides.

    `author` is the author's id as an expression; as a parameter it is asked about once and not for every post.
    """
    return f"""s.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM accounts_account a WHERE a.id = {author} AND a.suspended_at IS NOT NULL)
  AND ({author} = %(viewer)s OR (
    NOT {VIEWER_IS_BLOCKED.format(author=author)}
    AND {readable_sql("s", follows_author=FOLLOWED.format(author=author))}))"""  # noqa: S608 (constants)


def may_be_listed(status: Listable, relations: Relations) -> bool:
    """Whether a list the viewer did not choose post by post shows one they may read: a thread, quotes, posts by id.

    Not when its author, or the boosted one, is blocked or muted (nor the other way round), or is limited and not
    followed (behaviours section 7). `relations` are the viewer's.
    """
    for part in (status, status.original):
        if part is None or part.account_id == relations.viewer_id:
            continue
        if relations.hides(part.account_id):
            return False
        if part.is_author_limited and part.account_id not in relations.following:
            return False
    return True
