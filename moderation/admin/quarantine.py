"""Admin pages of the files that the scanner or a hash list refused."""

from django.contrib import admin
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accounts.admin.accounts import account_column
from accounts.admin.permitted import PermittedAdmin
from accounts.copies.models import QuarantineDecision, QuarantinedFile
from accounts.copies.queries import listed_words
from accounts.copies.services.quarantine import destroy_file, release_file
from accounts.models.user import Permission
from social.api.staff_acts import Act, Words
from social.api.staff_columns import CREATION, States, address, condition_filter, lines, shown

_STATES = States(
    waiting=(_("Waiting"), "waiting", Q(decision=QuarantineDecision.WAITING)),
    released=(_("Released"), "good", Q(decision=QuarantineDecision.RELEASED)),
    destroyed=(_("Destroyed"), "bad", Q(decision=QuarantineDecision.DESTROYED)),
    refused=(_("Refused, not kept"), "plain", Q(decision=QuarantineDecision.REFUSED)),
)
RefusedByFilter = condition_filter(
    "by", _("refused by"), lists=(_("A hash list"), ~Q(list_name="")), scanner=(_("The scanner"), Q(list_name=""))
)


FILE_DIGEST = shown("sha256", "SHA-256", lambda file: address(file.sha256[:16]))
FILE_STATE = _STATES.column("decision")
FILE_SOURCE = shown("source", _("Source"), lambda file: file.get_source_display(), minor=True)
FILE_ACCOUNT = account_column("account", _("Account"))
FILE_REASON = shown(
    "reason",
    _("Why"),
    lambda file: listed_words(file.list_name, file.distance) if file.list_name else file.reason,
    minor=True,
)


@admin.register(QuarantinedFile)
class QuarantineAdmin(PermittedAdmin):
    """Files in quarantine; their contents are not shown. A decision applies to every file with the same digest."""

    permission = Permission.MANAGE_REPORTS
    person_column = "account_id"
    waits = Q(decision=QuarantineDecision.WAITING)
    list_display = (FILE_DIGEST, FILE_STATE, FILE_ACCOUNT, FILE_SOURCE, FILE_REASON, CREATION)
    list_filter = (_STATES.filter(), RefusedByFilter)
    list_select_related = ("account",)
    search_fields = ("sha256__startswith",)
    search_help_text = _("The beginning of a SHA-256 digest")
    acts = (
        Act(
            "release",
            _("Release: show these files"),
            lambda by, file: release_file(by=by, file=file),
            many=Words(
                _("Release these files? Everybody will be able to see them."),
                ngettext_lazy("%(count)d file was released.", "%(count)d files were released.", "count"),
            ),
            audit=_("%(by)s released the file %(target)s"),
        ),
        Act(
            "destroy",
            _("Destroy"),
            lambda by, file: destroy_file(by=by, file=file),
            many=Words(
                _("Destroy these files? Their digests are kept, so that copies are recognised. This cannot be undone."),
                ngettext_lazy("%(count)d file was destroyed.", "%(count)d files were destroyed.", "count"),
            ),
            audit=_("%(by)s destroyed the file %(target)s"),
        ),
    )
    fieldsets = (
        lines(
            None,
            shown("sha256", "SHA-256", lambda file: address(file.sha256)),
            FILE_STATE,
            FILE_ACCOUNT,
            FILE_SOURCE,
            shown("url", _("Address"), lambda file: address(file.url) if file.url else None),
            FILE_REASON,
            shown("content_type", _("Type")),
            shown("size", _("Bytes")),
            CREATION,
            shown("decided_by", _("Decided by")),
            shown("decided_at", _("Decided at")),
        ),
    )

    def name_of(self, row: QuarantinedFile) -> str:
        sender = f"@{row.account.acct}" if row.account else row.url[:80]
        return f"{row.sha256[:16]} {sender}".strip()
