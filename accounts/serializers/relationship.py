"""The Relationship, MutedAccount and Suggestion entities, and others about relations of accounts (contract, entities)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from accounts.models import SeveredAccount
from accounts.policies.relations import FollowOptions, Relations
from accounts.queries.discovery import Suggestion
from social.api.serializers import EntitySerializer
from social.kernel import clock


class RelationshipSerializer(EntitySerializer):
    """Relationship of the viewer to the account with this id. Context: `relations`, which must contain this account."""

    def to_representation(self, instance: int) -> dict[str, Any]:
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


class DomainBlockPreviewSerializer(EntitySerializer):
    """DomainBlockPreview: how many accounts of a server the user follows, and how many of them follow the user."""

    def to_representation(self, instance: tuple[int, int]) -> dict[str, Any]:
        following, followers = instance
        return {"following_count": following, "followers_count": followers}


class MutedAccountSerializer(EntitySerializer):
    """MutedAccount: the entity of an account, with the time at which its mute ends."""

    def to_representation(self, instance: tuple[dict[str, Any], datetime | None]) -> dict[str, Any]:
        """Return the entity; `mute_expires_at` is null for a mute without an end."""
        account, expires_at = instance
        return account | {"mute_expires_at": clock.iso_or_none(expires_at)}


# Values of `source`, for older clients.
_OLD_SOURCES: Final = {"featured": "staff", "friends_of_friends": "past_interactions", "most_followed": "global"}


class SuggestionSerializer(EntitySerializer):
    """Suggestion. Context: `accounts`, entities by id."""

    def to_representation(self, instance: Suggestion) -> dict[str, Any]:
        return {
            "source": _OLD_SOURCES[instance.source],
            "sources": [instance.source],
            "account": self.context["accounts"][instance.account_id],
        }


class FamiliarFollowersSerializer(EntitySerializer):
    """FamiliarFollowers: the id of an account, with the ids of its followers. Context: `accounts`, entities by id."""

    def to_representation(self, instance: tuple[int, Sequence[int]]) -> dict[str, Any]:
        """Return the entity; followers that are missing in `accounts` are left out."""
        account_id, people = instance
        accounts = self.context["accounts"]
        return {"id": str(account_id), "accounts": [accounts[number] for number in people if number in accounts]}


class SeveranceSerializer(EntitySerializer):
    """RelationshipSeveranceEvent: counts of the follows that an account has lost. `severance` must be loaded."""

    def to_representation(self, instance: SeveredAccount) -> dict[str, Any]:
        severance = instance.severance
        return {
            "id": str(instance.id),
            "type": severance.type,
            "purged": severance.purged,
            "target_name": severance.target_name,
            "followers_count": instance.followers_count,
            "following_count": instance.following_count,
            "created_at": clock.iso(instance.created_at),
        }
