"""Events of moderation to which other apps may subscribe."""

from social.kernel.events import Event


class ReportFiled(Event, key="account:{target_id}"):
    """Staff have received a report about the account `target_id`. `notify`: whether staff are notified of it, including by
    mail.
    """

    report_id: int
    target_id: int
    notify: bool
    forwarded: bool = False


class ReportChanged(Event, key="report:{report_id}"):
    """Staff or a spam rule have changed a report, or staff have settled it or opened it again."""

    report_id: int


class StrikeIssued(Event, key="account:{account_id}"):
    """Staff have acted on the account `account_id`. `notify`: whether its owner is notified, including by mail. If the action
    belongs to a decision, the event is due when the decision can no longer be undone; handlers check whether the decision was
    undone.
    """

    strike_id: int
    account_id: int
    notify: bool


class AppealFiled(Event, key="account:{account_id}"):
    """A person has appealed against a strike."""

    appeal_id: int
    account_id: int


class AppealDecided(Event, key="account:{account_id}"):
    """Staff have accepted or rejected an appeal."""

    appeal_id: int
    account_id: int


class DecisionEnded(Event, key="account:{account_id}"):
    """A decision to delete posts of `account_id` can no longer be undone. The event is published in advance, when the decision
    is made.
    """

    decision_id: int
    account_id: int


class EvidenceDue(Event):
    """Staff have requested the evidence file `file_id`, which is to be written."""

    file_id: int


class StaffMailDue(Event):
    """A mail (`template`) about a row (`subject_id`) is to be sent to a member of staff (`user_id`)."""

    template: str
    subject_id: int
    user_id: int


class DomainRuleChanged(Event, key="domain:{domain}"):
    """A rule for `domain` was created, changed or removed. `since`, the time when the rule was created, identifies the
    sanctions that the rule has set. The change is still to be applied to accounts with an id above `after`.
    """

    domain: str
    since: str
    after: int = 0


class ServerSuspended(Event, key="domain:{domain}"):
    """The server `domain` and all its known accounts have been suspended by the rule `rule_id`. The follows between local
    accounts and the server's accounts with an id above `after` are still to be ended.
    """

    domain: str
    rule_id: int
    after: int = 0


class AnnouncementDue(Event, key="announcement:{announcement_id}"):
    """An announcement is due to be published or to end; handlers check its times, because staff may have changed them."""

    announcement_id: int


class AnnouncementPublished(Event, key="announcement:{announcement_id}"):
    """An announcement is shown from now on, or has changed."""

    announcement_id: int


class AnnouncementWithdrawn(Event, key="announcement:{announcement_id}"):
    """An announcement is no longer shown: it was withdrawn or deleted, or has ended."""

    announcement_id: int


class AnnouncementReactionChanged(Event, key="announcement:{announcement_id}"):
    """A person has added or removed an emoji reaction to an announcement."""

    announcement_id: int
    name: str


class WebhookCallsDue(Event):
    """Wake-up of the queue that calls webhooks; repeated events have no further effect."""


class BlocklistFetchesDue(Event):
    """Wake-up of the queue that fetches blocklists; repeated events have no further effect."""


class BlocklistChanged(Event, key="blocklist:{blocklist_id}"):
    """Pending entries are to be compared with the rules. `ended` is the number of follows that this update has ended."""

    blocklist_id: int
    ended: int = 0
