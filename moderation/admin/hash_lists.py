"""Admin pages of hash lists, which name files that this server refuses."""

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.text import slugify
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.admin.acting import acting
from accounts.admin.permitted import DraftForm, EditedAdmin, Writes
from accounts.copies.models import DISTANCE_LIMIT, HashKind, HashList
from accounts.copies.policies import HashListDraft, list_errors
from accounts.copies.queries import export_hashes, list_hash_lists
from accounts.copies.services import hash_lists
from accounts.models.user import Permission
from social.api.staff import action, takes
from social.api.staff_acts import BoundAct, Words, switches
from social.api.staff_columns import ENABLED_STATES, shortened, shown
from social.api.staff_forms import StaffForm
from social.kernel.errors import FieldError

# Maximum size of a file of hashes, because one request processes the file, and each perceptual hash takes about a millisecond.
FILE_BYTES: Final = 1024 * 1024
# Forms up to this size are read to the end even if their file is too large, so that the form can show the error.
FORM_BYTES: Final = 8 * 1024 * 1024


class HashListForm(DraftForm):
    """Form for a hash list; the policy validates its values."""

    class Meta:
        model = HashList
        fields = ("name", "kind", "act", "distance", "source", "note")
        labels: ClassVar[dict[str, Any]] = {
            "name": _("Name"),
            "kind": _("Kind of hashes"),
            "act": _("What it does"),
            "distance": _("Distance"),
            "source": _("Where it comes from"),
            "note": _("Note"),
        }
        help_texts: ClassVar[dict[str, Any]] = {
            "name": _("Only for staff: people whose files are refused do not see it. It cannot be changed later."),
            "distance": _(
                "PDQ only: how many of the 256 bits may differ. With 31, copies that were scaled or encoded again are found."
            ),
        }
        widgets: ClassVar[dict[str, Any]] = {
            "name": forms.TextInput({"dir": "auto"}),
            "source": forms.TextInput({"dir": "auto"}),
            "note": forms.Textarea({"rows": 3, "dir": "auto"}),
            "distance": forms.NumberInput({"min": 0, "max": DISTANCE_LIMIT}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("name", "kind"):
            self.fields[name].disabled = self.instance.pk is not None

    @property
    def draft(self) -> HashListDraft:
        return HashListDraft(**{name: self.cleaned_data[name] for name in self.Meta.fields})

    def draft_errors(self) -> list[FieldError]:
        return list_errors(self.draft)


class HashFileForm(StaffForm):
    file = forms.FileField(
        label=_("File"), help_text=_("Text or CSV: a hash of 64 hexadecimal digits at the beginning of each line.")
    )
    replace = forms.BooleanField(label=_("Replace the hashes that are on the list now"), required=False)

    def clean_file(self) -> Any:
        sent = self.cleaned_data["file"]
        if sent.size > FILE_BYTES:
            text = gettext("The file is larger than %(most)d kB. The operator can import it with %(command)s.")
            raise forms.ValidationError(text % {"most": FILE_BYTES // 1024, "command": "manage_hash_lists import"})
        return sent


@admin.register(HashList)
class HashListAdmin(EditedAdmin):
    """Hash lists. A new list is empty and disabled."""

    permission = Permission.MANAGE_BLOCKS
    form = HashListForm
    writes = Writes(
        create=lambda by, row, form: hash_lists.create_list(by=by, draft=form.draft),
        change=lambda by, row, form: hash_lists.change_list(by=by, hash_list=row, draft=form.draft),
        remove=lambda by, row: hash_lists.delete_list(by=by, hash_list=row),
    )
    list_display = (
        shown("name", _("List"), lambda hash_list: shortened(hash_list.name, 80), order="name"),
        ENABLED_STATES.column(),
        shown("kind", _("Kind of hashes"), lambda hash_list: hash_list.get_kind_display(), minor=True),
        shown("act", _("What it does"), lambda hash_list: hash_list.get_act_display(), minor=True),
        shown("size", _("Hashes"), order="size"),
        shown("matches", _("Refused files")),
    )
    list_filter = (ENABLED_STATES.filter(),)
    ordering = ("name",)
    actions_detail = ("import_hashes", "export_hashes")
    acts = switches(
        lambda by, hash_list, enabled: hash_lists.switch_list(by=by, hash_list=hash_list, enabled=enabled),
        on=(
            Words(
                _("Switch this list on? New files will be compared with it."),
                _("The list is on. Within seconds, new files are compared with it."),
            ),
            Words("", ngettext_lazy("%(count)d list is on.", "%(count)d lists are on.", "count")),
        ),
        off=(
            Words(
                _("Switch this list off?"),
                _("The list is off. Files that it put into quarantine are still waiting for your decision."),
            ),
            Words("", ngettext_lazy("%(count)d list is off.", "%(count)d lists are off.", "count")),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[HashList]:
        """Return the lists, each with the number of files that it has refused."""
        return list_hash_lists()

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return only the names of the lists. The hashes on the lists are deleted as well, but are too many to show."""
        return [self.name_of(row) for row in objs], {}, set(), []

    @takes(FORM_BYTES)
    @action(description=_("Import a file"), icon="upload", permissions=["manage"])
    def import_hashes(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        def read(hash_list: HashList, sent: dict[str, Any]) -> None:
            done = hash_lists.import_hashes(
                by=acting(request), hash_list=hash_list, file=sent["file"], replace=sent["replace"]
            )
            self.message_user(request, done.words, messages.WARNING if done.wrong else messages.SUCCESS)

        act = BoundAct(read, "import", _("The file was read."), _("Which file has the hashes?"), HashFileForm)
        return self.one(request, object_id, act)

    @action(description=_("Export"), icon="download", permissions=["manage"])
    def export_hashes(self, request: HttpRequest, object_id: Any) -> StreamingHttpResponse:
        hash_list = self.require_object(request, object_id)
        answer = StreamingHttpResponse(export_hashes(hash_list), content_type="text/csv; charset=utf-8")
        name = slugify(hash_list.name) or HashKind(hash_list.kind)
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
        return answer
