"""Events of notifications to which other apps may subscribe."""

from social.kernel.events import Event


class NotificationMade(Event, key="notification:{notification_id}"):
    """A notification was created; streams, pushes and mails deliver it."""

    notification_id: int
    account_id: int


class PushesDue(Event):
    """Wake-up of the push queue; repeated events have no further effect."""


class MailsDue(Event):
    """Wake-up of the mail queue; repeated events have no further effect."""


class AnnualReportRequested(Event, key="annual_report:{report_id}"):
    """A person has requested the report of a year."""

    report_id: int


class VotersWaiting(Event, key="poll:{poll_id}"):
    """Voters whose account ids are above `after_id` are still to be notified of an ended poll, in the next batch."""

    poll_id: int
    after_id: int


class FollowersWaiting(Event, key="status:{status_id}"):
    """Followers whose follows have ids above `after_id` are still to be notified of a post, in the next batch."""

    status_id: int
    after_id: int


class BoostersWaiting(Event, key="status:{status_id}"):
    """Boosters whose boosts have ids above `after_id` are still to be notified of an edited post, in the next batch."""

    status_id: int
    after_id: int


class QuotersWaiting(Event, key="status:{status_id}"):
    """Quoters whose quotes have ids above `after_id` are still to be notified of an edited post, in the next batch."""

    status_id: int
    after_id: int


class SeveredWaiting(Event, key="severance:{cause}"):
    """Accounts whose SeveredAccount has an id above `after_id` are still to be notified of the follows that they have lost
    through `cause`.
    """

    cause: str
    after_id: int


class RequestAccepted(Event, key="account:{account_id}"):
    """`account_id` has accepted the request of `from_account_id`: the held notifications of that sender are to be delivered."""

    account_id: int
    from_account_id: int


class RequestDismissed(Event, key="account:{account_id}"):
    """`account_id` has dismissed the request of `from_account_id`; the held notifications up to `last_id` are to be deleted."""

    account_id: int
    from_account_id: int
    last_id: int


class NotificationsMerged(Event, key="account:{account_id}"):
    """The held notifications of all senders whom `account_id` has accepted have been delivered."""

    account_id: int
