"""Events of posts that other apps may subscribe to."""

from social.kernel.events import Event


class StatusPublished(Event, key="status:{status_id}"):
    """A post was written here or received, or a boost (`reblog`) was created. The flags tell which reactions are needed:
    whether the post addresses anyone (`mentions`), has a `link`, and is `awaited` by accounts that are notified of the author's
    posts.
    """

    status_id: int
    account_id: int
    local: bool
    reblog: bool = False
    awaited: bool = True
    mentions: bool = False
    link: bool = False


class StatusFetched(Event, key="status:{status_id}"):
    """An old post was fetched from its server and stored; nobody is notified of it."""

    status_id: int
    account_id: int


class StatusImported(Event, key="status:{status_id}"):
    """An old post was stored from an archive of its author. Search finds the post, but the post is sent to nobody and shown in
    no feed.
    """

    status_id: int
    account_id: int


class StatusEdited(Event, key="status:{status_id}"):
    """The author edited a post, whose previous version is stored. The flags are the same as in StatusPublished.
    `first_mention_id` is the lowest id of the mentions that the edit added, None if the edit added no mentions.
    """

    status_id: int
    account_id: int
    local: bool
    link: bool = False
    first_mention_id: int | None = None


class FilesUnmeasured(Event, key="status:{status_id}"):
    """A remote post with files was received or edited; the files' types and sizes may be unknown or wrong."""

    status_id: int


class QuotePolicyChanged(Event, key="status:{status_id}"):
    """The author changed only the quote policy of a post; no earlier version is stored."""

    status_id: int
    account_id: int


class StatusJoinedThread(Event, key="status:{status_id}"):
    """A reply that was stored before its parent is now linked to the parent, which has arrived."""

    status_id: int
    account_id: int


class StatusDeleted(Event, key="status:{status_id}"):
    """A post was deleted with all its boosts, which get no separate events. `reblog_of_id` is set for an undone boost.
    `had_files` tells whether the post or an earlier version of it had files.
    """

    status_id: int
    account_id: int
    local: bool
    reblog_of_id: int | None = None
    had_files: bool = False


class BoostsOutlived(Event, key="status:{status_id}"):
    """A deleted post has more boosts than are deleted in one step."""

    status_id: int


class AnswersOutlived(Event, key="status:{status_id}"):
    """A deleted post has more replies than are detached in one step."""

    status_id: int


class StatusReblogged(Event, key="status:{status_id}"):
    """Boost of `status_id` by `account_id`; StatusPublished is published as well, for the boost `reblog_id`."""

    status_id: int
    account_id: int
    reblog_id: int


class StatusQuoted(Event, key="status:{status_id}"):
    """Accepted quote `quote_id` of `status_id` by `account_id`."""

    status_id: int
    quote_id: int
    account_id: int


class QuoteSettled(Event, key="status:{status_id}"):
    """The state of the quote `quote_id` in the post `status_id` changed to accepted, rejected, revoked or deleted."""

    status_id: int
    quote_id: int


class InteractionRequested(Event, key="account:{account_id}"):
    """`account_id` asks to favourite, reply to or boost a post (request `request_id`), and the post's author has to decide."""

    request_id: int
    account_id: int


class InteractionSettled(Event, key="account:{account_id}"):
    """The request `request_id` of `account_id` was accepted or rejected, or an earlier acceptance was withdrawn (`revoked`)."""

    request_id: int
    account_id: int
    revoked: bool = False


class StatusFavourited(Event, key="status:{status_id}"):
    """Favourite of `status_id` by `account_id`. `local` tells whether the post is local."""

    status_id: int
    account_id: int
    favourite_id: int
    local: bool


class StatusUnfavourited(Event, key="status:{status_id}"):
    """`account_id` has undone its favourite of `status_id`; the row of the favourite is deleted. `local` tells whether the post
    is local.
    """

    status_id: int
    account_id: int
    favourite_id: int
    local: bool


class StatusPinChanged(Event, key="status:{status_id}"):
    """Pin or unpin of a post by its author."""

    status_id: int
    local: bool


class FiltersChanged(Event, key="account:{account_id}"):
    """Creation, change or deletion of an account's filter, or of its keywords or posts."""

    account_id: int


class PollEnded(Event, key="status:{status_id}"):
    """End of a poll. Published in advance; the handler checks the poll, because an edit may have moved the end."""

    poll_id: int
    status_id: int


class PollVoted(Event, key="status:{status_id}"):
    """Vote of a local account in a remote poll."""

    vote_id: int
    status_id: int


class PollVotesDue(Event, key="status:{status_id}"):
    """The votes in a local poll are due to be sent to other servers together, some minutes after the first vote."""

    poll_id: int
    status_id: int


class MediaUploaded(Event):
    """An uploaded file has to be processed before it can be shown."""

    media_id: int


class CardsDue(Event):
    """Wakes up the queue that fetches previews; repeated events have no further effect."""


class CardAttached(Event, key="status:{status_id}"):
    """The preview `card_id` was attached to a post's link."""

    status_id: int
    card_id: int


class ScheduledStatusDue(Event, key="account:{account_id}"):
    """A scheduled post is due. Published in advance; the handler checks whether the post was rescheduled or deleted."""

    scheduled_id: int
    account_id: int


class ScheduledStatusFailed(Event, key="account:{account_id}"):
    """A scheduled post could not be published; `reason` is in the author's language, or empty if an object that the post refers
    to does not exist.
    """

    scheduled_id: int
    account_id: int
    reason: str


class HeldPostApproved(Event, key="account:{account_id}"):
    """Staff have approved a remote post that was held for review; the post is then stored and published."""

    held_id: int
    account_id: int
