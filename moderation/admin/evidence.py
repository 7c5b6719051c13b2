"""Admin pages of evidence exports about an account."""

from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.admin.accounts import account_column
from accounts.admin.acting import acting
from accounts.admin.permitted import PermittedAdmin
from accounts.models.user import Permission
from moderation.models import EvidenceFile, EvidenceState
from moderation.services.evidence_files import find_evidence_file
from social.api.staff_columns import CREATION, lines, mark, shown
from social.kernel.errors import Forbidden, NotFound


def _evidence_state(row: EvidenceFile) -> Any:
    kinds = {EvidenceState.READY: "good", EvidenceState.FAILED: "bad"}
    return mark(row.get_state_display(), kinds.get(EvidenceState(row.state), "waiting"))


def _fetching(row: EvidenceFile) -> Any:
    if row.state != EvidenceState.READY:
        return row.error or None
    address = reverse("admin:moderation_evidencefile_fetch", args=[row.pk])
    return format_html('<a href="{}">{}</a>', address, gettext("Download"))


EVIDENCE_ACCOUNT = account_column("account", _("About"))
EVIDENCE_STATE = shown("state", _("State"), _evidence_state)
EVIDENCE_FILE = shown("file", _("File"), _fetching)
EVIDENCE_AUTHOR = shown("author_name", _("Requested by"), minor=True)
EVIDENCE_END = shown("expires_at", _("Kept until"), minor=True)


@admin.register(EvidenceFile)
class EvidenceFileAdmin(PermittedAdmin):
    """Evidence files, each kept for a week after it was written. Each download is logged in the audit log."""

    permission = Permission.DELETE_USER_DATA
    list_display = (EVIDENCE_ACCOUNT, EVIDENCE_STATE, EVIDENCE_FILE, EVIDENCE_AUTHOR, CREATION, EVIDENCE_END)
    # The first column is a link to the account itself.
    list_display_links = (EVIDENCE_STATE,)
    list_select_related = ("account",)
    fieldsets: ClassVar[Any] = (
        lines(
            None,
            EVIDENCE_ACCOUNT,
            EVIDENCE_STATE,
            EVIDENCE_FILE,
            shown("reason", _("Reason")),
            shown("sha256", "SHA-256"),
            shown("size", _("Bytes")),
            shown("posts", _("Posts")),
            EVIDENCE_AUTHOR,
            CREATION,
            EVIDENCE_END,
        ),
    )

    def get_custom_urls(self) -> Any:
        return (("<int:file_id>/fetch/", "moderation_evidencefile_fetch", self._fetch),)

    def _fetch(self, request: HttpRequest, *, file_id: int, **_rest: Any) -> HttpResponseBase:
        row = self.get_object(request, str(file_id))
        if not self.has_view_permission(request):
            raise PermissionDenied
        if row is None:
            raise Http404
        try:
            path = find_evidence_file(by=acting(request), row=row)
        except Forbidden:
            raise PermissionDenied from None
        except NotFound:
            raise Http404 from None
        name = f"evidence-{row.account.acct}-{row.created_at:%Y%m%d}.zip"
        return FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type="application/zip")
