"""Events of posts that other apps may subscribe to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from social.kernel.events import Event


@dataclass(frozen=True)
class StatusPublished(Event):
    """A post exists: written here, received, or a boost (`reblog`), which is a post like any other.

    The flags say which reactions have nothing to do: `mentions` whether anybody is addressed, `link` whether the text
    holds a link, `reply` whether it answers something, `awaited` whether somebody wants to be notified of what its author
    posts.
    """

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int
    local: bool
    reblog: bool = False
    awaited: bool = True
    reply: bool = False
    mentions: bool = False
    link: bool = False


@dataclass(frozen=True)
class StatusFetched(Event):
    """An old post was fetched from its server: it is stored, and nobody is notified of it."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int


@dataclass(frozen=True)
class StatusEdited(Event):
    """Its author has changed a post, and the version before is kept.

    The flags are those of StatusPublished. `first_mention_id` is the first of the mentions that came with this edit, by
    their ids; None when it mentions nobody else than before.
    """

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int
    local: bool
    link: bool = False
    first_mention_id: int | None = None


@dataclass(frozen=True)
class StatusJoinedThread(Event):
    """A post was known before the post it answers, which has arrived now."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int


@dataclass(frozen=True)
class StatusDeleted(Event):
    """A post is gone, and every boost of it with it: no events of their own are published (their rows name it in `reblog_of`).

    For an undone boost `reblog_of_id` is the post that was boosted. `had_files`: whether it or an earlier version of it had
    files, which its row tells no more.
    """

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int
    local: bool
    reblog_of_id: int | None = None
    had_files: bool = False


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
    """`account_id` has boosted `status_id` with the post `reblog_id`, for which StatusPublished is published as well."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    account_id: int
    reblog_id: int


@dataclass(frozen=True)
class StatusQuoted(Event):
    """`account_id` has quoted `status_id`, and the quote `quote_id` is accepted."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    quote_id: int
    account_id: int


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


@dataclass(frozen=True)
class FiltersChanged(Event):
    """An account has made, changed or deleted a filter, or what it looks for."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int


@dataclass(frozen=True)
class PollEnded(Event):
    """Nobody can vote in a poll any more: it has reached its end.

    Published beforehand, to be handled at that time. An edit may have moved the end: who handles it looks at the poll.
    """

    key: ClassVar[str] = "status:{status_id}"
    poll_id: int
    status_id: int


@dataclass(frozen=True)
class MediaUploaded(Event):
    """A file was uploaded here that must be converted before it can be shown."""

    media_id: int


@dataclass(frozen=True)
class CardsDue(Event):
    """There may be previews to fetch now. Any number of these is as good as one."""

    key: ClassVar[str] = ""


@dataclass(frozen=True)
class CardAttached(Event):
    """A post shows the preview `card_id` of its link now."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    card_id: int


@dataclass(frozen=True)
class ScheduledStatusDue(Event):
    """The time of a scheduled post has come.

    Published beforehand, to be handled at that time. The post may have been moved or deleted since: who handles it looks.
    """

    key: ClassVar[str] = "account:{account_id}"
    scheduled_id: int
    account_id: int
