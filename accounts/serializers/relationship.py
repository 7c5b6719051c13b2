"""Knows the entity "Relationship" (contract, entities): every key at the top level."""

from __future__ import annotations

from typing import Any

from accounts.policies.relations import FollowOptions, Relations
from social.kernel import clock


def relationship_entity(account_id: int, relations: Relations) -> dict[str, Any]:
    """How the viewer of `relations` stands to the account."""
    follow = relations.following.get(account_id)
    request = relations.requested.get(account_id)
    options = follow or request or FollowOptions(show_reblogs=False, notify=False, languages=None)
    mute = relations.muting.get(account_id)
    return {
        "id": str(account_id),
        "following": follow is not None,
        "showing_reblogs": options.show_reblogs,
        "notifying": options.notify,
        "languages": None if options.languages is None else list(options.languages),
        "followed_by": account_id in relations.followed_by,
        "blocking": account_id in relations.blocking,
        "blocked_by": account_id in relations.blocked_by,
        "muting": mute is not None,
        "muting_notifications": mute is not None and mute.hide_notifications,
        "muting_expires_at": clock.iso_or_none(mute.expires_at) if mute is not None else None,
        "requested": request is not None and follow is None,
        "requested_by": account_id in relations.requested_by,
        "domain_blocking": account_id in relations.domain_blocking,
        "endorsed": account_id in relations.endorsing,
        "note": relations.notes.get(account_id, ""),
    }
