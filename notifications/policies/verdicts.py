"""Knows who is told what: the reasons not to, as a list (contract, behaviours section 13)."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.policies.relations import Relations


@dataclass(frozen=True, slots=True)
class Candidate:
    """A notification that may be made. `relations` are the recipient's."""

    recipient_id: int
    sender_id: int
    relations: Relations
    recipient_suspended: bool = False
    sender_suspended: bool = False
    sender_staff: bool = False
    thread_muted: bool = False


def is_dropped(candidate: Candidate) -> bool:
    """Whether nothing at all is made. Staff mention past blocks and mutes."""
    sender, relations = candidate.sender_id, candidate.relations
    if candidate.recipient_suspended or candidate.sender_suspended or sender == candidate.recipient_id:
        return True
    if candidate.thread_muted:
        return True
    if candidate.sender_staff:
        return False
    if relations.blocked_either_way(sender):
        return True
    mute = relations.muting.get(sender)
    if mute is not None and mute.hide_notifications:
        return True
    return sender in relations.domain_blocking and sender not in relations.following
