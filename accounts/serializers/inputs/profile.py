"""What clients send for one's own profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from django.core.files.uploadedfile import UploadedFile

from accounts.services.profile_pictures import PICTURE_SIZE_LIMIT, PictureUpload
from accounts.services.profiles import ProfileChange
from social.api.inputs import ClientBoolean, ClientFile, ClientString, Input, NestedListField, StringListField
from social.api.parsers import MEBIBYTE
from social.kernel.text.names import clean_input

# Two pictures in base64, escaped for a form, and a little more: what is larger still is refused unread (413).
MAX_BODY: Final = 2 * 2 * PICTURE_SIZE_LIMIT + MEBIBYTE
_SOURCE: Final = ("privacy", "sensitive", "language", "quote_policy")


class FieldForm(NamedTuple):
    """One row of the table of a profile."""

    name: str = ""
    value: str = ""


class FieldInput(Input[FieldForm]):
    """A row as clients send it."""

    draft = FieldForm
    name = ClientString()
    value = ClientString()


class _SharedInput(Input[ProfileChange]):
    """What both forms of the endpoint take."""

    draft = ProfileChange
    display_name = ClientString()
    note = ClientString()
    locked = ClientBoolean()
    bot = ClientBoolean()
    discoverable = ClientBoolean()
    hide_collections = ClientBoolean()
    indexable = ClientBoolean()
    avatar = ClientFile()
    header = ClientFile()
    avatar_description = ClientString()
    header_description = ClientString()
    fields_attributes = NestedListField(FieldInput, source="fields")
    attribution_domains = StringListField()

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> ProfileChange:
        """As of any input, texts cleaned and pictures read; null and "" leave unsaid what may be."""
        sent = dict(values)
        for name in ("display_name", "note"):
            if isinstance(sent.get(name), str):
                sent[name] = clean_input(sent[name])
        change = super().read_mapping(sent)
        fields = change.fields
        if fields is not None:
            fields = tuple((clean_input(name), clean_input(value)) for name, value in fields)
        return replace(
            change,
            unsaid=tuple(name for name in ("discoverable", "hide_collections") if values.get(name, True) in (None, "")),
            fields=fields,
            avatar=_upload(change.avatar),
            header=_upload(change.header),
        )


class ProfileInput(_SharedInput):
    """The parameters of `PATCH /api/v1/profile`."""

    show_media = ClientBoolean()
    show_media_replies = ClientBoolean()
    show_featured = ClientBoolean()


class CredentialsInput(_SharedInput):
    """The parameters of `PATCH /api/v1/accounts/update_credentials`, with those inside `source`."""

    privacy = ClientString()
    sensitive = ClientBoolean()
    language = ClientString()
    quote_policy = ClientString()

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> ProfileChange:
        """As of any input. An empty `source` is no error (SEED-133)."""
        source = values.get("source")
        sent = {name: value for name, value in values.items() if name not in _SOURCE}
        if isinstance(source, dict):
            sent |= {name: source[name] for name in _SOURCE if name in source}
        return super().read_mapping(sent)


def _upload(file: Any) -> PictureUpload | None:
    if not isinstance(file, UploadedFile):
        return None
    # One byte beyond the limit is enough to refuse the file.
    return PictureUpload(file.read(PICTURE_SIZE_LIMIT + 1), file.content_type or "", file.name or "")
