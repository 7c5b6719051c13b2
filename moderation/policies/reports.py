"""Rules for reports, appeals (contract, behaviours section 18), and links that show a strike without sign-in."""

from dataclasses import dataclass
from datetime import datetime

from django.core.signing import BadSignature, Signer
from django.urls import reverse
from django.utils.translation import gettext as _

from moderation.models.report import APPEAL_PERIOD, APPEAL_TEXT_LIMIT, COMMENT_LIMIT, Appeal, ReportCategory, Strike
from social.kernel import links
from social.kernel.errors import FieldError


@dataclass(frozen=True)
class ReportDraft:
    """Values of a report; ids are not validated. A forwarded report is by default sent to the reported account's server."""

    comment: str = ""
    category: str = ""
    status_ids: tuple[str, ...] = ()
    rule_ids: tuple[str, ...] = ()
    collection_ids: tuple[str, ...] = ()
    forward: bool = False
    forward_to_domains: tuple[str, ...] | None = None


def chosen_category(draft: ReportDraft) -> str:
    """Return the category: "violation" if the report names rules, otherwise the chosen category, by default "other"."""
    return ReportCategory.VIOLATION if draft.rule_ids else draft.category or ReportCategory.OTHER


def report_errors(draft: ReportDraft, *, category: str, rules_known: bool) -> list[FieldError]:
    """Return the errors of a report; `rules_known` says whether all named rules exist."""
    errors = []
    if len(draft.comment) > COMMENT_LIMIT:
        errors.append(FieldError.too_long("comment", COMMENT_LIMIT))
    if category not in ReportCategory.values:
        errors.append(FieldError.not_included("category"))
    if not rules_known or (category == ReportCategory.VIOLATION and not draft.rule_ids):
        errors.append(FieldError("rule_ids", "ERR_INVALID", _("does not reference valid rules")))
    return errors


def may_be_appealed(strike: Strike, appeal: Appeal | None, *, now: datetime) -> bool:
    """Tell whether a strike can be appealed: once per strike, in time, and while the strike is in force."""
    return appeal is None and strike.overruled_at is None and now < strike.created_at + APPEAL_PERIOD


def appeal_errors(text: str) -> list[FieldError]:
    if not text.strip():
        return [FieldError.blank("text")]
    if len(text) > APPEAL_TEXT_LIMIT:
        return [FieldError.too_long("text", APPEAL_TEXT_LIMIT)]
    return []


_SIGNER = Signer(salt="moderation.strike")


def strike_link(strike_id: int) -> str:
    """Return the URL of a strike's page, with the key that gives access, for the mail to the person concerned."""
    path = reverse("strike", args=[strike_id])
    return links.web_url(f"{path}?key={_SIGNER.signature(str(strike_id))}")


def opens(key: str, strike_id: int) -> bool:
    """Tell whether this key gives access to the strike."""
    try:
        return _SIGNER.unsign(f"{strike_id}:{key}") == str(strike_id)
    except BadSignature:
        return False
