"""The entities "Report" and "AccountWarning" (contract, entities), and the parameters of a report."""

from collections.abc import Mapping
from typing import Any

from moderation.models import Appeal, Report, Strike
from moderation.policies.reports import ReportDraft
from social.api.inputs import Form, Id
from social.api.serializers import EntitySerializer
from social.kernel import clock


class AnyReportSerializer(EntitySerializer):
    """Fields that Report and Admin::Report share."""

    def to_representation(self, instance: Report) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "action_taken": instance.is_resolved,
            "action_taken_at": clock.iso_or_none(instance.action_taken_at),
            "category": instance.category,
            "comment": instance.comment,
            "forwarded": instance.forwarded,
            "created_at": clock.iso(instance.created_at),
        }


class ReportSerializer(AnyReportSerializer):
    """Report. Context: `accounts`, entities by id."""

    def to_representation(self, instance: Report) -> dict[str, Any]:
        accounts: Mapping[int, dict[str, Any]] = self.context["accounts"]
        return super().to_representation(instance) | {
            "status_ids": [str(number) for number in instance.status_ids],
            "rule_ids": None if instance.rule_ids is None else [str(number) for number in instance.rule_ids],
            "collection_ids": [str(number) for number in instance.collection_ids],
            "target_account": accounts[instance.target_account_id],
        }


class StrikeSerializer(EntitySerializer):
    """AccountWarning. Context: `accounts`, entities by id, and `appeals` by the id of the strike."""

    def to_representation(self, instance: Strike) -> dict[str, Any]:
        accounts: Mapping[int, dict[str, Any]] = self.context["accounts"]
        appeals: Mapping[int, Appeal] = self.context["appeals"]
        appeal = appeals.get(instance.id)
        return {
            "id": str(instance.id),
            "action": instance.action,
            "text": instance.text,
            "status_ids": None if instance.status_ids is None else [str(number) for number in instance.status_ids],
            "created_at": clock.iso(instance.created_at),
            "target_account": accounts[instance.target_account_id],
            "appeal": None if appeal is None else {"text": appeal.text, "state": appeal.state},
        }


class ReportInput(ReportDraft, Form):
    """A report. The policy validates lengths and names, after the lookup of the account, posts, collections and rules to
    which the report refers.

    Lists are passed on as they were sent, so that an invalid id is refused and not skipped.
    """

    account_id: Id | None = None
