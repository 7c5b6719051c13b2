"""Files that the scanner refused, for staff; and evidence about an account, into a file."""

from __future__ import annotations

import tempfile
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.admin.accounts import AccountAdmin, account_link
from accounts.admin.permitted import PermittedAdmin
from accounts.admin.users import acting
from accounts.models import QuarantineDecision, QuarantinedFile
from accounts.models.user import Permission
from accounts.services.quarantine import destroy_file, release_file
from moderation.services.evidence import REASON_LIMIT, export_evidence
from social.api.staff import action
from social.api.staff_columns import ConditionFilter, address, lines, mark, shown
from social.api.staff_forms import StaffForm
from social.kernel.errors import KernelError


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
    """Files in quarantine: what is known of them, not what they show. A decision holds for every file with the digest."""

    permission = Permission.MANAGE_REPORTS
    list_display = (FILE_DIGEST, FILE_STATE, FILE_ACCOUNT, FILE_SOURCE, FILE_REASON, FILE_TIME)
    list_filter = (DecisionFilter,)
    list_select_related = ("account",)
    search_fields = ("sha256__startswith",)
    search_help_text = gettext_lazy("The beginning of a SHA-256")
    ordering = ("-id",)
    actions = ("release", "destroy")
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
        """The digest and who has sent it."""
        sender = f"@{row.account.acct}" if row.account else row.url[:80]
        return f"{row.sha256[:16]} {sender}".strip()

    def waiting(self) -> QuerySet[QuarantinedFile]:
        """The files that nobody has decided about."""
        return QuarantinedFile.objects.filter(decision=QuarantineDecision.WAITING)

    @admin.action(description=gettext_lazy("Release: they may be shown"), permissions=["manage"])
    def release(self, request: HttpRequest, queryset: QuerySet[QuarantinedFile]) -> TemplateResponse | None:
        """Release."""
        by = acting(request)
        return self.each(
            request,
            queryset,
            lambda file: release_file(by=by, file=file),
            verb="release",
            done=lambda count: ngettext("%(count)d file was released.", "%(count)d files were released.", count),
            question=gettext_lazy("Release these files? Everybody may see them then."),
        )

    @admin.action(description=gettext_lazy("Destroy"), permissions=["manage"])
    def destroy(self, request: HttpRequest, queryset: QuerySet[QuarantinedFile]) -> TemplateResponse | None:
        """Destroy."""
        by = acting(request)
        return self.each(
            request,
            queryset,
            lambda file: destroy_file(by=by, file=file),
            verb="destroy",
            done=lambda count: ngettext("%(count)d file was destroyed.", "%(count)d files were destroyed.", count),
            question=gettext_lazy("Destroy these files? Their digests stay known. This cannot be undone."),
        )


class EvidenceForm(StaffForm):
    """The reason of an export."""

    reason = forms.CharField(
        label=gettext_lazy("Who asks for it and why (stands in the audit log)"),
        max_length=REASON_LIMIT,
        widget=forms.Textarea({"rows": 3, "dir": "auto"}),
    )


class EvidenceAction(AccountAdmin):
    """The export of evidence, from the page of an account."""

    @action(description=gettext_lazy("Export evidence"), icon="folder_zip", permissions=["erase"])
    def evidence(self, request: HttpRequest, object_id: Any) -> HttpResponseBase:
        """Ask why, then hand over the file."""
        answers = self._answers(request, EvidenceForm)
        account = self.get_object(request, str(object_id))
        if account is None or not answers.is_valid():
            return self.one(
                request,
                object_id,
                lambda _account, _sent: None,
                verb="export",
                done="",
                question=gettext_lazy("Export what is known of this account, for a court or an authority?"),
                form=EvidenceForm,
            )
        file = tempfile.TemporaryFile(dir=str(settings.DATA_DIR))  # noqa: SIM115 (the answer closes it)
        try:
            export_evidence(by=acting(request), account=account, reason=answers.cleaned_data["reason"], to=file)
        except KernelError as error:
            file.close()
            self.message_user(request, f"@{account.acct}: {error.message}", messages.ERROR)
            return redirect(reverse("admin:accounts_account_change", args=[account.pk]))
        except BaseException:
            file.close()
            raise
        self.log_change(request, account, _("Exported evidence"))
        file.seek(0)
        name = f"evidence-{account.acct}.zip"
        return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")
