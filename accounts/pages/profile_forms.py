"""The forms of the profile and of a featured hashtag, whose values services validate."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Account, ActorType
from accounts.pages.forms import ServiceForm, check_field, text_field
from accounts.services.profile_pictures import PICTURE_SIZE_LIMIT, PictureUpload
from accounts.services.profiles import (
    DESCRIPTION_LIMIT,
    DISPLAY_NAME_LIMIT,
    FIELDS_LIMIT,
    NOTE_LIMIT,
    ProfileChange,
)
from social.api.parsers import MEBIBYTE
from social.kernel.text.names import is_hashtag
from social.kernel.text.scan import clean_input

PROFILE_MAX_BODY: Final = 4 * PICTURE_SIZE_LIMIT + MEBIBYTE
"""Maximum number of bytes of a request: pictures somewhat above their limit are still received, so that the error is
shown beside their field; far larger requests are refused unread.
"""
_PICTURES: Final = ("avatar", "header")


def _picture(label: Any, help_text: Any) -> forms.FileField:
    widget = forms.FileInput({"accept": "image/jpeg,image/png,image/gif,image/webp"})
    return forms.FileField(label=label, required=False, widget=widget, help_text=help_text, allow_empty_file=True)


class ProfileForm(ServiceForm):
    """The profile of an account. Only changed values are saved."""

    renamed = {
        **{f"{name}_{part}": name for name in _PICTURES for part in ("content_type", "file_size")},
        "fields": "field_name_1",
    }

    display_name = text_field(_("Display name"))
    note = text_field(_("Biography"), widget=forms.Textarea({"rows": 5, "dir": "auto"}))
    avatar = _picture(_("Picture"), _("JPEG, PNG, GIF or WebP, less than 8 MB. It is cut to a square of 400 pixels."))
    avatar_description = text_field(_("What the picture shows"), help_text=_("For people who cannot see it."))
    remove_avatar = check_field(_("Remove the picture"))
    header = _picture(_("Header"), _("JPEG, PNG, GIF or WebP, less than 8 MB. It is scaled to 1500 by 500 pixels."))
    header_description = text_field(_("What the header shows"), help_text=_("For people who cannot see it."))
    remove_header = check_field(_("Remove the header"))
    locked = check_field(_("Approve followers yourself"), _("Nobody can follow you until you accept their request."))
    discoverable = check_field(
        _("Be suggested to others"),
        _("Your profile may appear in the directory and in suggestions, here and on other servers."),
    )
    indexable = check_field(
        _("Let your public posts be found by search"), _("Anybody on any server can find them, not only you.")
    )
    hide_collections = check_field(_("Hide whom you follow and who follows you"))
    bot = check_field(_("This account is a bot"), _("The account mainly performs automated actions."))
    show_media = check_field(_("Show a section with pictures and videos"))
    show_media_replies = check_field(_("Include media from your replies"))
    show_featured = check_field(_("Show a section with your recommendations"))
    attribution_domains = text_field(
        _("Sites that may credit you as an author"),
        help_text=_("One domain per line, for example news.example. Links to articles there show your name."),
        widget=forms.Textarea({"rows": 3, "dir": "ltr", "spellcheck": "false", "autocapitalize": "none"}),
    )

    parts = {
        "identity": ("display_name", "note"),
        "pictures": (
            *("avatar", "avatar_description", "remove_avatar"),
            *("header", "header_description", "remove_header"),
        ),
        "pairs": tuple(f"field_{part}_{number + 1}" for number in range(FIELDS_LIMIT) for part in ("name", "value")),
        "reach": ("locked", "discoverable", "indexable", "hide_collections", "bot"),
        "sections": ("show_media", "show_media_replies", "show_featured"),
        "authorship": ("attribution_domains",),
    }

    def __init__(self, account: Account, data: Any = None, files: Any = None) -> None:
        self.account = account
        super().__init__(data, files, initial=_profile_values(account))
        for number in range(1, FIELDS_LIMIT + 1):
            self.fields[f"field_name_{number}"] = text_field(_("Label %(number)d") % {"number": number})
            self.fields[f"field_value_{number}"] = text_field(_("Content %(number)d") % {"number": number})
        self.fields["display_name"].help_text = gettext("At most %(limit)d characters.") % {"limit": DISPLAY_NAME_LIMIT}
        self.fields["note"].help_text = gettext("At most %(limit)d characters. A link counts as 23.") % {
            "limit": NOTE_LIMIT
        }
        for name in _PICTURES:
            self.fields[f"{name}_description"].widget.attrs["maxlength"] = DESCRIPTION_LIMIT
            if not getattr(account, name):
                del self.fields[f"remove_{name}"]

    def change(self) -> ProfileChange:
        sent = self.cleaned_data
        changed = set(self.changed_data)
        values: dict[str, Any] = {
            name: sent[name]
            for name in (
                *("locked", "discoverable", "indexable", "hide_collections", "bot"),
                *("show_media", "show_media_replies", "show_featured"),
            )
            if name in changed
        }
        for name in ("display_name", "note", "avatar_description", "header_description"):
            if name in changed:
                values[name] = clean_input(sent[name])
        if "attribution_domains" in changed:
            lines = (line.strip() for line in clean_input(sent["attribution_domains"]).splitlines())
            values["attribution_domains"] = [line for line in lines if line]
        if any(name.startswith("field_") for name in changed):
            values["fields"] = [
                (clean_input(sent[f"field_name_{number}"]), clean_input(sent[f"field_value_{number}"]))
                for number in range(1, FIELDS_LIMIT + 1)
            ]
        for name in _PICTURES:
            file = sent.get(name)
            if isinstance(file, UploadedFile):
                # One byte beyond the limit is enough to refuse the file.
                values[name] = PictureUpload(file.read(PICTURE_SIZE_LIMIT + 1), file.content_type or "")
        return ProfileChange(**values)

    def pictures_to_remove(self) -> list[str]:
        """Return the names of the pictures to remove, without pictures that a new upload replaces."""
        sent = self.cleaned_data
        return [name for name in _PICTURES if sent.get(f"remove_{name}") and not sent.get(name)]


def _profile_values(account: Account) -> dict[str, Any]:
    names = (
        *("display_name", "note", "avatar_description", "header_description", "locked", "discoverable", "indexable"),
        *("hide_collections", "show_media", "show_media_replies", "show_featured"),
    )
    values: dict[str, Any] = {name: getattr(account, name) for name in names}
    values["bot"] = account.actor_type in (ActorType.SERVICE, ActorType.APPLICATION)
    values["attribution_domains"] = "\n".join(account.attribution_domains)
    for number, item in enumerate(account.fields[:FIELDS_LIMIT], 1):
        values |= {f"field_name_{number}": item["name"], f"field_value_{number}": item["value"]}
    return values


class FeaturedTagForm(ServiceForm):
    """A hashtag to be shown on the user's profile."""

    name = forms.CharField(
        label=_("Hashtag"), widget=forms.TextInput({"dir": "auto", "autocapitalize": "none", "spellcheck": "false"})
    )

    def clean_name(self) -> str:
        """Return the hashtag without its `#`. Raises ValidationError."""
        name = str(self.cleaned_data["name"]).removeprefix("#")
        if not is_hashtag(name):
            raise forms.ValidationError(
                _("A hashtag is one word of letters, digits and underscores; it cannot consist only of digits.")
            )
        return name
