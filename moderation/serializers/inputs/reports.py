"""What clients send with a report."""

from __future__ import annotations

from dataclasses import dataclass

from moderation.policies.reports import ReportDraft
from social.api.inputs import ClientBoolean, ClientString, IdField, Input, StringListField


@dataclass(frozen=True)
class ReportForm:
    """The parameters of a report; lists are as they were sent, so that what is no id is refused and not passed over."""

    account_id: int | None = None
    comment: str = ""
    category: str = ""
    status_ids: tuple[str, ...] = ()
    rule_ids: tuple[str, ...] = ()
    collection_ids: tuple[str, ...] = ()
    forward: bool = False
    forward_to_domains: tuple[str, ...] | None = None

    @property
    def draft(self) -> ReportDraft:
        """All but whom it is about."""
        return ReportDraft(
            comment=self.comment,
            category=self.category,
            status_ids=self.status_ids,
            rule_ids=self.rule_ids,
            collection_ids=self.collection_ids,
            forward=self.forward,
            forward_domains=self.forward_to_domains,
        )


class ReportInput(Input[ReportForm]):
    """A report. What is too long or unknown is the policy's to say, after what is not found."""

    draft = ReportForm
    account_id = IdField()
    comment = ClientString()
    category = ClientString()
    status_ids = StringListField()
    rule_ids = StringListField()
    collection_ids = StringListField()
    forward = ClientBoolean()
    forward_to_domains = StringListField()
