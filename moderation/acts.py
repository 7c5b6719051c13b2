"""Actions of staff on accounts: sanctions, holds, erasure, notes and evidence."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from django import forms
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accounts import acts
from accounts.models import Account
from accounts.models.account import SuspensionOrigin
from accounts.models.user import Permission
from accounts.policies.staff import Staff
from accounts.services import sanctions
from accounts.services.erasing import delete_account
from moderation.models import InstanceRule
from moderation.models.report import NOTE_LIMIT, STRIKE_TEXT_LIMIT
from moderation.services.acting import act_on_account, write_note
from moderation.services.decisions import decide
from moderation.services.evidence import REASON_LIMIT
from moderation.services.evidence_files import request_evidence
from moderation.services.reports import remove_post
from social.api.staff_acts import Act, Words
from social.api.staff_forms import StaffForm, text_field

_MODERATE: Final = Permission.MANAGE_USERS | Permission.MANAGE_REPORTS


def _house_rules() -> list[tuple[int, str]]:
    rows = InstanceRule.objects.filter(withdrawn_at=None).order_by("position", "id").values_list("id", "text")
    return [(number, Truncator(text).chars(100)) for number, text in rows]


class WordsForm(StaffForm):
    text = text_field(_("Message to the person (may be empty)"), STRIKE_TEXT_LIMIT, rows=5)


class SanctionForm(WordsForm):
    """Form for a sanction: a message to the person, the rules that were broken, and whether the person is notified."""

    field_order = ("house_rule_ids", "text", "notify")

    house_rule_ids = forms.TypedMultipleChoiceField(
        label=_("Rules of this server that were broken"),
        choices=_house_rules,
        coerce=int,
        empty_value=None,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "They are named in the statement of reasons. If you choose none, the rules of the report are named."
        ),
    )
    notify = forms.BooleanField(label=_("Notify the person by e-mail and in the app"), required=False, initial=True)


class NoteForm(StaffForm):
    text = text_field(_("Note for colleagues"), NOTE_LIMIT, rows=5, required=True)


class HoldForm(StaffForm):
    reason = text_field(_("Why the account is put on hold (only in the audit log)"), NOTE_LIMIT, rows=3, required=True)


class EvidenceForm(StaffForm):
    reason = text_field(_("Who requested it and why (in the audit log)"), REASON_LIMIT, rows=3, required=True)


def _if_present(test: Callable[[Account], bool] = lambda account: True) -> Callable[[Account], bool]:
    return lambda account: account.deleted_at is None and test(account)


def _on_a_page(act: Act) -> Act:
    """Return a copy of the action that is a button on the page of a row, but is not in the action menu of the list."""
    return replace(act, many=None)


def _sanction(name: str, title: Any, kind: str, **declared: Any) -> Act:
    return Act(
        name,
        title,
        lambda by, account, sent: act_on_account(by=by, account=account, action=kind, **sent),
        permission=_MODERATE,
        ranked=True,
        form=SanctionForm,
        menu=acts.SANCTIONS,
        verb=kind,
        recorded=name,
        **declared,
    )


_REVERSAL: Final = partial(Act, permission=Permission.MANAGE_USERS, ranked=True, menu=acts.SANCTIONS)
_DATA_ACT: Final = partial(Act, permission=Permission.DELETE_USER_DATA, ranked=True, menu=acts.SANCTIONS)

ACCOUNT_ACTS: Final = (
    _on_a_page(acts.APPROVE),
    _on_a_page(acts.REJECT),
    _sanction(
        "warn",
        _("Warn"),
        "none",
        icon="warning",
        one=Words(_("Warn this person?"), _("They have been warned.")),
        fits=_if_present(),
        audit=_("%(by)s warned %(target)s"),
    ),
    _sanction(
        "sensitize",
        _("Mark all media as sensitive"),
        "sensitive",
        icon="visibility_off",
        one=Words(
            _("Show all media of this account as sensitive, including future media?"),
            _("All media of the account are shown as sensitive."),
        ),
        many=Words(
            _("Show all media of these accounts as sensitive, including future media?"),
            ngettext_lazy(
                "Media of %(count)d account are shown as sensitive.",
                "Media of %(count)d accounts are shown as sensitive.",
                "count",
            ),
        ),
        fits=_if_present(lambda account: account.sensitized_at is None),
        audit=_("%(by)s marked all media of %(target)s as sensitive"),
    ),
    _REVERSAL(
        "unsensitize",
        _("No longer mark media as sensitive"),
        lambda by, account: sanctions.unsensitize_account(by=by, account=account),
        icon="visibility",
        one=Words(
            _("Show media of this account as its author has marked them?"),
            _("Media of the account are shown as its author marks them."),
        ),
        fits=_if_present(lambda account: account.sensitized_at is not None),
        audit=_("%(by)s unmarked the media of %(target)s as sensitive"),
        api="unsensitive",
        api_summary="Stop marking all media of an account as sensitive.",
    ),
    _sanction(
        "limit",
        _("Limit"),
        "silence",
        icon="volume_off",
        one=Words(
            _("Limit this account? Only its followers see it; its posts do not appear in public timelines and search."),
            _("The account is limited."),
        ),
        many=Words(
            _("Limit these accounts? Only their followers see them."),
            ngettext_lazy("%(count)d account was limited.", "%(count)d accounts were limited.", "count"),
        ),
        fits=_if_present(lambda account: not account.limited),
        audit=_("%(by)s limited %(target)s"),
    ),
    _REVERSAL(
        "unlimit",
        _("End the limit"),
        lambda by, account: sanctions.unlimit_account(by=by, account=account),
        icon="volume_up",
        one=Words(_("End the limit of this account?"), _("The account is no longer limited.")),
        fits=_if_present(lambda account: account.limited),
        audit=_("%(by)s ended the limit of %(target)s"),
        api="unsilence",
        api_summary="Lift the limit on an account.",
    ),
    _sanction(
        "disable",
        _("Disable sign-in"),
        "disable",
        icon="lock",
        one=Words(
            _("Disable this account? The person is signed out everywhere and cannot sign in."),
            _("The person is signed out everywhere and cannot sign in."),
        ),
        many=acts.DISABLE_USERS.many,
        fits=acts.on_users(lambda account, user: user.disabled_at is None),
        audit=_("%(by)s disabled %(target)s"),
    ),
    _on_a_page(acts.ENABLE),
    _sanction(
        "suspend",
        _("Suspend"),
        "suspend",
        icon="block",
        one=Words(
            _(
                "Suspend this account? It disappears with everything it has posted. This can be undone "
                "for 30 days; then the account is erased."
            ),
            _("The account is suspended."),
        ),
        many=Words(
            _(
                "Suspend these accounts? They disappear with everything they have posted. This can be undone "
                "for 30 days."
            ),
            ngettext_lazy("%(count)d account was suspended.", "%(count)d accounts were suspended.", "count"),
        ),
        fits=_if_present(lambda account: not account.suspended),
        audit=_("%(by)s suspended %(target)s"),
    ),
    _REVERSAL(
        "unsuspend",
        _("End the suspension"),
        lambda by, account: sanctions.unsuspend_account(by=by, account=account),
        icon="undo",
        one=Words(_("End the suspension of this account?"), _("The account is no longer suspended.")),
        fits=_if_present(lambda account: account.suspended and account.suspension_origin == SuspensionOrigin.LOCAL),
        audit=_("%(by)s ended the suspension of %(target)s"),
        api="unsuspend",
        api_summary="Undo a suspension by staff of this server.",
    ),
    _DATA_ACT(
        "hold",
        _("Put on hold: none of its data may be erased"),
        lambda by, account, sent: sanctions.hold_account(by=by, account=account, **sent),
        icon="inventory_2",
        one=Words(
            _("Put this account on hold? All its data is kept, whatever happens to it."),
            _("None of the account's data is erased until the hold is released."),
        ),
        form=HoldForm,
        fits=lambda account: account.held_at is None,
        audit=_("%(by)s put %(target)s on hold"),
    ),
    _DATA_ACT(
        "release",
        _("Release the hold"),
        lambda by, account: sanctions.release_account(by=by, account=account),
        icon="inventory_2",
        one=Words(_("Release the hold? If an erasure was waiting for it, it continues."), _("The hold is released.")),
        fits=lambda account: account.held_at is not None,
        audit=_("%(by)s released the hold on %(target)s"),
    ),
    _DATA_ACT(
        "evidence",
        _("Export evidence"),
        lambda by, account, sent: request_evidence(by=by, account=account, **sent),
        icon="folder_zip",
        one=Words(
            _("Export the data of this account, for a court or an authority?"),
            _("The file is being written. You will find it under evidence files."),
        ),
        form=EvidenceForm,
        verb="export",
        audit=_("%(by)s exported evidence about %(target)s"),
    ),
    _DATA_ACT(
        "erase",
        _("Delete permanently"),
        lambda by, account: delete_account(by=by, account=account),
        icon="delete_forever",
        one=Words(
            _("Delete this account with everything it has posted? This cannot be undone."),
            _("The account is deleted."),
        ),
        verb="delete",
        fits=_if_present(),
        audit=_("%(by)s deleted %(target)s"),
    ),
    Act(
        "suppress_suggestions",
        _("No longer suggest to others"),
        lambda by, account: sanctions.suppress_suggestions(by=by, account=account),
        permission=Permission.MANAGE_TAXONOMIES,
        icon="person_off",
        menu=acts.SANCTIONS,
        one=Words(_("Stop suggesting this account to others?"), _("The account is no longer suggested.")),
        many=Words(
            "",
            ngettext_lazy(
                "%(count)d account is no longer suggested.", "%(count)d accounts are no longer suggested.", "count"
            ),
        ),
        fits=_if_present(lambda account: not getattr(account, "suppressed", False)),
        audit=_("%(by)s removed %(target)s from the suggestions"),
    ),
    Act(
        "restore_suggestions",
        _("Suggest to others again"),
        lambda by, account: sanctions.restore_suggestions(by=by, account=account),
        permission=Permission.MANAGE_TAXONOMIES,
        icon="person_add",
        menu=acts.SANCTIONS,
        one=Words(_("Suggest this account to others again?"), _("The account may be suggested again.")),
        many=Words(
            "",
            ngettext_lazy(
                "%(count)d account may be suggested again.", "%(count)d accounts may be suggested again.", "count"
            ),
        ),
        fits=lambda account: getattr(account, "suppressed", False),
        audit=_("%(by)s allowed %(target)s in the suggestions again"),
    ),
    acts.CHANGE_ROLE,
    acts.CHANGE_EMAIL,
    _on_a_page(acts.CONFIRM),
    acts.SEND_PASSWORD,
    acts.RESET_FACTOR,
    Act(
        "note",
        _("Write a note"),
        lambda by, account, sent: write_note(by=by, account=account, **sent),
        permission=_MODERATE,
        icon="note_add",
        one=Words(_("A note for colleagues. Nobody else sees it."), _("The note has been saved.")),
        form=NoteForm,
        verb="write_note",
        fits=_if_present(),
        audit=_("%(by)s wrote a note about %(target)s"),
    ),
)


def _decide_about_post(act: str, by: Staff, report: Any, sent: dict[str, Any]) -> None:
    target, posts = report.target_account, [report.reported_post]
    decide(by=by, target=target, report_ids=[], acts=[act], status_ids=posts, settle=False, **sent)


#: Actions on one reported post. Each action receives a report that names the post; the report's attribute `reported_post` is
#: the id of the post.
REPORTED_POST_ACTS: Final = (
    Act(
        "delete",
        _("Delete"),
        partial(_decide_about_post, "delete"),
        permission=Permission.MANAGE_REPORTS,
        ranked=True,
        one=Words(
            _("Delete this post? It disappears in ten minutes; until then you can undo this."),
            _("The post will be deleted; the reports stay open."),
        ),
        form=WordsForm,
        verb="delete_statuses",
    ),
    Act(
        "mark",
        _("Mark as sensitive"),
        partial(_decide_about_post, "mark"),
        permission=Permission.MANAGE_REPORTS,
        ranked=True,
        one=Words(_("Mark this post as sensitive?"), _("The post is marked as sensitive; the reports stay open.")),
        form=WordsForm,
        verb="mark_statuses_as_sensitive",
    ),
    Act(
        "remove",
        _("Remove from the report"),
        lambda by, report: remove_post(by=by, target=report.target_account, status_id=report.reported_post),
        permission=Permission.MANAGE_REPORTS,
        one=Words(
            _("Remove this post from the reports about its author? The post itself stays."),
            _("The post is removed from the reports."),
        ),
        verb="remove_post",
    ),
)
