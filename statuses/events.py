"""Knows what happens to posts that other apps subscribe to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from social.kernel.events import Event


@dataclass(frozen=True)
class StatusPublished(Event):
    """A post exists: written here, received, or a boost (`reblog`), which is a post like any other.

    The flags say which reactions have nothing to do: `mentions` whether anybody is addressed, `link` whether the text
    holds a link, `reply` whether it answers something.
    """

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int
    local: bool
    reblog: bool = False
    reply: bool = False
    mentions: bool = False
    link: bool = False


@dataclass(frozen=True)
class StatusJoinedThread(Event):
    """A post was known before the post it answers, which has arrived now."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int


@dataclass(frozen=True)
class StatusDeleted(Event):
    """A post is gone, and every boost of it with it: they are announced no more (their rows name it in `reblog_of`).

    For an undone boost `reblog_of_id` is the post that was boosted.
    """

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int
    local: bool
    reblog_of_id: int | None = None


@dataclass(frozen=True)
class BoostsOutlived(Event):
    """A post was deleted that has more boosts than are deleted in one step."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int


@dataclass(frozen=True)
class AnswersOutlived(Event):
    """A post was deleted that has more answers than are detached in one step."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int


@dataclass(frozen=True)
class StatusReblogged(Event):
    """`account_id` has boosted `status_id` with the post `reblog_id`, which StatusPublished announces as well."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int
    reblog_id: int


@dataclass(frozen=True)
class StatusFavourited(Event):
    """`account_id` likes `status_id`. `local` says of the post whether it was written here: what reactions have to do."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int
    favourite_id: int
    local: bool


@dataclass(frozen=True)
class StatusUnfavourited(Event):
    """`account_id` likes `status_id` no more; the favourite's row is gone. `local` as with StatusFavourited."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int
    favourite_id: int
    local: bool
