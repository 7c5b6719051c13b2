"""What staff send about reports."""

from __future__ import annotations

from dataclasses import dataclass

from moderation.queries.admin_reports import ReportFilter
from social.api.inputs import ClientBoolean, ClientString, IdField, IdListField, Input


class ReportsInput(Input[ReportFilter]):
    """Which reports are looked for."""

    draft = ReportFilter
    resolved = ClientBoolean()
    unresolved = ClientBoolean()
    account_id = IdField()
    target_account_id = IdField()


@dataclass(frozen=True)
class ReportChange:
    """What is put right in a report; None: nothing."""

    category: str | None = None
    rule_ids: tuple[int, ...] | None = None


class ReportChangeInput(Input[ReportChange]):
    """The category and the rules."""

    draft = ReportChange
    category = ClientString()
    rule_ids = IdListField()
