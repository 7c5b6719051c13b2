"""Parameters of a report, and of questions about this server."""

from __future__ import annotations

from moderation.policies.reports import ReportDraft
from social.api.inputs import Form, Id


class SearchInput(Form):
    """The beginning of the name of a known server; None when it was not sent."""

    q: str | None = None


class ReportInput(Form):
    """A report. What is too long or unknown is the policy's to say, after what is not found.

    Lists are as they were sent, so that what is no id is refused and not passed over.
    """

    account_id: Id | None = None
    comment: str = ""
    category: str = ""
    status_ids: tuple[str, ...] = ()
    rule_ids: tuple[str, ...] = ()
    collection_ids: tuple[str, ...] = ()
    forward: bool = False
    forward_to_domains: tuple[str, ...] | None = None

    @property
    def draft(self) -> ReportDraft:
        """Return what was sent, without whom it is about."""
        return ReportDraft(
            comment=self.comment,
            category=self.category,
            status_ids=self.status_ids,
            rule_ids=self.rule_ids,
            collection_ids=self.collection_ids,
            forward=self.forward,
            forward_domains=self.forward_to_domains,
        )
