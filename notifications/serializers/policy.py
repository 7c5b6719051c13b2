"""The entities "NotificationPolicy" of both versions and "NotificationRequest" (contract, entities)."""

from collections.abc import Mapping
from typing import Any

from accounts.serializers.account import present_counted_accounts
from notifications.models import Handling, NotificationPolicy, NotificationRequest
from notifications.models.policy import POLICY_COLUMNS
from notifications.queries.requests import RequestPage, RequestSummary
from social.api.serializers import EntitySerializer
from social.kernel import clock
from statuses.serializers.presenting import present_by_id


def _summary(summary: RequestSummary) -> dict[str, int]:
    return {
        "pending_requests_count": summary.requests,
        "pending_notifications_count": summary.notifications,
    }


class NotificationPolicySerializer(EntitySerializer):
    """NotificationPolicy. Context: `summary`."""

    def to_representation(self, instance: NotificationPolicy) -> dict[str, Any]:
        settings = {column: str(getattr(instance, column)) for column in POLICY_COLUMNS}
        return {**settings, "summary": _summary(self.context["summary"])}


class NotificationPolicyV1Serializer(EntitySerializer):
    """V1::NotificationPolicy, which has no setting for limited accounts. Context: `summary`."""

    def to_representation(self, instance: NotificationPolicy) -> dict[str, Any]:
        return {
            "filter_not_following": instance.for_not_following != Handling.ACCEPT,
            "filter_not_followers": instance.for_not_followers != Handling.ACCEPT,
            "filter_new_accounts": instance.for_new_accounts != Handling.ACCEPT,
            "filter_private_mentions": instance.for_private_mentions != Handling.ACCEPT,
            "filter_bots": instance.for_bots != Handling.ACCEPT,
            "summary": _summary(self.context["summary"]),
        }


class MergedSerializer(EntitySerializer):
    """The entity that tells whether the notifications of all accepted requests have been delivered."""

    def to_representation(self, instance: bool) -> dict[str, bool]:
        return {"merged": instance}


class NotificationRequestSerializer(EntitySerializer):
    """NotificationRequest. Context: `accounts` and `statuses` as entities by id."""

    def to_representation(self, instance: NotificationRequest) -> dict[str, Any]:
        accounts: Mapping[int, dict[str, Any]] = self.context["accounts"]
        statuses: Mapping[int, dict[str, Any]] = self.context["statuses"]
        return {
            "id": str(instance.id),
            "created_at": clock.iso(instance.created_at),
            "updated_at": clock.iso(instance.updated_at),
            "notifications_count": str(instance.notifications_count),
            "account": accounts[instance.from_account_id],
            "last_status": None if instance.last_status_id is None else statuses.get(instance.last_status_id),
        }


def present_requests(page: RequestPage) -> list[Any]:
    """Return the entities of a page, in the same order; a last post that the recipient may no longer read is null."""
    context = {"accounts": present_counted_accounts(page.accounts), "statuses": present_by_id(page.statuses)}
    entities: list[Any] = NotificationRequestSerializer(page.requests, many=True, context=context).data
    return entities
