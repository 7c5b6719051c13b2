"""Events of moderation that other apps may subscribe to."""

from __future__ import annotations

from social.kernel.events import Event


class ReportFiled(Event, key="account:{target_id}"):
    """A person has reported `target_id` to staff. `notify`: staff are to be notified of it, and get a mail."""

    report_id: int
    target_id: int
    notify: bool
    forwarded: bool = False


class StrikeIssued(Event, key="account:{account_id}"):
    """Staff have acted on `account_id`. `notify`: that person is to be notified of it, and gets a mail.

    Published for the time at which it can no longer be taken back, where it can be: who handles it looks whether it was.
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
    """A decision about `account_id` can no longer be taken back. Published beforehand, to be handled at that time."""

    decision_id: int
    account_id: int


class EvidenceDue(Event):
    """The file of evidence `file_id`, which staff have asked for, is to be written."""

    file_id: int


class StaffMailDue(Event):
    """Mail `template` about the row `subject_id` is to be sent to somebody of the staff."""

    template: str
    subject_id: int
    user_id: int


class DomainRuleChanged(Event, key="domain:{domain}"):
    """A rule for `domain` was made, changed or taken back; `since` marks what it has done. Accounts with an id above
    `after` are still to obey what counts for them now.
    """

    domain: str
    since: str
    after: int = 0


class ServerSuspended(Event, key="domain:{domain}"):
    """A server, and every known account of it, is suspended now by the rule `rule_id`. The follows between people here and
    those of its accounts with an id above `after` are still to end.
    """

    domain: str
    rule_id: int
    after: int = 0


class AnnouncementDue(Event, key="announcement:{announcement_id}"):
    """The time at which an announcement is published, or is over, has come.

    Published beforehand, to be handled at that time. The announcement may have been changed since: who handles it looks.
    """

    announcement_id: int


class AnnouncementPublished(Event, key="announcement:{announcement_id}"):
    """An announcement is shown from now on, or has changed."""

    announcement_id: int


class AnnouncementWithdrawn(Event, key="announcement:{announcement_id}"):
    """An announcement is not shown any more: it was taken back or deleted, or is over."""

    announcement_id: int


class AnnouncementReactionChanged(Event, key="announcement:{announcement_id}"):
    """A person has reacted to an announcement with an emoji, or taken that back."""

    announcement_id: int
    name: str
