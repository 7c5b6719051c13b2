"""Events of moderation that other apps may subscribe to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from social.kernel.events import Event


@dataclass(frozen=True)
class ReportFiled(Event):
    """Somebody has reported `target_id` to staff. `notify`: staff are to be notified of it, and get a mail."""

    key: ClassVar[str] = "account:{target_id}"
    report_id: int
    target_id: int
    notify: bool
    forwarded: bool = False


@dataclass(frozen=True)
class StrikeIssued(Event):
    """Staff have acted on `account_id`. `notify`: that person is to be notified of it, and gets a mail."""

    key: ClassVar[str] = "account:{account_id}"
    strike_id: int
    account_id: int
    notify: bool


@dataclass(frozen=True)
class AppealFiled(Event):
    """Somebody has appealed against a strike."""

    key: ClassVar[str] = "account:{account_id}"
    appeal_id: int
    account_id: int


@dataclass(frozen=True)
class AppealDecided(Event):
    """Staff have accepted or rejected an appeal."""

    key: ClassVar[str] = "account:{account_id}"
    appeal_id: int
    account_id: int


@dataclass(frozen=True)
class DomainRuleChanged(Event):
    """A rule for `domain` was made, changed or taken back; `since` marks what it has done. Accounts with an id above
    `after` are still to obey what counts for them now.
    """

    key: ClassVar[str] = "domain:{domain}"
    domain: str
    since: str
    after: int = 0


@dataclass(frozen=True)
class AnnouncementDue(Event):
    """The time at which an announcement is published, or is over, has come.

    Published beforehand, to be handled at that time. The announcement may have been changed since: who handles it looks.
    """

    key: ClassVar[str] = "announcement:{announcement_id}"
    announcement_id: int


@dataclass(frozen=True)
class AnnouncementPublished(Event):
    """An announcement is shown from now on, or has changed."""

    key: ClassVar[str] = "announcement:{announcement_id}"
    announcement_id: int


@dataclass(frozen=True)
class AnnouncementWithdrawn(Event):
    """An announcement is not shown any more: it was taken back or deleted, or is over."""

    key: ClassVar[str] = "announcement:{announcement_id}"
    announcement_id: int


@dataclass(frozen=True)
class AnnouncementReactionChanged(Event):
    """Somebody has reacted to an announcement with an emoji, or taken that back."""

    key: ClassVar[str] = "announcement:{announcement_id}"
    announcement_id: int
    name: str
