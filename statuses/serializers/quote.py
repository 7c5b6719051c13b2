"""The entities "Quote", "ShallowQuote" and "QuoteApproval"."""

from __future__ import annotations

from typing import Any

import orjson

from accounts.policies.relations import Relations
from social.api.serializers import EntitySerializer
from statuses.policies.quotes import (
    DELETED,
    Group,
    Permission,
    automatic_groups,
    manual_groups,
    shown_state,
    shows_quoted,
)
from statuses.queries.rows import Row


class QuoteSerializer(EntitySerializer):
    """Quote: what a post quotes, from its row.

    The context has `viewer_id`, the viewer's `relations`, `with_source` (the quoted post is shown whatever the state of the
    quote), and `quoted`: the encoded quoted post, None when it has vanished.
    """

    def to_representation(self, instance: Row) -> dict[str, Any]:
        """The entity."""
        viewer_id, relations = self.context["viewer_id"], self.context["relations"]
        quoted: bytes | None = self.context["quoted"]
        state = shown_state(instance, viewer_id, relations)
        shown = shows_quoted(instance, viewer_id, relations, whatever_state=self.context["with_source"])
        if shown and quoted is None:
            state = DELETED
        return {"state": state, "quoted_status": orjson.Fragment(quoted) if shown and quoted is not None else None}


class ShallowQuoteSerializer(EntitySerializer):
    """ShallowQuote: what a quoted post quotes itself. The context has `viewer_id` and the viewer's `relations`."""

    def to_representation(self, instance: Row) -> dict[str, Any]:
        """The entity."""
        viewer_id: int | None = self.context["viewer_id"]
        relations: Relations = self.context["relations"]
        shown = shows_quoted(instance, viewer_id, relations)
        return {
            "state": shown_state(instance, viewer_id, relations),
            "quoted_status_id": str(instance.quoted_status_id) if shown else None,
        }


class QuoteApprovalSerializer(EntitySerializer):
    """QuoteApproval: who may quote a post, from its policy and what the viewer may expect."""

    def to_representation(self, instance: tuple[int, Permission]) -> dict[str, Any]:
        """The entity."""
        policy, expected = instance
        return {
            "automatic": _group_names(automatic_groups(policy)),
            "manual": _group_names(manual_groups(policy)),
            "current_user": expected.value,
        }


def _group_names(groups: Group) -> list[str]:
    return [group.name.lower() for group in groups if group.name is not None]
