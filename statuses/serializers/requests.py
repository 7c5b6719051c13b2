"""The entity "InteractionRequest" of GoToSocial (docs/adr/0044)."""

from collections.abc import Iterable, Sequence
from typing import Any

from accounts.serializers.account import present_accounts
from social.api.serializers import EntitySerializer
from social.kernel import clock
from statuses.models import Interaction, InteractionRequest, RequestState
from statuses.queries.page import hydrate
from statuses.serializers.presenting import present_by_id


class InteractionRequestSerializer(EntitySerializer):
    """InteractionRequest. The context has `accounts` and `statuses`, entities by id."""

    def to_representation(self, instance: InteractionRequest) -> dict[str, Any]:
        decided = clock.iso_or_none(instance.decided_at)
        return {
            "id": str(instance.id),
            "type": instance.kind,
            "created_at": clock.iso(instance.created_at),
            "account": self.context["accounts"][instance.account_id],
            "status": self.context["statuses"][instance.status_id],
            "reply": self.context["statuses"].get(instance.answer_id) if instance.kind == Interaction.REPLY else None,
            "accepted_at": decided if instance.state == RequestState.ACCEPTED else None,
            "rejected_at": decided if instance.state == RequestState.REJECTED else None,
        }


def present_requests(requests: Sequence[InteractionRequest], viewer_id: int) -> list[Any]:
    """Return the entities of requests to the viewer; requests whose account or post is gone are left out."""
    statuses = present_by_id(hydrate(_post_ids(requests), viewer_id))
    accounts = present_accounts([request.account_id for request in requests], viewer_id)
    shown = [each for each in requests if each.account_id in accounts and each.status_id in statuses]
    entities: list[Any] = InteractionRequestSerializer(
        shown, many=True, context={"accounts": accounts, "statuses": statuses}
    ).data
    return entities


def _post_ids(requests: Iterable[InteractionRequest]) -> set[int]:
    numbers = (number for each in requests for number in (each.status_id, each.answer_id))
    return {number for number in numbers if number is not None}
