"""Parameters of a report, and of the search for known servers."""

from __future__ import annotations

from moderation.policies.reports import ReportDraft
from social.api.inputs import Form, Id


class SearchInput(Form):
    """Prefix of the name of a known server; None if it was not sent."""

    q: str | None = None


class ReportInput(ReportDraft, Form):
    """A report. The policy validates lengths and names, after the lookup of the account, posts, collections and rules to
    which the report refers.

    Lists are passed on as they were sent, so that an invalid id is refused and not skipped.
    """

    account_id: Id | None = None
