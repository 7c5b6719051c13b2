"""Parameters of accounts: look-ups, the directory, and actions on other accounts and servers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Final, cast

from django.core.files.uploadedfile import UploadedFile

from accounts.services.following import FollowChange
from accounts.services.profile_pictures import PICTURE_SIZE_LIMIT, PictureUpload
from accounts.services.profiles import ProfileChange
from social.api.fields import ClearableString, ClientFile, IdListField, NestedListField, StringListField
from social.api.inputs import Form, Input, Stripped
from social.api.parsers import MEBIBYTE
from social.kernel.text.names import clean_input


class MuteInput(Form):
    """Options of a mute: whether it hides notifications, and its duration in seconds."""

    notifications: bool = True
    duration: int = 0


class FollowInput(Input[FollowChange]):
    """The options of a follow; options that are not sent stay unchanged."""

    fields = ("reblogs", "notify", "languages")


class LegacyFollowInput(Form):
    """The account to follow: `user` or `user@domain`, possibly surrounded by blanks."""

    uri: Stripped = ""


class IdsInput(Form):
    """Account ids, as `id[]`; a single `id` is not a list and is ignored."""

    id: tuple[str, ...] = ()


class RelationshipsInput(Form):
    """The accounts whose relationships are requested: `id[]`, or a single `id`."""

    id: Annotated[tuple[str, ...], StringListField(scalar=True)] = ()
    with_suspended: bool = False


class LookupInput(Form):
    """An address, with or without a domain."""

    acct: str = ""


class SearchInput(Form):
    """The beginning of a name, or an address, which may be looked up on its server (`resolve`)."""

    q: Stripped = ""
    resolve: bool = False
    following: bool = False


class NoteInput(Form):
    comment: str = ""


class FamiliarInput(Form):
    """The accounts whose followers are requested: `id[]`, or a single `id`."""

    id: Annotated[tuple[int, ...], IdListField(scalar=True)] = ()


class DomainInput(Form):
    """The domain of a server, in the query or in the body."""

    domain: str = ""


class DirectoryInput(Form):
    """Parameters of the directory: `order` is "active" or "new"."""

    order: str = "active"
    local: bool = False


# Maximum size of a request: two pictures in base64, escaped for a form, with a margin. Larger requests are refused (413).
MAX_BODY: Final = 2 * 2 * PICTURE_SIZE_LIMIT + MEBIBYTE
_SOURCE: Final = ("privacy", "sensitive", "language", "quote_policy")


class FieldInput(Form):
    name: str = ""
    value: str = ""


class _SharedInput(Input[ProfileChange]):
    """Parameters of both endpoints that change the profile."""

    fields: ClassVar[tuple[str, ...]] = (
        *("display_name", "note", "locked", "bot", "discoverable", "hide_collections", "indexable"),
        "attribution_domains",
    )
    avatar_description = ClearableString()
    header_description = ClearableString()
    avatar = ClientFile()
    header = ClientFile()
    fields_attributes = NestedListField(FieldInput, source="fields")

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> ProfileChange:
        """Return the change of a profile; `discoverable` and `hide_collections` are "not stated" (`unsaid`) if null or ""."""
        sent = dict(values)
        for name in ("display_name", "note"):
            if isinstance(sent.get(name), str):
                sent[name] = clean_input(sent[name])
        change = super().read_mapping(sent)
        rows = cast(Sequence[FieldInput] | None, change.fields)
        return replace(
            change,
            unsaid=tuple(name for name in ("discoverable", "hide_collections") if values.get(name, True) in (None, "")),
            fields=None if rows is None else tuple((clean_input(row.name), clean_input(row.value)) for row in rows),
            avatar=_upload(change.avatar),
            header=_upload(change.header),
        )


class ProfileInput(_SharedInput):
    fields = (*_SharedInput.fields, "show_media", "show_media_replies", "show_featured")


class CredentialsInput(_SharedInput):
    """The parameters of `PATCH /api/v1/accounts/update_credentials`, including the parameters inside `source`."""

    fields = (*_SharedInput.fields, *_SOURCE)

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> ProfileChange:
        """Return the change of a profile. `source` may be empty (SEED-133); its members are read like other parameters."""
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
