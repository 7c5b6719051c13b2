"""The entities "Notification" (the same for REST and streaming) and "GroupedNotificationsResults" (contract, entities)."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from accounts.collections.serializers import CollectionSerializer
from accounts.serializers.account import PartialAccountSerializer, present_counted_accounts
from accounts.serializers.relationship import SeveranceSerializer
from moderation.serializers.report import ReportSerializer, StrikeSerializer
from notifications.policies.fallbacks import needs_fallback
from notifications.queries.groups import GroupPage, NotificationGroup
from notifications.queries.listing import ListedNotification, NotificationPage, Subjects
from notifications.serializers.fallback import FallbackSerializer
from social.api.serializers import EntitySerializer
from social.kernel import clock
from statuses.serializers.presenting import present_by_id


class SubjectSerializer(EntitySerializer):
    """Fields about subjects other than posts, and the fallback for types that the client does not know. Context: `accounts` as
    entities by id, `subjects`, `supported` (the types that the client knows), and the context of FallbackSerializer.
    """

    def to_representation(self, instance: ListedNotification) -> dict[str, Any]:
        subjects: Subjects = self.context["subjects"]
        about = {"accounts": self.context["accounts"], "appeals": subjects.appeals}
        entity: dict[str, Any] = {}
        if instance.report_id is not None:
            entity["report"] = ReportSerializer(subjects.reports[instance.report_id], context=about).data
        if instance.strike_id is not None:
            entity["moderation_warning"] = StrikeSerializer(subjects.strikes[instance.strike_id], context=about).data
        if instance.severed_id is not None:
            entity["event"] = SeveranceSerializer(subjects.severances[instance.severed_id]).data
        if instance.collection_id is not None:
            entity["collection"] = CollectionSerializer(subjects.collections[instance.collection_id]).data
        if instance.annual_report_id is not None:
            entity["annual_report"] = {"year": str(subjects.years[instance.annual_report_id])}
        if needs_fallback(instance.type, self.context["supported"]):
            entity["fallback"] = FallbackSerializer(instance, context=self.context).data
        return entity


class UnreadCountSerializer(EntitySerializer):
    """The number of unread notifications."""

    def to_representation(self, instance: int) -> dict[str, int]:
        return {"count": instance}


class NotificationSerializer(EntitySerializer):
    """Notification. Context: as for SubjectSerializer, and `statuses` as entities by id."""

    def to_representation(self, instance: ListedNotification) -> dict[str, Any]:
        accounts: Mapping[int, dict[str, Any]] = self.context["accounts"]
        statuses: Mapping[int, dict[str, Any]] = self.context["statuses"]
        entity: dict[str, Any] = {
            "id": str(instance.id),
            "type": instance.type,
            "created_at": clock.iso(instance.created_at),
            "group_key": instance.key,
            "account": accounts[instance.from_account_id],
        }
        if instance.status_id is not None:
            entity["status"] = statuses[instance.status_id]
        entity |= SubjectSerializer(instance, context=self.context).data
        if instance.filtered:
            entity["filtered"] = True
        return entity


class NotificationGroupSerializer(EntitySerializer):
    """NotificationGroup. Context: as for SubjectSerializer, and `paged`: whether the groups belong to a page."""

    def to_representation(self, instance: NotificationGroup) -> dict[str, Any]:
        entity: dict[str, Any] = {
            "group_key": instance.key,
            "notifications_count": instance.count,
            "type": instance.newest.type,
            "most_recent_notification_id": str(instance.most_recent_id),
        }
        if self.context["paged"]:
            entity["page_min_id"] = str(instance.lowest_id)
            entity["page_max_id"] = str(instance.most_recent_id)
            entity["latest_page_notification_at"] = clock.iso(instance.latest_at)
        entity["sample_account_ids"] = [str(number) for number in instance.sample]
        if instance.newest.status_id is not None:
            entity["status_id"] = str(instance.newest.status_id)
        newest = replace(instance.newest, others=instance.count - 1)
        entity |= SubjectSerializer(newest, context=self.context).data
        return entity


def _is_shown(row: ListedNotification, statuses: Collection[int], subjects: Subjects) -> bool:
    return (row.status_id is None or row.status_id in statuses) and subjects.has(row)


def _context(page: NotificationPage | GroupPage) -> dict[str, Any]:
    return {
        "accounts": present_counted_accounts(page.accounts),
        "subjects": page.subjects,
        "supported": page.supported,
        "named": page.named,
    }


def present_groups(page: GroupPage, *, paged: bool) -> dict[str, Any]:
    """Return GroupedNotificationsResults, which contains each account and post once. Groups are left out as in `present`."""
    statuses = present_by_id(page.statuses)
    shown = [group for group in page.groups if _is_shown(group.newest, statuses, page.subjects)]
    context = _context(page) | {"paged": paged}
    senders = dict.fromkeys(number for group in shown for number in group.sample)
    posts = dict.fromkeys(group.newest.status_id for group in shown if group.newest.status_id is not None)
    entity: dict[str, Any] = {"accounts": [context["accounts"][n] for n in senders if n in context["accounts"]]}
    if page.partial is not None:
        in_short = [page.partial[number] for number in senders if number in page.partial]
        entity["partial_accounts"] = PartialAccountSerializer(in_short, many=True).data
    entity["statuses"] = [statuses[number] for number in posts]
    entity["notification_groups"] = NotificationGroupSerializer(shown, many=True, context=context).data
    return entity


def present(page: NotificationPage) -> list[dict[str, Any]]:
    """Return the entities of a page, in the same order. A notification is left out if the recipient may no longer read its
    post, or if its subject was deleted while the page was loaded.
    """
    statuses = present_by_id(page.statuses)
    shown = [row for row in page.rows if _is_shown(row, statuses, page.subjects)]
    context = _context(page) | {"statuses": statuses}
    entities: list[dict[str, Any]] = NotificationSerializer(shown, many=True, context=context).data
    return entities
