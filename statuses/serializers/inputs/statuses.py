"""Parameters of posts, files and polls: publishing, deleting, listing and embedding them (contract, parameters)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import IO, Annotated, Any, ClassVar, Final, Self, cast

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from rest_framework.fields import SkipField
from rest_framework.serializers import ValidationError

from social.api.fields import (
    ClientDateTime,
    ClientInteger,
    ClientString,
    ClientWord,
    NestedListField,
    ObjectField,
    StringListField,
    as_integer,
)
from social.api.inputs import Clearable, Form, Input, Word
from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.ids import parse_id
from statuses.policies.polls import PollDraft
from statuses.policies.posts import SHOWN_COLUMNS
from statuses.queries.listings import AccountStatusesFilter
from statuses.serializers.inputs.policies import PolicyField, with_quotes
from statuses.services.composing import Draft
from statuses.services.media import MediaChange, SentFile

_POLL_MEMBERS: Final = ("options", "multiple", "hide_totals", "expires_in")


class PollInput(Input[PollDraft]):
    """Members of `poll`; `expires_in` is a number of seconds (contract, parameters section 3)."""

    fields = ("options", "multiple", "hide_totals")

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> PollDraft:
        """Read the input as usual, and store the unparsed values in `sent`."""
        seconds = values.get("expires_in")
        return replace(
            super().read_mapping(values),
            expires_in=None if seconds in (None, "") or isinstance(seconds, list | dict) else as_integer(seconds),
            sent={name: values[name] for name in _POLL_MEMBERS if name in values},
        )


class TimeField(ClientDateTime):
    """Time of a scheduled post; with `future`, a past time becomes None, so that the post is published immediately."""

    def __init__(self, *, future: bool = False) -> None:
        self.future = future
        super().__init__()

    def to_internal_value(self, data: Any) -> Any:
        """Return an aware datetime or None. Raises Invalid for a value that is not a time."""
        if isinstance(data, list | dict):
            raise SkipField
        try:
            moment = super().to_internal_value(data)
        except ValidationError:
            raise Invalid(_("Record invalid")) from None
        return None if self.future and moment <= clock.now() else moment


def sent_file(file: UploadedFile) -> SentFile:
    """Return an uploaded file as the services expect it."""
    return SentFile(cast("IO[bytes]", file.file), file.content_type or "")


class _ChangeInput(Form):
    description: Clearable | None = None
    focus: str | None = None
    thumbnail: UploadedFile | None = None

    @property
    def change(self) -> MediaChange:
        """The submitted changes to the file."""
        return MediaChange(self.description, self.focus, None if self.thumbnail is None else sent_file(self.thumbnail))


class FileInput(_ChangeInput):
    """Changes to one file of a post."""

    id: str = ""


class FileChangesField(NestedListField):
    """Changes to files, by file id; changes with an invalid id are left out."""

    def to_internal_value(self, data: Any) -> tuple[tuple[int, MediaChange], ...]:
        forms: tuple[FileInput, ...] = super().to_internal_value(data)
        return tuple((number, form.change) for form in forms if (number := parse_id(form.id)) is not None)


class _PostInput(Input[Draft]):
    """Parameters of a post and of an edit."""

    fields: ClassVar[tuple[str, ...]] = (*SHOWN_COLUMNS, "sensitive", "language")
    status = ClientString(source="text")
    spoiler_text = ClientString()  # `check_text` limits the warning together with the text
    media_ids = StringListField()
    quote_approval_policy = ClientWord()
    interaction_policy = PolicyField()
    content_type = ClientWord()
    poll = ObjectField(PollInput, non_empty=True)

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> Draft:
        """Read the input. A content warning overrides `"sensitive": false` in JSON, but not `sensitive=false` in a form."""
        values = with_quotes(values)
        warned = values.get("sensitive") is False and values.get("spoiler_text")
        return super().read_mapping({**values, "sensitive": True} if warned else values)


class StatusInput(_PostInput):
    """Parameters of `POST /api/v1/statuses` (contract, parameters section 3)."""

    fields = (*_PostInput.fields, "allowed_mentions", "local_only")
    visibility = ClientWord()
    in_reply_to_id = ClientString()
    quoted_status_id = ClientString()
    scheduled_at = TimeField(future=True)

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> Draft:
        """Read the input as usual; the draft names the texts that were not sent."""
        unsent = tuple(name for name in SHOWN_COLUMNS if values.get(name) is None)
        return replace(super().read_mapping(values), unsent=unsent)


class EditInput(_PostInput):
    """Parameters of `PUT /api/v1/statuses/:id`."""

    media_attributes = FileChangesField(FileInput, source="media_changes")


class RescheduleInput(Form):
    """New time of a scheduled post; None keeps the time."""

    scheduled_at: Annotated[datetime, TimeField()] | None = None


class InteractionPolicyInput(Form):
    """Policies of a post. If none is sent, the quote policy becomes the author's default."""

    quote_approval_policy: Word | None = None
    interaction_policy: Annotated[Mapping[str, int], PolicyField()] | None = None

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read the input as usual; the quote policy may be part of `interaction_policy`."""
        return super().read_mapping(with_quotes(values))


class IdsInput(Form):
    """`id[]`; a single `id` is not a list and is ignored."""

    id: tuple[str, ...] = ()


class DeletionInput(Form):
    """Option to remove the files immediately; otherwise they may be attached to another post."""

    delete_media: bool = False


class AccountStatusesInput(Input[AccountStatusesFilter]):
    """Filters for an account's posts."""

    fields = ("only_media", "exclude_replies", "exclude_reblogs", "exclude_direct", "pinned", "tagged")


class ReblogInput(Form):
    """Visibility of the boost; empty means the author's default."""

    visibility: str = ""


class TranslationInput(Form):
    """Target language; None means the language of the request."""

    lang: str | None = None


_NO_OPTION: Final = -1


class PlacesField(StringListField):
    """Indexes of options; a value that is not a number becomes an index that does not exist."""

    def to_internal_value(self, data: Any) -> Any:
        return tuple(map(_option_index, self.items(data)))


class VoteInput(Form):
    """`choices[]`, or a single index."""

    required_keys = ("choices",)
    choices: Annotated[tuple[int, ...], PlacesField(scalar=True)] = ()


def _option_index(item: Any) -> int:
    text = str(item).strip() if isinstance(item, int | str) and not isinstance(item, bool) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else _NO_OPTION


class MediaInput(_ChangeInput):
    """A file, its description and its focus (contract, parameters section 3 "Media")."""

    file: UploadedFile | None = None


SIDE_LIMIT: Final = 65_535
"""Maximum width and height of a frame in pixels."""


class OEmbedInput(Form):
    """Address of a post, and the maximum size of its frame in pixels; other parameters (`format`) are ignored."""

    url: str = ""
    maxwidth: Annotated[int, ClientInteger(minimum=0, maximum=SIDE_LIMIT)] | None = None
    maxheight: Annotated[int, ClientInteger(minimum=0, maximum=SIDE_LIMIT)] | None = None
