"""Statements of reasons: notices to a person about an action of staff, or of a spam rule, with the contents that Regulation
(EU) 2022/2065, article 17, requires: restriction, facts, automated means, ground, redress.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from moderation.models import ReportCategory, StrikeAction
from moderation.models.report import APPEAL_PERIOD
from social.kernel import clock

STAFF_SOURCE: Final = "staff"
REPORT_SOURCE: Final = "report"
RULE_SOURCE: Final = "rule"

_EFFECTS: Final = {
    StrikeAction.NONE: gettext_lazy("You have received a warning. Your account is not restricted."),
    StrikeAction.DISABLE: gettext_lazy("You cannot sign in any more. Your posts stay."),
    StrikeAction.MARK_STATUSES_AS_SENSITIVE: gettext_lazy("The files of these posts are hidden behind a warning."),
    StrikeAction.DELETE_STATUSES: gettext_lazy("These posts were deleted. They cannot be restored."),
    StrikeAction.SENSITIVE: gettext_lazy("The files of all your posts are hidden behind a warning."),
    StrikeAction.SILENCE: gettext_lazy(
        "Your posts do not appear in public timelines and search; your followers still see them."
    ),
    StrikeAction.SUSPEND: gettext_lazy(
        "Your account and its posts are no longer shown. It can be restored for 30 days."
    ),
}
_SOURCES: Final = {
    STAFF_SOURCE: gettext_lazy("The staff of this server looked into it on their own initiative."),
    REPORT_SOURCE: gettext_lazy("Somebody has reported it to the staff of this server."),
    RULE_SOURCE: gettext_lazy("An automatic spam rule found it."),
}


def state(
    *, action: str, decided_at: datetime, by_rule: bool, reported: bool, category: str, house_rules: Sequence[str]
) -> dict[str, Any]:
    """Return a statement to be stored in a strike, which stores the posts separately. `by_rule` means that a spam rule acted
    automatically, and `reported` that a report led to the action. `house_rules` are the texts of the broken rules of this
    server.
    """
    return {
        "action": action,
        "source": RULE_SOURCE if by_rule else REPORT_SOURCE if reported else STAFF_SOURCE,
        "automated": by_rule,
        "category": category,
        "house_rules": house_rules,
        "decided_at": clock.iso(decided_at),
        "appeal_until": clock.iso(decided_at + APPEAL_PERIOD),
    }


def read_statement(statement: Mapping[str, Any], posts: Sequence[str] = ()) -> list[tuple[str, list[str]]]:
    """Return the headings of a stored statement with their lines, in the viewer's language. `posts` are the texts of the
    posts concerned, if they are to be included.
    """
    if not statement:
        return []
    action = StrikeAction(statement["action"])
    decision = [str(_EFFECTS[action])]
    if action not in (StrikeAction.NONE, StrikeAction.DELETE_STATUSES):
        decision.append(_("This applies until it is undone, on this server and to what it sends to other servers."))
    decider = (
        _("The decision was automatic: no person was involved.")
        if statement["automated"]
        else _("A person made the decision.")
    )
    until = date_format(datetime.fromisoformat(statement["appeal_until"]), "DATE_FORMAT")
    sections = [
        (_("What was done"), decision),
        (_("Which posts"), [words or _("(no text)") for words in posts]),
        (_("Why"), _grounds(statement)),
        (_("How it was found"), [str(_SOURCES[statement["source"]])]),
        (_("Who decided"), [decider]),
        (
            _("What you can do"),
            [
                _("You can appeal until %(day)s. A member of staff will read your appeal.") % {"day": until},
                _("You can also turn to a certified body for the settlement of disputes, or to a court."),
            ],
        ),
    ]
    return [(heading, lines) for heading, lines in sections if lines]


def _grounds(statement: Mapping[str, Any]) -> list[str]:
    if statement["house_rules"]:
        return [_("Rule of this server: %(rule)s") % {"rule": rule} for rule in statement["house_rules"]]
    if statement["category"] == ReportCategory.LEGAL:
        return [_("It is thought to be against the law.")]
    if statement["category"] == ReportCategory.SPAM:
        return [_("It is thought to be spam, which this server does not allow.")]
    return [_("It is thought to be against the rules of this server.")]
