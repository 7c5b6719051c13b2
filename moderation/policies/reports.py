"""What a report may say (contract, parameters "POST /api/v1/reports")."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from moderation.models.report import COMMENT_LIMIT, ReportCategory
from social.kernel.errors import FieldError


@dataclass(frozen=True)
class ReportDraft:
    """What somebody reports. Ids are as they were sent; `forward_domains` None means the server of the account."""

    comment: str = ""
    category: str = ""
    status_ids: tuple[str, ...] = ()
    rule_ids: tuple[str, ...] = ()
    collection_ids: tuple[str, ...] = ()
    forward: bool = False
    forward_domains: tuple[str, ...] | None = None


def chosen_category(draft: ReportDraft) -> str:
    """The category: of a report that names rules always "violation", else what was chosen, "other" if nothing was."""
    return ReportCategory.VIOLATION if draft.rule_ids else draft.category or ReportCategory.OTHER


def report_errors(draft: ReportDraft, *, category: str, rules_known: bool) -> list[FieldError]:
    """What is against a rule; `rules_known` says whether there is each rule that is named."""
    errors = []
    if len(draft.comment) > COMMENT_LIMIT:
        message = _("is too long (maximum is %(count)d characters)") % {"count": COMMENT_LIMIT}
        errors.append(FieldError("comment", "ERR_TOO_LONG", message))
    if category not in ReportCategory.values:
        errors.append(FieldError("category", "ERR_INCLUSION", _("is not included in the list")))
    if not rules_known or (category == ReportCategory.VIOLATION and not draft.rule_ids):
        errors.append(FieldError("rule_ids", "ERR_INVALID", _("does not reference valid rules")))
    return errors
