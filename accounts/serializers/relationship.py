"""The entity "Relationship" (contract, entities): every key at the top level."""

from __future__ import annotations

from typing import Any

from accounts.policies.relations import FollowOptions, Relations
from social.api.serializers import EntitySerializer
from social.kernel import clock


class RelationshipSerializer(EntitySerializer):
    """Relationship to the account with an id. Context: `relations` of the viewer, which know the account."""

    def to_representation(self, instance: int) -> dict[str, Any]:
        """The entity."""
        relations: Relations = self.context["relations"]
        follow = relations.following.get(instance)
        request = relations.requested.get(instance)
        options = follow or request or FollowOptions(show_reblogs=False, notify=False, languages=None)
        mute = relations.muting.get(instance)
        return {
            "id": str(instance),
            "following": follow is not None,
            "showing_reblogs": options.show_reblogs,
            "notifying": options.notify,
            "languages": None if options.languages is None else list(options.languages),
            "followed_by": instance in relations.followed_by,
            "blocking": instance in relations.blocking,
            "blocked_by": instance in relations.blocked_by,
            "muting": mute is not None,
            "muting_notifications": mute is not None and mute.hide_notifications,
            "muting_expires_at": clock.iso_or_none(mute.expires_at) if mute is not None else None,
            "requested": request is not None and follow is None,
            "requested_by": instance in relations.requested_by,
            "domain_blocking": instance in relations.domain_blocking,
            "endorsed": instance in relations.endorsing,
            "note": relations.notes.get(instance, ""),
        }
