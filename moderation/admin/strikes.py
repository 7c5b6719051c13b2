"""How staff see strikes."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.urls import reverse
from django.utils.translation import gettext_lazy

from accounts.admin.accounts import account_link
from accounts.admin.permitted import PermittedAdmin
from accounts.models.user import Permission
from moderation.models import Strike
from social.api.staff_columns import lines, link, shortened, shown


def _report(strike: Strike) -> Any:
    if strike.report_id is None:
        return None
    return link(reverse("admin:moderation_report_change", args=[strike.report_id]), str(strike.report_id))


ACTION = shown("action", gettext_lazy("Action"), lambda strike: strike.get_action_display())
TARGET = shown("target_account", gettext_lazy("Account"), lambda strike: account_link(strike.target_account))
BY = shown("account", gettext_lazy("By"), lambda strike: account_link(strike.account) if strike.account else None)
TEXT = shown("text", gettext_lazy("Text"), lambda strike: shortened(strike.text, 80), minor=True)
SINCE = shown("created_at", gettext_lazy("Since"), order="id", minor=True)


@admin.register(Strike)
class StrikeAdmin(PermittedAdmin):
    """What staff have done to people."""

    permission = Permission.MANAGE_REPORTS
    list_display = (ACTION, TARGET, BY, TEXT, SINCE)
    list_select_related = ("account", "target_account")
    ordering = ("-id",)
    fieldsets = (
        lines(
            None,
            ACTION,
            TARGET,
            BY,
            shown("text", gettext_lazy("Text")),
            shown("report", gettext_lazy("Report"), _report),
            SINCE,
            shown("overruled_at", gettext_lazy("Taken back since")),
        ),
    )
