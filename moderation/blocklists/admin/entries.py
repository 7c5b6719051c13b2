"""Admin pages of the entries of blocklists, which staff approve or dismiss, and of the exceptions from all lists."""

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.admin.block_lists import AddedOnlyAdmin
from accounts.admin.permitted import PermittedAdmin, Writes
from accounts.models.user import Permission
from moderation.admin.domain_rules import ServerForm, severity_mark
from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistException, EntryState
from moderation.blocklists.queries import list_waiting
from moderation.blocklists.services.lists import add_exception, remove_exception
from moderation.blocklists.services.settling import approve_entries, dismiss_entries
from social.api.staff import ActionVariant
from social.api.staff_acts import Act, Words
from social.api.staff_columns import States, address, lines, row_link, shortened, shown
from social.api.staff_filters import RelatedDropdownFilter
from social.kernel.lengths import MESSAGE_LIMIT
from social.kernel.text.names import unambiguous_domain

_KINDS: Final = {
    EntryState.WAITING: "waiting",
    EntryState.IN_FORCE: "good",
    EntryState.DISMISSED: "bad",
}
_STATES: Final = States(
    **{state.value: (state.label, _KINDS.get(state, "plain"), Q(state=state)) for state in EntryState}
)
ENTRY_SERVER: Final = shown(
    "domain", _("Server"), lambda entry: address(unambiguous_domain(entry.domain)), order="domain"
)
ENTRY_LIST: Final = shown(
    "blocklist",
    _("List"),
    lambda entry: (
        row_link(Blocklist, entry.blocklist_id, entry.list_name) if entry.blocklist_id else gettext("drafted by staff")
    ),
)
ENTRY_SEVERITY: Final = shown(
    "severity",
    _("The list says"),
    lambda entry: severity_mark(entry.severity) if entry.listed else gettext("nothing any more"),
)
ENTRY_STATE: Final = _STATES.column()
ENTRY_STEP: Final = shown("step", _("Change"), lambda entry: entry.get_step_display(), minor=True)
ENTRY_NOTE: Final = shown("note", _("Why"), lambda entry: shortened(entry.note, 200), minor=True)
ENTRY_COMMENT: Final = shown(
    "comment", _("Reason given by the list"), lambda entry: shortened(entry.comment, 200), minor=True
)
ENTRY_SINCE: Final = shown("created_at", _("On the list since"), order="id", minor=True)


@admin.register(BlocklistEntry)
class BlocklistEntryAdmin(PermittedAdmin):
    permission = Permission.MANAGE_FEDERATION
    list_display = (
        ENTRY_SERVER,
        ENTRY_STATE,
        ENTRY_SEVERITY,
        ENTRY_STEP,
        ENTRY_NOTE,
        ENTRY_COMMENT,
        ENTRY_LIST,
        ENTRY_SINCE,
    )
    list_filter = (_STATES.filter(), ("blocklist", RelatedDropdownFilter))
    list_filter_submit = True
    list_select_related = ("blocklist",)
    search_fields = ("domain",)
    search_help_text = _("Part of a domain")
    ordering = ("-id",)
    acts = (
        Act(
            "approve",
            _("Approve"),
            lambda by, entry: approve_entries(by=by, entries=BlocklistEntry.objects.filter(pk=entry.pk)),
            icon="check",
            variant=ActionVariant.PRIMARY,
            one=Words(_("Make the change requested by the list?"), _("The change is made.")),
            many=Words(
                _("Make the changes requested by the lists?"),
                ngettext_lazy("%(count)d change is made.", "%(count)d changes are made.", "count"),
            ),
            fits=lambda entry: entry.state in (EntryState.WAITING, EntryState.DISMISSED),
        ),
        Act(
            "dismiss",
            _("Dismiss"),
            lambda by, entry: dismiss_entries(by=by, entries=BlocklistEntry.objects.filter(pk=entry.pk)),
            icon="close",
            one=Words(_("Dismiss the change requested by the list?"), _("The change is dismissed.")),
            many=Words(
                _("Dismiss the changes requested by the lists?"),
                ngettext_lazy("%(count)d change is dismissed.", "%(count)d changes are dismissed.", "count"),
            ),
            fits=lambda entry: entry.state == EntryState.WAITING,
            audit=_("%(by)s dismissed a change to %(target)s requested by a list"),
        ),
    )
    fieldsets = (
        lines(
            None,
            ENTRY_SERVER,
            ENTRY_LIST,
            ENTRY_SEVERITY,
            shown("reject_media", _("The list rejects its files")),
            shown("reject_reports", _("The list rejects its reports")),
            ENTRY_COMMENT,
            ENTRY_STATE,
            ENTRY_STEP,
            ENTRY_NOTE,
            shown(
                "taken_severity", _("Severity adopted from this list"), lambda entry: entry.get_taken_severity_display()
            ),
            ENTRY_SINCE,
            shown("changed_at", _("Last changed")),
        ),
    )

    def waiting(self) -> QuerySet[BlocklistEntry]:
        return list_waiting()


class BlocklistExceptionForm(ServerForm):
    class Meta:
        model = BlocklistException
        fields = ("domain", "comment")
        labels: ClassVar[dict[str, Any]] = {"domain": _("Server"), "comment": _("Note for colleagues")}
        widgets: ClassVar[dict[str, Any]] = {
            "domain": forms.TextInput({"dir": "ltr"}),
            "comment": forms.Textarea({"rows": 2, "dir": "auto", "maxlength": MESSAGE_LIMIT}),
        }
        error_messages: ClassVar[dict[str, Any]] = {"domain": {"unique": _("It is an exception already.")}}


@admin.register(BlocklistException)
class BlocklistExceptionAdmin(AddedOnlyAdmin):
    permission = Permission.MANAGE_FEDERATION
    form = BlocklistExceptionForm
    writes = Writes(
        create=lambda by, row, form: add_exception(by=by, domain=row.domain, comment=form.cleaned_data["comment"]),
        remove=lambda by, row: remove_exception(by=by, exception=row),
    )
    list_display = (
        shown("domain", _("Server"), lambda row: address(unambiguous_domain(row.domain)), order="domain"),
        shown("comment", _("Note for colleagues"), lambda row: shortened(row.comment, 120), minor=True),
        shown("created_at", _("Since"), order="id"),
    )
    search_fields = ("domain",)
    search_help_text = _("Part of a domain")
    ordering = ("domain",)
