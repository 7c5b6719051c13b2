"""Events of posts that other apps may subscribe to."""

from __future__ import annotations

from social.kernel.events import Event


class StatusPublished(Event, key="status:{status_id}"):
    """A post exists: written here, received, or a boost (`reblog`), which is a post like any other.

    The flags say which reactions have nothing to do: `mentions` whether anybody is addressed, `link` whether the text
    holds a link, `reply` whether it answers something, `awaited` whether somebody wants to be notified of what its author
    posts.
    """

    status_id: int
    account_id: int
    local: bool
    reblog: bool = False
    awaited: bool = True
    reply: bool = False
    mentions: bool = False
    link: bool = False


class StatusFetched(Event, key="status:{status_id}"):
    """An old post was fetched from its server: it is stored, and nobody is notified of it."""

    status_id: int
    account_id: int


class StatusEdited(Event, key="status:{status_id}"):
    """Edit of a post by its author; the version before is kept.

    The flags are those of StatusPublished. `first_mention_id` is the first of the mentions that came with this edit, by
    their ids; None when it mentions nobody else than before.
    """

    status_id: int
    account_id: int
    local: bool
    link: bool = False
    first_mention_id: int | None = None


class FilesUnmeasured(Event, key="status:{status_id}"):
    """A post of another server came, or was edited, with files whose type or size its server does not say."""

    status_id: int


class QuotePolicyChanged(Event, key="status:{status_id}"):
    """Change by its author of who may quote a post, and of nothing else; no version is kept."""

    status_id: int
    account_id: int


class StatusJoinedThread(Event, key="status:{status_id}"):
    """A post was known before the post it answers, which has arrived now."""

    status_id: int
    account_id: int


class StatusDeleted(Event, key="status:{status_id}"):
    """A post is gone, and every boost of it with it: no events of their own are published (their rows name it in `reblog_of`).

    For an undone boost `reblog_of_id` is the post that was boosted. `had_files`: whether it or an earlier version of it had
    files, which its row tells no more.
    """

    status_id: int
    account_id: int
    local: bool
    reblog_of_id: int | None = None
    had_files: bool = False


class BoostsOutlived(Event, key="status:{status_id}"):
    """A post was deleted that has more boosts than are deleted in one step."""

    status_id: int


class AnswersOutlived(Event, key="status:{status_id}"):
    """A post was deleted that has more answers than are detached in one step."""

    status_id: int


class StatusReblogged(Event, key="status:{status_id}"):
    """`account_id` has boosted `status_id` with the post `reblog_id`, for which StatusPublished is published as well."""

    status_id: int
    account_id: int
    reblog_id: int


class StatusQuoted(Event, key="status:{status_id}"):
    """`account_id` has quoted `status_id`, and the quote `quote_id` is accepted."""

    status_id: int
    quote_id: int
    account_id: int


class QuoteSettled(Event, key="status:{status_id}"):
    """The quote `quote_id` in the post `status_id` became accepted, rejected, revoked or deleted."""

    status_id: int
    quote_id: int


class StatusFavourited(Event, key="status:{status_id}"):
    """`account_id` likes `status_id`. `local` says of the post whether it was written here: what reactions have to do."""

    status_id: int
    account_id: int
    favourite_id: int
    local: bool


class StatusUnfavourited(Event, key="status:{status_id}"):
    """`account_id` likes `status_id` no more; the favourite's row is gone. `local` as with StatusFavourited."""

    status_id: int
    account_id: int
    favourite_id: int
    local: bool


class StatusPinChanged(Event, key="status:{status_id}"):
    """The author of a post has pinned it to the profile, or taken it off."""

    status_id: int
    local: bool


class FiltersChanged(Event, key="account:{account_id}"):
    """An account has made, changed or deleted a filter, or what it looks for."""

    account_id: int


class PollEnded(Event, key="status:{status_id}"):
    """End of a poll: nobody can vote in it any more.

    Published beforehand, to be handled at that time. An edit may have moved the end: who handles it looks at the poll.
    """

    poll_id: int
    status_id: int


class PollVoted(Event, key="status:{status_id}"):
    """Vote of somebody here in a poll of another server."""

    vote_id: int
    status_id: int


class PollVotesDue(Event, key="status:{status_id}"):
    """Votes in a poll written here are to be announced to other servers.

    Published beforehand with the first vote, to be handled some minutes later, once for all that were cast meanwhile.
    """

    poll_id: int
    status_id: int


class MediaUploaded(Event):
    """A file was uploaded here that must be converted before it can be shown."""

    media_id: int


class CardsDue(Event):
    """Wake-up for the fetching of previews; several of them do no more than one."""


class CardAttached(Event, key="status:{status_id}"):
    """A post shows the preview `card_id` of its link now."""

    status_id: int
    card_id: int


class ScheduledStatusDue(Event, key="account:{account_id}"):
    """The time of a scheduled post has come.

    Published beforehand, to be handled at that time. The post may have been moved or deleted since: who handles it looks.
    """

    scheduled_id: int
    account_id: int


class ScheduledStatusFailed(Event, key="account:{account_id}"):
    """A scheduled post could not be published at its time. The `reason` is in its author's language; it is empty when something
    that the post names is gone.
    """

    scheduled_id: int
    account_id: int
    reason: str


class HeldPostApproved(Event, key="account:{account_id}"):
    """Staff have approved a held post of another server: it is to be stored and published."""

    held_id: int
    account_id: int
