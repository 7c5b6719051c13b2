"""Parameters of a report, and of the search for known servers."""

from __future__ import annotations

from moderation.policies.reports import ReportDraft
from social.api.inputs import Form, Id


class SearchInput(Form):
    """Prefix of the name of a known server; None if it was not sent."""

    q: str | None = None


class ReportInput(Form):
    """A report. The policy validates lengths and names, after the lookup of the account, posts, collections and rules to
    which the report refers.

    Lists are passed on as they were sent, so that an invalid id is refused and not skipped.
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
        """Return the draft of the report, without the reported account."""
        return ReportDraft(
            comment=self.comment,
            category=self.category,
            status_ids=self.status_ids,
            rule_ids=self.rule_ids,
            collection_ids=self.collection_ids,
            forward=self.forward,
            forward_domains=self.forward_to_domains,
        )
