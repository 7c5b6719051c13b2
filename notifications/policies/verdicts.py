"""Who is notified of what: the reasons not to, as a list (contract, behaviours section 13)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from accounts.policies.relations import Relations


@dataclass(frozen=True, slots=True)
class Candidate:
    """A notification that may be made. `relations` are the recipient's, to the sender and to the `involved`: whom a post
    that mentions the recipient mentions besides, and whom it answers. `about_oneself`: of a type that also tells people of
    what they have done themselves, such as the end of their own poll.
    """

    recipient_id: int
    sender_id: int
    relations: Relations
    recipient_suspended: bool = False
    sender_suspended: bool = False
    sender_staff: bool = False
    thread_muted: bool = False
    about_oneself: bool = False
    involved: Collection[int] = ()


def is_dropped(candidate: Candidate) -> bool:
    """Whether nothing at all is made. Staff mention past blocks and mutes."""
    sender, relations = candidate.sender_id, candidate.relations
    if candidate.recipient_suspended or candidate.sender_suspended:
        return True
    if candidate.thread_muted:
        return True
    if sender == candidate.recipient_id:
        return not candidate.about_oneself
    if candidate.sender_staff:
        return False
    if relations.blocked_either_way(sender) or _is_silenced(sender, relations):
        return True
    if any(account in relations.blocking or _is_silenced(account, relations) for account in candidate.involved):
        return True
    return sender in relations.domain_blocking and sender not in relations.following


def _is_silenced(account_id: int, relations: Relations) -> bool:
    mute = relations.muting.get(account_id)
    return mute is not None and mute.hide_notifications
