"""Admin page of the audit log."""

import json
from typing import Any

from django.contrib import admin
from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.db.models.functions import Concat
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from accounts.admin.permitted import PermittedAdmin
from accounts.models import AuditEntry
from accounts.models.user import Permission
from accounts.policies.staff import OPERATOR
from accounts.queries.users import list_actors
from moderation.admin.audit_sentences import KINDS, PEOPLE, sentence, sentences
from moderation.models import Report
from social.api.staff_columns import condition_filter, lines, shown
from social.api.staff_filters import RangeDateTimeFilter, dropdown_filter

WhoFilter = condition_filter(
    "by", _("by"), staff=(_("Staff"), Q(account_id__isnull=False)), operator=(_("The operator"), Q(account_id=None))
)


# The actions for which the audit log has a sentence.
ActionFilter = dropdown_filter(
    "action",
    _("action"),
    lambda: [(name, name.replace("_", " ")) for name in sorted({action for action, _kind in sentences()})],
    lambda rows, value: rows.filter(action=value),
)
KindFilter = dropdown_filter(
    "kind",
    _("kind"),
    lambda: [("people", _("People")), *sorted(KINDS.items(), key=lambda kind: str(kind[1]))],
    lambda rows, value: rows.filter(target_type__one_of=list(PEOPLE) if value == "people" else [value]),
)


def _concatenated(*parts: Any) -> Concat:
    return Concat(*parts, output_field=TextField())


def _details(entry: AuditEntry) -> Any:
    if not entry.details:
        return None
    text = json.dumps(entry.details, indent=2, ensure_ascii=False, sort_keys=True)
    return format_html('<pre dir="ltr">{}</pre>', text)


SENTENCE = shown(
    "sentence",
    _("What was done"),
    lambda entry: format_html('<span class="words" dir="auto">{}</span>', sentence(entry)),
)
ENTRY_AUTHOR = shown("account_name", _("By"))
ENTRY_ACTION = shown("action", _("Action"))
ENTRY_TARGET_TYPE = shown("target_type", _("Kind"), minor=True)
ENTRY_TARGET = shown("target_name", _("What"), lambda entry: format_html("<bdi>{}</bdi>", entry.target_name))
ENTRY_TIME = shown("created_at", _("When"), order="id")


@admin.register(AuditEntry)
class AuditAdmin(PermittedAdmin):
    permission = Permission.VIEW_AUDIT_LOG
    list_display = (ENTRY_TIME, SENTENCE)
    list_display_links = (SENTENCE,)
    list_filter = (WhoFilter, ActionFilter, KindFilter, ("created_at", RangeDateTimeFilter))
    search_fields = ("target_name",)
    search_help_text = _("The person who did it, or to whom it was done: @anna")
    fieldsets = (
        lines(
            None,
            ENTRY_TIME,
            SENTENCE,
            ENTRY_AUTHOR,
            ENTRY_ACTION,
            ENTRY_TARGET,
            ENTRY_TARGET_TYPE,
            shown("target_id", _("Number")),
            shown("details", _("Before and after"), _details),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        """Return the entries; entries about reports are annotated with the address of the reported account."""
        rows: QuerySet[AuditEntry] = super().get_queryset(request)
        person = Case(
            When(target_account__domain=None, then=_concatenated(Value("@"), "target_account__username")),
            default=_concatenated(Value("@"), "target_account__username", Value("@"), "target_account__domain"),
        )
        reports = Report.objects.filter(pk=OuterRef("target_id")).annotate(person=person)
        return rows.annotate(about=Subquery(reports.values("person")[:1]))

    def find_rows(self, rows: QuerySet[AuditEntry], term: str) -> QuerySet[AuditEntry]:
        """Find entries by the whole name of the actor or target, with or without `@`, because a search for parts of names would
        scan the whole table. Actors are searched for by id, because a condition on their names would scan the whole table as
        well.
        """
        names = {term.lower(), f"@{term.lower()}"}
        matches = Q(target_name__iexact=term) | Q(target_name__iexact=f"@{term}")
        if OPERATOR.name in names:
            matches |= Q(account_id=None)
        return rows.filter(matches | Q(account_id__one_of=[by for by, name in list_actors() if name.lower() in names]))
