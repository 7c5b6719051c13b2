"""Knows who may read a post. The one home of that rule, with two faces side by side: for a row in hand, and in SQL.

Source: contract, behaviours sections 7 and 14. A property test holds the two together.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from django.db.models import Exists, OuterRef, Q

from accounts.models import Block, Follow
from accounts.policies.relations import Relations
from statuses.models import Mention, Visibility

ANYBODY = (Visibility.PUBLIC, Visibility.UNLISTED)
"""The visibilities that need no relation to the author ("distributable")."""


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
        if author_id in relations.blocked_by:
            return False
    if status.visibility in ANYBODY:
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
    open_to_all = Q(**{f"{prefix}visibility__in": ANYBODY})
    if viewer_id is None:
        return exists & open_to_all
    author = OuterRef(f"{prefix}account_id")
    own = Q(**{f"{prefix}account_id": viewer_id})
    blocked = Exists(Block.objects.filter(account_id=author, target_id=viewer_id))
    followed = Exists(Follow.objects.filter(account_id=viewer_id, target_id=author))
    mentioned = Exists(Mention.objects.filter(account_id=viewer_id, status_id=OuterRef(f"{prefix}id")))
    for_followers = Q(**{f"{prefix}visibility": Visibility.PRIVATE}) & Q(followed)
    return exists & (own | (~Q(blocked) & (open_to_all | for_followers | Q(mentioned))))


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
