"""Custom emojis for staff: added one by one or in packs, changed, copied from other servers, exported as a pack."""

import zipfile
from collections import Counter
from collections.abc import Iterable
from io import BytesIO
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, ngettext_lazy

from accounts.admin.accounts import HomeFilter
from accounts.admin.acting import acting
from accounts.admin.permitted import EditedAdmin, RowForm, Writes
from accounts.emojis.models import CustomEmoji
from accounts.emojis.services import packs
from accounts.emojis.services.packs import change_emoji, copy_emoji
from accounts.models.user import Permission
from accounts.policies.staff import Staff
from accounts.serializers.account import emoji_urls
from social.api.staff import action, takes
from social.api.staff_acts import Act, Words
from social.api.staff_columns import States, address, shown
from social.api.staff_filters import text_filter
from social.api.staff_forms import StaffForm
from social.kernel.errors import Conflict, KernelError
from social.kernel.lengths import NAME_LIMIT

PACK_BYTES: Final = 32 * 1024 * 1024
REASONS_SHOWN: Final = 5


_STATES = States(
    shown=(gettext_lazy("In the picker"), "good", Q(disabled=False, visible_in_picker=True)),
    hidden=(gettext_lazy("Not in the picker"), "plain", Q(disabled=False, visible_in_picker=False)),
    disabled=(gettext_lazy("Disabled"), "bad", Q(disabled=True)),
)
CategoryFilter = text_filter(
    "category", gettext_lazy("category"), lambda rows, value: rows.filter(category__iexact=value)
)


class _CategoryForm(StaffForm):
    category = forms.CharField(label=gettext_lazy("Category"), required=False, max_length=NAME_LIMIT)


class EmojiForm(_CategoryForm):
    shortcode = forms.RegexField(
        r"^[a-zA-Z0-9_]{2,128}$",
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("Letters, digits and underscores, without colons"),
    )
    picture = forms.FileField(
        label=gettext_lazy("Picture"), help_text=gettext_lazy("PNG, GIF, WebP or JPEG, at most 256 kB")
    )
    field_order = ("shortcode", "picture", "category")

    def clean(self) -> dict[str, Any]:
        """Return the values; errors in the name or the picture are added to their fields."""
        sent: dict[str, Any] = super().clean() or {}
        shortcode, picture = sent.get("shortcode"), sent.get("picture")
        if shortcode and picture:
            if CustomEmoji.objects.filter(domain=None, shortcode=shortcode).exists():
                self.add_error("shortcode", capfirst(_("has already been taken")))
            elif reason := packs.refusal_of(shortcode, picture.read(packs.PICTURE_LIMIT + 1)):
                self.add_error("picture", capfirst(reason))
            picture.seek(0)
        return sent


class EmojiChangeForm(RowForm):
    """The fields of an emoji that can be changed; its name and picture cannot."""

    class Meta:
        model = CustomEmoji
        fields = ("category", "visible_in_picker", "disabled")
        labels = {
            "category": gettext_lazy("Category"),
            "visible_in_picker": gettext_lazy("In the picker"),
            "disabled": gettext_lazy("Disable: posts show its name instead"),
        }
        widgets = {"category": forms.TextInput({"dir": "auto"})}


class PackForm(_CategoryForm):
    """A pack of pictures, and the options for the emojis that are made from them."""

    pack = forms.FileField(
        label=gettext_lazy("Pack"),
        help_text=gettext_lazy("A zip or tar archive of pictures; each file is named after its shortcode"),
    )
    name_prefix = forms.CharField(label=gettext_lazy("Prefix for every name"), required=False, max_length=64)
    overwrite = forms.BooleanField(label=gettext_lazy("Replace emojis with the same name"), required=False)
    listed = forms.BooleanField(label=gettext_lazy("Show them in the picker"), required=False, initial=True)
    field_order = ("pack", "category", "name_prefix", "overwrite", "listed")


def _picture(emoji: CustomEmoji) -> Any:
    if not (emoji.image or emoji.remote_url):
        return None
    _url, still = emoji_urls(emoji)
    return format_html('<img src="{}" alt="" width="24" height="24" loading="lazy">', still) if still else None


SHORTCODE = shown("shortcode", gettext_lazy("Name"), lambda emoji: address(str(emoji)), order="shortcode")
PICTURE = shown("picture", gettext_lazy("Picture"), _picture)
SERVER = shown("domain", gettext_lazy("Server"), order="domain", minor=True)
CATEGORY = shown("category", gettext_lazy("Category"), order="category", minor=True)
STATE = _STATES.column()
CHANGED = shown("updated_at", gettext_lazy("Changed"), order="updated_at", minor=True)


_CHANGED = ngettext_lazy("%(count)d emoji was changed.", "%(count)d emojis were changed.", "count")


def _change_act(name: str, title: Any, verb: str, **values: Any) -> Act:
    return Act(
        name, title, lambda by, emoji: change_emoji(by=by, emoji=emoji, **values), many=Words("", _CHANGED), verb=verb
    )


def _save(by: Staff, emoji: CustomEmoji, form: Any) -> None:
    sent = form.cleaned_data
    change_emoji(
        by=by,
        emoji=emoji,
        disabled=sent["disabled"],
        listed=sent.get("visible_in_picker"),
        category=sent.get("category"),
    )


def _remove(by: Staff, emoji: CustomEmoji) -> None:
    if emoji.domain is not None:
        raise Conflict(_("This emoji belongs to another server: it can only be disabled."))
    packs.remove_local_emojis(by=by, emojis=[emoji])


@admin.register(CustomEmoji)
class CustomEmojiAdmin(EditedAdmin):
    """Local emojis, which can be changed and removed, and remote ones, which can only be disabled or copied."""

    permission = Permission.MANAGE_CUSTOM_EMOJIS
    list_display = (SHORTCODE, PICTURE, SERVER, CATEGORY, STATE, CHANGED)
    list_filter = (HomeFilter, _STATES.filter(), CategoryFilter)
    search_fields = ("shortcode",)
    search_help_text = gettext_lazy("Part of a name, or of a server's name")
    ordering = ("-domain", "shortcode")
    acts = (
        _change_act("enable", gettext_lazy("Enable"), "enable", disabled=False),
        _change_act("disable", gettext_lazy("Disable: posts show its name instead"), "disable", disabled=True),
        _change_act("list_in_picker", gettext_lazy("Show in the picker"), "list", listed=True),
        _change_act("hide", gettext_lazy("Hide from the picker"), "unlist", listed=False),
        Act(
            "set_category",
            gettext_lazy("Set the category"),
            lambda by, emoji, sent: change_emoji(by=by, emoji=emoji, category=sent["category"]),
            many=Words(gettext_lazy("Which category should these emojis be in?"), _CHANGED),
            form=_CategoryForm,
        ),
        Act(
            "copy",
            gettext_lazy("Copy to this server"),
            lambda by, emoji: copy_emoji(by=by, emoji=emoji),
            many=Words("", ngettext_lazy("%(count)d emoji was copied.", "%(count)d emojis were copied.", "count")),
        ),
        Act(
            "remove",
            gettext_lazy("Remove"),
            _remove,
            many=Words(
                gettext_lazy("Remove these emojis? Posts will show their names instead."),
                ngettext_lazy("%(count)d emoji was removed.", "%(count)d emojis were removed.", "count"),
            ),
        ),
    )
    actions_list = ("import_pack", "export_pack")
    form = EmojiChangeForm
    # There is no `create`, because `add_view` creates emojis.
    writes = Writes(change=_save, remove=lambda by, row: packs.remove_local_emojis(by=by, emojis=[row]))
    fieldsets: ClassVar[Any] = (
        (None, {"fields": (SHORTCODE, PICTURE, SERVER, CHANGED, "category", "visible_in_picker", "disabled")}),
    )
    readonly_fields: ClassVar[Any] = (SHORTCODE, PICTURE, SERVER, CHANGED)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Return the read-only fields, among them a remote emoji's category and its visibility in pickers."""
        fields = super().get_readonly_fields(request, obj)
        return fields if obj is None or obj.domain is None else [*fields, "category", "visible_in_picker"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.is_permitted(request) and (obj is None or obj.domain is None)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.is_permitted(request)

    def find_rows(self, rows: QuerySet[CustomEmoji], term: str) -> QuerySet[CustomEmoji]:
        """Find emojis whose name, or whose server's name, contains the term."""
        name = term.strip(":")
        return rows.filter(Q(shortcode__icontains=name) | Q(domain__icontains=name))

    def name_of(self, row: CustomEmoji) -> str:
        return str(row) if row.domain is None else f"{row} ({row.domain})"

    @takes(PACK_BYTES)
    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Add one emoji from a form. Raises PermissionDenied."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        sent = self.ask_for(request, EmojiForm, gettext_lazy("Add an emoji"))
        if isinstance(sent, TemplateResponse):
            return sent
        picture = sent["picture"]
        suffix = picture.name.rpartition(".")[2].lower()
        files = [(f"{sent['shortcode']}.{suffix}", picture.read(packs.PICTURE_LIMIT + 1))]
        return self._import(request, files, packs.Terms(category=sent["category"]))

    @takes(PACK_BYTES)
    @action(description=gettext_lazy("Import a pack"), icon="unarchive", permissions=["manage"])
    def import_pack(self, request: HttpRequest) -> HttpResponse:
        sent = self.ask_for(request, PackForm, gettext_lazy("Import a pack of emojis"))
        if isinstance(sent, TemplateResponse):
            return sent
        terms = packs.Terms(sent["category"], sent["name_prefix"], "", sent["overwrite"], sent["listed"])
        return self._import(request, packs.read_archive(sent["pack"].read()), terms)

    @action(description=gettext_lazy("Export all"), icon="archive", permissions=["manage"])
    def export_pack(self, request: HttpRequest) -> HttpResponse:
        archive = BytesIO()
        with zipfile.ZipFile(archive, "w") as pack:
            for name, data in packs.export_emojis():
                pack.writestr(name, data)
        answer = HttpResponse(archive.getvalue(), content_type="application/zip")
        answer.headers["Content-Disposition"] = 'attachment; filename="emojis.zip"'
        return answer

    def _import(self, request: HttpRequest, files: Iterable[tuple[str, bytes]], terms: packs.Terms) -> HttpResponse:
        counts: Counter[str] = Counter()
        reasons = []
        try:
            for outcome in packs.import_emojis(by=acting(request), files=files, terms=terms):
                counts[outcome.result] += 1
                if outcome.reason:
                    reasons.append(f"{outcome.name}: {outcome.reason}")
        except KernelError as error:
            reasons.append(error.message)
        done = counts["added"] + counts["replaced"]
        text = ngettext("%(count)d emoji was imported.", "%(count)d emojis were imported.", done) % {"count": done}
        self.message_user(request, text, messages.SUCCESS if done else messages.WARNING)
        if counts["known"]:
            known = ngettext("%(count)d existed already.", "%(count)d existed already.", counts["known"])
            self.message_user(request, known % {"count": counts["known"]}, messages.INFO)
        for reason in reasons[:REASONS_SHOWN]:
            self.message_user(request, reason, messages.ERROR)
        if len(reasons) > REASONS_SHOWN:
            others = _("and %(count)d more") % {"count": len(reasons) - REASONS_SHOWN}
            self.message_user(request, others, messages.ERROR)
        return redirect(reverse("admin:accounts_customemoji_changelist"))
