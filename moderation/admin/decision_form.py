"""The form for a decision of staff about reported accounts, and the sentences about its outcome."""

from typing import Any, Final

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from accounts.models.user import Permission
from accounts.policies.staff import Staff, can
from moderation.models import Decision, ReportCategory
from moderation.models.report import NOTE_LIMIT, STRIKE_TEXT_LIMIT, UNDO_PERIOD
from social.api.staff_forms import StaffForm, text_field

CATEGORIES: Final = {
    ReportCategory.SPAM: _("Spam"),
    ReportCategory.LEGAL: _("Legal"),
    ReportCategory.VIOLATION: _("Violation of a rule"),
    ReportCategory.OTHER: _("Other"),
}
MINUTES: Final = int(UNDO_PERIOD.total_seconds()) // 60
ACTS: Final = (
    ("resolve", _("Resolve without any other action")),
    ("assign", _("Assign to me")),
    ("warn", _("Warn")),
    ("mark", _("Mark the selected posts as sensitive")),
    ("delete", format_lazy(_("Delete the selected posts, in {minutes} minutes"), minutes=MINUTES)),
    ("sensitive", _("Mark all media as sensitive")),
    ("silence", _("Limit the account")),
    ("disable", _("Disable sign-in")),
    ("suspend", _("Suspend the account")),
)
#: Actions on users; not offered for remote accounts, whose users are managed by their own server.
_USER_ACTS: Final = ("disable",)
#: Actions on reports: the moderator need not outrank the reported person.
_UNRANKED_ACTS: Final = ("resolve", "assign")
#: Actions on the chosen posts.
POST_ACTS: Final = frozenset({"mark", "delete"})


class DecisionForm(StaffForm):
    acts = forms.MultipleChoiceField(
        label=_("Actions"), choices=ACTS, required=False, widget=forms.CheckboxSelectMultiple
    )
    text = text_field(_("Message to the person (may be empty)"), STRIKE_TEXT_LIMIT, rows=3)
    note = text_field(_("Note for colleagues (may be empty)"), NOTE_LIMIT)

    def offer(self, by: Staff, *, outranked: bool = True, local: bool = True) -> None:
        """Offer only the actions that `by` may take; `outranked` means that `by` outranks the account."""
        field: Any = self.fields["acts"]
        on_users = local and can(by, Permission.MANAGE_USERS)
        field.choices = [
            (act, words)
            for act, words in ACTS
            if (outranked or act in _UNRANKED_ACTS) and (on_users or act not in _USER_ACTS)
        ]

    def clean(self) -> dict[str, Any]:
        """Require an action or a note. Resolving without a sanction cannot be combined with an action on the person."""
        sent = super().clean() or {}
        if not self.errors and not (sent["acts"] or sent["note"].strip()):
            raise forms.ValidationError(gettext("Choose at least one action, or write a note."))
        if not self.errors and "resolve" in sent["acts"] and not set(sent["acts"]) <= {"resolve", "assign"}:
            raise forms.ValidationError(
                gettext("Choose either actions on the account, or to resolve without any other action.")
            )
        return sent

    @property
    def has_words(self) -> bool:
        """Tell whether the submitted form has a text or a note, even an invalid one."""
        return any(self[name].value() or self[name].errors for name in ("text", "note"))


def outcome(decision: Decision, target: Account) -> str:
    """Return a sentence about the outcome of a decision."""
    count = len(decision.report_ids)
    if not decision.can_be_undone:
        text = (
            gettext("@%(name)s: these reports are assigned to you.")
            if "assign" in decision.acts
            else gettext("@%(name)s: the note has been saved.")
        )
    elif not count:
        text = gettext("@%(name)s: done. You can undo this for %(minutes)d minutes.")
    else:
        text = ngettext(
            "@%(name)s: %(count)d report is resolved. You can undo this for %(minutes)d minutes.",
            "@%(name)s: %(count)d reports are resolved. You can undo this for %(minutes)d minutes.",
            count,
        )
    return text % {"name": target.acct, "count": count, "minutes": MINUTES}
