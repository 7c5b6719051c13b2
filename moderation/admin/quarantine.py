"""Files that the scanner refused, for staff."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy, ngettext_lazy

from accounts.admin.accounts import account_link
from accounts.admin.permitted import PermittedAdmin
from accounts.copies.models import QuarantineDecision, QuarantinedFile
from accounts.copies.services.quarantine import destroy_file, release_file
from accounts.models.user import Permission
from social.api.staff_acts import Act, Words
from social.api.staff_columns import ConditionFilter, address, lines, mark, shown


class DecisionFilter(ConditionFilter):
    """Filter by what staff have decided."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "waiting": (gettext_lazy("Waiting"), Q(decision=QuarantineDecision.WAITING)),
        "released": (gettext_lazy("Released"), Q(decision=QuarantineDecision.RELEASED)),
        "destroyed": (gettext_lazy("Destroyed"), Q(decision=QuarantineDecision.DESTROYED)),
    }


_KINDS = {QuarantineDecision.RELEASED: "good", QuarantineDecision.DESTROYED: "bad"}

FILE_DIGEST = shown("sha256", "SHA-256", lambda file: address(file.sha256[:16]))
FILE_STATE = shown(
    "decision",
    gettext_lazy("State"),
    lambda file: mark(file.get_decision_display(), _KINDS.get(file.decision, "waiting")),
)
FILE_SOURCE = shown("source", gettext_lazy("Came as"), lambda file: file.get_source_display(), minor=True)
FILE_ACCOUNT = shown(
    "account", gettext_lazy("Account"), lambda file: account_link(file.account) if file.account else None
)
FILE_REASON = shown("reason", gettext_lazy("What the scanner says"), minor=True)
FILE_TIME = shown("created_at", gettext_lazy("Since"), order="id", minor=True)


@admin.register(QuarantinedFile)
class QuarantineAdmin(PermittedAdmin):
    """Files in quarantine, with their metadata but not their contents. A decision applies to every file with the same
    digest.
    """

    permission = Permission.MANAGE_REPORTS
    list_display = (FILE_DIGEST, FILE_STATE, FILE_ACCOUNT, FILE_SOURCE, FILE_REASON, FILE_TIME)
    list_filter = (DecisionFilter,)
    list_select_related = ("account",)
    search_fields = ("sha256__startswith",)
    search_help_text = gettext_lazy("The beginning of a SHA-256")
    ordering = ("-id",)
    acts = (
        Act(
            "release",
            gettext_lazy("Release: they may be shown"),
            lambda by, file: release_file(by=by, file=file),
            many=Words(
                gettext_lazy("Release these files? Everybody may see them then."),
                ngettext_lazy("%(count)d file was released.", "%(count)d files were released.", "count"),
            ),
            audit=gettext_lazy("%(by)s released the file %(target)s"),
        ),
        Act(
            "destroy",
            gettext_lazy("Destroy"),
            lambda by, file: destroy_file(by=by, file=file),
            many=Words(
                gettext_lazy("Destroy these files? Their digests stay known. This cannot be undone."),
                ngettext_lazy("%(count)d file was destroyed.", "%(count)d files were destroyed.", "count"),
            ),
            audit=gettext_lazy("%(by)s destroyed the file %(target)s"),
        ),
    )
    fieldsets = (
        lines(
            None,
            shown("sha256", "SHA-256", lambda file: address(file.sha256)),
            FILE_STATE,
            FILE_ACCOUNT,
            FILE_SOURCE,
            shown("url", gettext_lazy("Address"), lambda file: address(file.url) if file.url else None),
            FILE_REASON,
            shown("content_type", gettext_lazy("Type")),
            shown("size", gettext_lazy("Bytes")),
            FILE_TIME,
            shown("decided_by", gettext_lazy("Decided by")),
            shown("decided_at", gettext_lazy("Decided at")),
        ),
    )

    def name_of(self, row: QuarantinedFile) -> str:
        """Return the digest and the sender of the file."""
        sender = f"@{row.account.acct}" if row.account else row.url[:80]
        return f"{row.sha256[:16]} {sender}".strip()

    def waiting(self) -> QuerySet[QuarantinedFile]:
        """Return the files without a decision."""
        return QuarantinedFile.objects.filter(decision=QuarantineDecision.WAITING)
