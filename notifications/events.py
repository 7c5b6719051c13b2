"""Events of notifications that other apps may subscribe to."""

from __future__ import annotations

from social.kernel.events import Event


class NotificationMade(Event, key="notification:{notification_id}"):
    """A notification was made; streams and Web Push deliver it."""

    notification_id: int
    account_id: int


class PushesDue(Event):
    """Messages may be waiting to be pushed. Any number of these is as good as one."""


class MailsDue(Event):
    """Mails may be waiting to be written. Any number of these is as good as one."""


class AnnualReportRequested(Event, key="annual_report:{report_id}"):
    """A person has asked for the report of a year."""

    report_id: int


class VotersWaiting(Event, key="poll:{poll_id}"):
    """A poll has ended that has more voters than are notified in one step: those with an account id above `after_id`."""

    poll_id: int
    after_id: int


class FollowersWaiting(Event, key="status:{status_id}"):
    """A post has more followers to notify than are notified in one step: those whose follow is newer than `after_id`."""

    status_id: int
    after_id: int


class BoostersWaiting(Event, key="status:{status_id}"):
    """An edited post has more boosts than are notified of in one step: those with an id above `after_id`."""

    status_id: int
    after_id: int


class QuotersWaiting(Event, key="status:{status_id}"):
    """An edited post has more quotes than are notified of in one step: those with an id above `after_id`."""

    status_id: int
    after_id: int


class SeveredWaiting(Event, key="severance:{cause}"):
    """The act with this `cause` has cost more people follows than are notified in one step: those with a row above
    `after_id`.
    """

    cause: str
    after_id: int


class RequestAccepted(Event, key="account:{account_id}"):
    """`account_id` has let `from_account_id` through: what is held of that sender is to be delivered."""

    account_id: int
    from_account_id: int


class RequestDismissed(Event, key="account:{account_id}"):
    """`account_id` does not want what is held of `from_account_id`: notifications with ids up to `last_id`."""

    account_id: int
    from_account_id: int
    last_id: int


class NotificationsMerged(Event, key="account:{account_id}"):
    """Delivery of everything that was held of those whom `account_id` has let through is complete."""

    account_id: int
