"""Block lists in the admin. Services add and remove the rows, one or several at a time."""

from collections import Counter
from functools import partial
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from accounts.admin.acting import acting
from accounts.admin.permitted import EditedAdmin
from accounts.queries.servers import FollowsUnder
from accounts.services.block_files import BlockFile, Entry, Planned, export_file, import_file, plan_file, read_file
from social.api.staff import action, takes
from social.api.staff_acts import BoundAct
from social.api.staff_columns import address, mark, shortened, table
from social.api.staff_forms import StaffForm
from social.kernel.errors import KernelError
from social.kernel.text.names import unambiguous_domain


class BlockListAdmin(EditedAdmin):
    """Base of the admin pages of block lists, whose rows are removed by a service."""

    actions = ("remove",)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return only the names of the rows; their counters are deleted as well, but need not be listed."""
        return [self.name_of(row) for row in objs], {}, set(), []

    @admin.action(description=gettext_lazy("Remove"), permissions=["manage"])
    def remove(self, request: HttpRequest, queryset: QuerySet[Any]) -> TemplateResponse | None:
        done = ngettext_lazy("%(count)d entry was removed.", "%(count)d entries were removed.", "count")
        act = BoundAct(partial(self.delete_model, request), "remove", done, gettext_lazy("Remove these entries?"))
        return self.each(request, queryset, act)


class AddedOnly:
    """Mixin for rows that cannot be changed, only added and removed; it must precede the admin class among the bases."""

    form: Any
    list_display: Any

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fields of the form for a new row, and the columns of the list for an existing one."""
        return list(self.form.Meta.fields if obj is None else self.list_display)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [] if obj is None else self.get_fields(request, obj)


class AddedOnlyAdmin(AddedOnly, BlockListAdmin):
    """A block list whose rows cannot be changed."""


# Maximum number of lines in a file; a file is imported in one request, after somebody has read the preview.
LINES_LIMIT: Final = 1000
FILE_BYTES: Final = 512 * 1024
# Forms up to this size are read to the end even if their file is too large, so that the form can show the error.
FORM_BYTES: Final = 8 * 1024 * 1024
LINES_SHOWN: Final = 200
NAMES_SHOWN: Final = 3
REASONS_SHOWN: Final = 5
_ACTIONS: Final = {
    "add": (gettext_lazy("new"), "good"),
    "change": (gettext_lazy("changed"), "waiting"),
    "keep": (gettext_lazy("unchanged"), "plain"),
    "refuse": (gettext_lazy("refused"), "bad"),
}
# Planned actions in the order in which the preview lists them: lines that need attention come first.
_PLACES: Final = ("refuse", "change", "add", "keep")


class BlocksFileForm(StaffForm):
    kind: ClassVar[BlockFile[Any]]

    file = forms.FileField(label=gettext_lazy("File"))
    replace = forms.BooleanField(
        label=gettext_lazy("Where a block exists already, use the one in the file"), required=False
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        columns = ", ".join(self.kind.columns)
        self.fields["file"].help_text = _("CSV with the columns %(columns)s. Only the first one is needed.") % {
            "columns": columns
        }
        if not self.kind.changes:
            del self.fields["replace"]

    def clean_file(self) -> tuple[str, list[Entry[Any]]]:
        """Return the text of the file and its entries. Raises ValidationError if the file cannot be read or is too long."""
        sent = self.cleaned_data["file"]
        if sent.size > FILE_BYTES:
            text = _("The file is larger than %(most)d kB. The operator can import it with %(command)s.")
            raise forms.ValidationError(text % {"most": FILE_BYTES // 1024, "command": self.kind.command})
        data: bytes = sent.read()
        try:
            entries = read_file(self.kind, data, most=LINES_LIMIT)
        except KernelError as error:
            raise forms.ValidationError(error.message) from error
        return data.decode("utf-8-sig"), entries


class FiledBlockListAdmin(BlockListAdmin):
    """A block list that can be exported and imported as a file."""

    actions_list = ("import_file", "export_file")

    kind_of_file: ClassVar[type[BlockFile[Any]]]

    def kind(self, request: HttpRequest) -> BlockFile[Any]:
        return self.kind_of_file()

    @takes(FORM_BYTES)
    @action(description=gettext_lazy("Import a file"), icon="upload", permissions=["manage"])
    def import_file(self, request: HttpRequest) -> HttpResponse:
        """Ask for a file, show a preview of its changes, and apply them once they are confirmed."""
        kind = self.kind(request)
        if request.method == "POST" and "lines" in request.POST:
            return self._import_confirmed(request, kind)
        form = type("FileForm", (BlocksFileForm,), {"kind": kind})
        sent = self.ask_for(request, form, gettext_lazy("Import a file"), yes=_("Preview"))
        if isinstance(sent, TemplateResponse):
            return sent
        text, entries = sent["file"]
        return self._show(request, kind, text, entries, replace=sent.get("replace", False))

    @action(description=gettext_lazy("Export all"), icon="download", permissions=["manage"])
    def export_file(self, request: HttpRequest) -> StreamingHttpResponse:
        kind = self.kind(request)
        answer = StreamingHttpResponse(export_file(kind), content_type="text/csv; charset=utf-8")
        answer.headers["Content-Disposition"] = f'attachment; filename="{kind.filename}"'
        return answer

    def _show(
        self, request: HttpRequest, kind: BlockFile[Any], text: str, entries: list[Entry[Any]], *, replace: bool
    ) -> TemplateResponse:
        planned = plan_file(kind, entries, replace=replace)
        counts = Counter(plan.action for plan in planned)
        ending = sum(plan.follows.from_here + plan.follows.to_here for plan in planned if plan.follows is not None)
        planned.sort(key=lambda plan: (plan.follows is None, _PLACES.index(plan.action)))
        headers = [_("Line"), kind.name_title, _("What happens"), _("Details")]
        ends = [_("Follows that would end")] if ending else []
        context = {
            "title": _("Preview"),
            "counts": _counts_as_text(counts),
            "ending": ending,
            "does": counts["add"] + counts["change"],
            "lines": table([*headers, *ends], [_row(kind, plan)[: 4 + len(ends)] for plan in planned[:LINES_SHOWN]]),
            "more": max(0, len(planned) - LINES_SHOWN),
            "text": text,
            "replace": replace,
            "back": request.path,
        }
        return self.page(request, "admin/blocks_file.html", **context)

    def _import_confirmed(self, request: HttpRequest, kind: BlockFile[Any]) -> HttpResponse:
        options = self.model._meta
        counts: Counter[str] = Counter()
        reasons = []
        try:
            entries = read_file(kind, request.POST["lines"], most=LINES_LIMIT)
            planned = plan_file(kind, entries, replace=kind.changes and "replace" in request.POST)
            for done in import_file(kind, by=acting(request), planned=planned):
                counts[done.action] += 1
                if done.action == "refuse":
                    reasons.append(_("Line %(line)d: %(reason)s") % {"line": done.entry.line, "reason": done.reason})
        except KernelError as error:
            self.message_user(request, error.message, messages.ERROR)
            return redirect(request.path)
        self.message_user(
            request, _counts_as_text(counts), messages.SUCCESS if len(reasons) < len(planned) else messages.WARNING
        )
        for reason in reasons[:REASONS_SHOWN]:
            self.message_user(request, reason, messages.WARNING)
        return redirect(reverse(f"admin:{options.app_label}_{options.model_name}_changelist"))


def _counts_as_text(counts: Counter[Any]) -> str:
    return _("%(added)d new, %(changed)d changed, %(kept)d unchanged, %(refused)d refused") % {
        "added": counts["add"],
        "changed": counts["change"],
        "kept": counts["keep"],
        "refused": counts["refuse"],
    }


def _row(kind: BlockFile[Any], plan: Planned[Any]) -> list[Any]:
    entry = plan.entry
    name, details = entry.name[:253], plan.reason
    if not entry.problem:
        name = unambiguous_domain(entry.name)
        details = " · ".join(part for part in (kind.details(entry.draft), plan.reason) if part)
    ends = ending(plan.follows) if plan.follows is not None else ""
    return [entry.line, address(name), mark(*_ACTIONS[plan.action]), shortened(details, 300), ends]


def ending(follows: FollowsUnder) -> str:
    """Return the names of some of the follows that would end, and the number of the others."""
    count = follows.from_here + follows.to_here
    # The names are marked as left-to-right text (U+2066, U+2069; UAX 9), because the error around them may be in any script.
    examples = [f"\u2066{follower} → {followed}\u2069" for follower, followed in follows.named[:NAMES_SHOWN]]
    if count > len(examples):
        examples.append(_("and %(count)d more") % {"count": count - len(examples)})
    return ", ".join(examples)
