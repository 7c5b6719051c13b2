"""How staff see appeals and decide on them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.admin.accounts import account_link
from accounts.admin.permitted import PermittedAdmin
from accounts.admin.users import acting
from accounts.models.user import Permission
from moderation.models import Appeal
from moderation.services.appeals import accept_appeal, reject_appeal
from social.api.staff_columns import ConditionFilter, lines, link, mark, shortened, shown


class StateFilter(ConditionFilter):
    """Waiting, accepted or rejected."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "waiting": (gettext_lazy("Waiting"), Q(approved_at=None, rejected_at=None)),
        "accepted": (gettext_lazy("Accepted"), Q(approved_at__isnull=False)),
        "rejected": (gettext_lazy("Rejected"), Q(rejected_at__isnull=False)),
    }


def _state(appeal: Appeal) -> Any:
    words = {"approved": (_("Accepted"), "good"), "rejected": (_("Rejected"), "bad")}
    return mark(*words.get(appeal.state, (_("Waiting"), "waiting")))


def _strike(appeal: Appeal) -> Any:
    return link(reverse("admin:moderation_strike_change", args=[appeal.strike_id]), appeal.strike.get_action_display())


ACCOUNT = shown("account", gettext_lazy("Account"), lambda appeal: account_link(appeal.account))
STRIKE = shown("strike", gettext_lazy("Against"), _strike)
TEXT = shown("text", gettext_lazy("Text"), lambda appeal: shortened(appeal.text, 120), minor=True)
STATE = shown("state", gettext_lazy("State"), _state)
SINCE = shown("created_at", gettext_lazy("Since"), order="id", minor=True)


@admin.register(Appeal)
class AppealAdmin(PermittedAdmin):
    """Appeals. Who decides must outrank whom it is about."""

    permission = Permission.MANAGE_APPEALS
    list_display = (ACCOUNT, STRIKE, TEXT, STATE, SINCE)
    list_filter = (StateFilter,)
    list_select_related = ("account", "strike")
    ordering = ("-id",)
    actions = ("accept", "reject")
    fieldsets = (
        lines(
            None,
            ACCOUNT,
            STRIKE,
            shown("reason", gettext_lazy("Text of the strike"), lambda appeal: appeal.strike.text),
            shown("text", gettext_lazy("Text")),
            STATE,
            SINCE,
            shown(
                "decided_by",
                gettext_lazy("Decided by"),
                lambda appeal: account_link(appeal.decided_by) if appeal.decided_by else None,
            ),
        ),
    )

    def name_of(self, row: Appeal) -> str:
        """Whose it is."""
        return f"@{row.account.acct}"

    @admin.action(description=gettext_lazy("Accept: what was done is taken back"), permissions=["manage"])
    def accept(self, request: HttpRequest, queryset: QuerySet[Appeal]) -> TemplateResponse | None:
        """Accept."""
        by = acting(request)
        return self.each(
            request,
            queryset,
            lambda appeal: accept_appeal(by=by, appeal=appeal),
            verb="accept",
            done=lambda count: ngettext("%(count)d appeal was accepted.", "%(count)d appeals were accepted.", count),
            question=gettext_lazy("Accept these appeals? What was done to the accounts is taken back."),
        )

    @admin.action(description=gettext_lazy("Reject: what was done stays"), permissions=["manage"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Appeal]) -> TemplateResponse | None:
        """Reject."""
        by = acting(request)
        return self.each(
            request,
            queryset,
            lambda appeal: reject_appeal(by=by, appeal=appeal),
            verb="reject",
            done=lambda count: ngettext("%(count)d appeal was rejected.", "%(count)d appeals were rejected.", count),
            question=gettext_lazy("Reject these appeals?"),
        )
