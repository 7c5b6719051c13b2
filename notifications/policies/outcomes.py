"""Outcomes for notifications: created or not, and delivered or held (contract, behaviours section 13). An outcome depends only
on the tables RULES and GROUNDS and on the relations between recipient and sender.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from typing import Final

from accounts.policies.audience import PRESENT
from accounts.policies.relations import Relations
from notifications.models import Handling, NotificationPolicy
from notifications.models import NotificationType as Type

NEW_ACCOUNT_AGE: Final = timedelta(days=30)
"""Age up to which an account counts as new."""

FOLLOWER_AGE: Final = timedelta(days=3)
"""Minimum age of a follow: accounts that have followed for a shorter time do not count as followers."""


class NotificationOutcome(IntEnum):
    """Outcomes for a notification, the strictest last. If several apply, the strictest prevails."""

    DELIVER = 0
    HOLD = 1
    DROP = 2


@dataclass(frozen=True, slots=True)
class TypeRule:
    """Properties of a type. `filterable`: the recipient's policy applies. `past_blocks`: notifications from staff are delivered
    regardless of blocks, mutes and policies. `about_oneself`: the sender may be the recipient. `of_any_post`: a notification is
    about any post of a followed account, and any mute of the author prevents it. `grouped`: clients may show several
    notifications as one.
    """

    filterable: bool = False
    past_blocks: bool = False
    about_oneself: bool = False
    of_any_post: bool = False
    grouped: bool = False


RULES: Final[Mapping[Type, TypeRule]] = {
    Type.MENTION: TypeRule(filterable=True, past_blocks=True),
    Type.QUOTE: TypeRule(filterable=True),
    Type.REBLOG: TypeRule(filterable=True, grouped=True),
    Type.FAVOURITE: TypeRule(filterable=True, grouped=True),
    Type.FOLLOW: TypeRule(filterable=True, grouped=True),
    Type.FOLLOW_REQUEST: TypeRule(filterable=True),
    Type.STATUS: TypeRule(of_any_post=True),
    Type.UPDATE: TypeRule(),
    Type.QUOTED_UPDATE: TypeRule(),
    Type.POLL: TypeRule(about_oneself=True),
    Type.ADMIN_SIGN_UP: TypeRule(grouped=True),
    Type.ADMIN_REPORT: TypeRule(),
    Type.MODERATION_WARNING: TypeRule(about_oneself=True),
    Type.SEVERED_RELATIONSHIPS: TypeRule(about_oneself=True),
    Type.ANNUAL_REPORT: TypeRule(about_oneself=True),
    Type.ADDED_TO_COLLECTION: TypeRule(filterable=True),
    Type.COLLECTION_UPDATE: TypeRule(),
}
DEFAULT_POLICY: Final = NotificationPolicy()
"""The policy of an account that has never changed it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A notification that may be created. `involved` are the other accounts that the post mentions or replies to. `relations`
    are the recipient's relations to these accounts and to the sender. `suspended`: the sender or the recipient is suspended.

    `follows_recipient`: the sender has followed the recipient for at least FOLLOWER_AGE. `unsolicited`: the notification is
    about a private mention that does not reply to a private post by the recipient to the sender. `permitted`: the recipient has
    accepted the sender's request.
    """

    type: Type
    recipient_id: int
    sender_id: int
    relations: Relations
    policy: NotificationPolicy = DEFAULT_POLICY
    involved: Collection[int] = ()
    suspended: bool = False
    thread_muted: bool = False
    sender_staff: bool = False
    sender_limited: bool = False
    sender_new: bool = False
    sender_bot: bool = False
    follows_recipient: bool = False
    unsolicited: bool = False
    permitted: bool = False

    @property
    def followed(self) -> bool:
        """Tell whether the recipient follows the sender."""
        return self.sender_id in self.relations.following


GROUNDS: Final[Mapping[str, Callable[[Candidate], bool]]] = {
    "for_not_following": lambda candidate: not candidate.followed,
    "for_not_followers": lambda candidate: not candidate.follows_recipient,
    "for_new_accounts": lambda candidate: candidate.sender_new and not candidate.followed,
    "for_private_mentions": lambda candidate: candidate.unsolicited and not candidate.followed,
    "for_limited_accounts": lambda candidate: candidate.sender_limited and not candidate.followed,
    "for_bots": lambda candidate: candidate.sender_bot and not candidate.followed,
}
"""Conditions on a candidate under which the settings of a policy apply."""

_HANDLED: Final = {
    Handling.ACCEPT: NotificationOutcome.DELIVER,
    Handling.FILTER: NotificationOutcome.HOLD,
    Handling.DROP: NotificationOutcome.DROP,
}


def outcome_of(candidate: Candidate) -> NotificationOutcome:
    if is_dropped(candidate):
        return NotificationOutcome.DROP
    rule = RULES[candidate.type]
    if not rule.filterable or candidate.permitted or _passes_blocks(candidate):
        return NotificationOutcome.DELIVER
    settings = (getattr(candidate.policy, name) for name, concerns in GROUNDS.items() if concerns(candidate))
    return max((_HANDLED[Handling(setting)] for setting in settings), default=NotificationOutcome.DELIVER)


def is_dropped(candidate: Candidate) -> bool:
    """Tell whether no notification is created, whatever the recipient's policy is."""
    sender, relations, rule = candidate.sender_id, candidate.relations, RULES[candidate.type]
    if candidate.suspended or candidate.thread_muted:
        return True
    if sender == candidate.recipient_id:
        return not rule.about_oneself
    if _passes_blocks(candidate):
        return False
    if not PRESENT.shows(sender, relations) or (rule.of_any_post and sender in relations.muting):
        return True
    if any(
        account in relations.blocking or _is_silenced(account, relations) for account in (sender, *candidate.involved)
    ):
        return True
    return sender in relations.domain_blocking and not candidate.followed


def _passes_blocks(candidate: Candidate) -> bool:
    return candidate.sender_staff and RULES[candidate.type].past_blocks


def _is_silenced(account_id: int, relations: Relations) -> bool:
    mute = relations.muting.get(account_id)
    return mute is not None and mute.hide_notifications
