"""The entity "Poll" (contract, entities)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accounts.queries.emojis import EmojiLookup
from accounts.serializers.emoji import CustomEmojiSerializer
from social.api.serializers import EntitySerializer
from social.kernel import clock
from statuses.models import Poll
from statuses.policies.polls import has_ended


class PollSerializer(EntitySerializer):
    """A poll as a viewer sees it.

    The context: `viewer_id` (None for anybody), `author_id`, `own_votes` (places of the options the viewer has voted for),
    `domain` of the author's server and `emojis`, which knows the emojis of the options.
    """

    def to_representation(self, instance: Poll) -> dict[str, Any]:
        """The entity; who wrote the poll counts as having voted."""
        viewer_id: int | None = self.context["viewer_id"]
        own_votes: Sequence[int] = self.context["own_votes"]
        emojis: EmojiLookup = self.context["emojis"]
        ended = has_ended(instance.expires_at, clock.now())
        hidden = instance.hide_totals and not ended
        entity: dict[str, Any] = {
            "id": str(instance.id),
            "expires_at": clock.iso_or_none(instance.expires_at),
            "expired": ended,
            "multiple": instance.multiple,
            "votes_count": sum(instance.tallies),
            "voters_count": instance.voters_count,
            "options": [
                {"title": title, "votes_count": None if hidden else count}
                for title, count in zip(instance.options, instance.tallies, strict=True)
            ],
            "emojis": CustomEmojiSerializer(emojis.find(self.context["domain"], *instance.options), many=True).data,
        }
        if viewer_id is not None:
            entity["voted"] = bool(own_votes) or viewer_id == self.context["author_id"]
            entity["own_votes"] = list(own_votes)
        return entity
