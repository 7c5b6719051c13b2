"""What clients send for posts: publishing, deleting and listing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.serializers import ValidationError

from social.api.inputs import (
    ClientBoolean,
    ClientDateTime,
    ClientFile,
    ClientString,
    IdListField,
    Input,
    NestedListField,
    StringListField,
    as_integer,
    parameters,
)
from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.ids import parse_id
from statuses.policies.polls import PollDraft
from statuses.queries.listings import AccountStatusesFilter
from statuses.services.composing import StatusDraft
from statuses.services.editing import EditDraft
from statuses.services.media import MediaChange, SentFile

_EMPTY_IS_NONE: Final = ("visibility", "quote_approval_policy", "content_type")
_POLL_MEMBERS: Final = ("options", "multiple", "hide_totals", "expires_in")


@dataclass(frozen=True)
class _PollForm:
    options: tuple[str, ...] = ()
    multiple: bool = False
    hide_totals: bool = False


class PollInput(Input[_PollForm]):
    """The members of `poll`; `expires_in`, a number of seconds, is read beside them."""

    draft = _PollForm
    options = StringListField()
    multiple = ClientBoolean()
    hide_totals = ClientBoolean()


def read_poll(sent: Any) -> PollDraft | None:
    """The parameter `poll`; None for one that is empty or no object (contract, parameters section 3)."""
    if not isinstance(sent, dict) or not sent:
        return None
    form = PollInput.read_mapping(sent)
    expires_in = sent.get("expires_in")
    return PollDraft(
        options=form.options,
        expires_in=None if expires_in in (None, "") or isinstance(expires_in, list | dict) else as_integer(expires_in),
        multiple=form.multiple,
        hide_totals=form.hide_totals,
        sent={name: sent[name] for name in _POLL_MEMBERS if name in sent},
    )


class StatusInput(Input[StatusDraft]):
    """The parameters of `POST /api/v1/statuses` (contract, parameters section 3)."""

    draft = StatusDraft
    status = ClientString(source="text")
    spoiler_text = ClientString()
    sensitive = ClientBoolean()
    visibility = ClientString()
    language = ClientString()
    in_reply_to_id = ClientString()
    media_ids = StringListField()
    quoted_status_id = ClientString()
    quote_approval_policy = ClientString()
    content_type = ClientString()
    allowed_mentions = IdListField()

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> StatusDraft:
        """As of any input."""
        sent = {name: value for name, value in values.items() if name not in _EMPTY_IS_NONE or value != ""}
        draft = super().read_mapping(_with_warning(sent))
        return replace(draft, poll=read_poll(values.get("poll")), scheduled_at=read_scheduled_at(values))


@dataclass(frozen=True)
class _FileForm:
    id: str = ""
    description: str | None = None
    focus: str | None = None
    thumbnail: UploadedFile | None = None


class FileInput(Input[_FileForm]):
    """What to change of one file of a post."""

    draft = _FileForm
    id = ClientString()
    description = ClientString()
    focus = ClientString()
    thumbnail = ClientFile()


@dataclass(frozen=True)
class _EditForm:
    text: str = ""
    spoiler_text: str = ""
    sensitive: bool | None = None
    language: str | None = None
    media_ids: tuple[str, ...] = ()
    media_attributes: tuple[_FileForm, ...] = ()
    quote_approval_policy: str | None = None
    content_type: str | None = None


class EditInput(Input[_EditForm]):
    """The parameters of `PUT /api/v1/statuses/:id`; `poll` is read beside them."""

    draft = _EditForm
    status = ClientString(source="text")
    spoiler_text = ClientString()
    sensitive = ClientBoolean()
    language = ClientString()
    media_ids = StringListField()
    media_attributes = NestedListField(FileInput)
    quote_approval_policy = ClientString()
    content_type = ClientString()

    @classmethod
    def read_draft(cls, request: Request) -> EditDraft:
        """The edit that a request asks for."""
        values = parameters(request)
        form = cls.read_mapping(_with_warning({name: value for name, value in values.items() if value is not None}))
        return EditDraft(
            text=form.text,
            spoiler_text=form.spoiler_text,
            sensitive=form.sensitive,
            language=form.language,
            media_ids=form.media_ids,
            media_changes=tuple(
                (number, _change(file)) for file in form.media_attributes if (number := parse_id(file.id)) is not None
            ),
            poll=read_poll(values.get("poll")),
            quote_approval_policy=form.quote_approval_policy or None,
            content_type=form.content_type or None,
        )


def _change(form: _FileForm) -> MediaChange:
    sent = form.thumbnail
    thumbnail = None if sent is None else SentFile(sent, sent.content_type or "")
    return MediaChange(description=form.description, focus=form.focus, thumbnail=thumbnail)


def _with_warning(sent: dict[str, Any]) -> dict[str, Any]:
    """In JSON a warning wins over false, in a form the word "false" wins over the warning."""
    return sent | {"sensitive": True} if sent.get("sensitive") is False and sent.get("spoiler_text") else sent


@dataclass(frozen=True)
class RescheduleForm:
    """Another time for a scheduled post; None for the same."""

    scheduled_at: datetime | None = None


class RescheduleInput(Input[RescheduleForm]):
    """The parameters of `PUT /api/v1/scheduled_statuses/:id`."""

    draft = RescheduleForm
    scheduled_at = ClientString()

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> RescheduleForm:
        """As of any input. Raises Invalid for what is no time."""
        return RescheduleForm(scheduled_at=read_new_time(values))


def read_scheduled_at(values: Mapping[str, Any]) -> datetime | None:
    """When a new post is to be published; None for nothing and for the past: at once. Raises Invalid for what is no time."""
    moment = read_new_time(values)
    return moment if moment is not None and moment > clock.now() else None


def read_new_time(values: Mapping[str, Any]) -> datetime | None:
    """The parameter `scheduled_at`; None for nothing, an empty text, a list and an object. Raises Invalid for no time."""
    sent = values.get("scheduled_at")
    if sent is None or sent == "" or isinstance(sent, list | dict):
        return None
    try:
        return ClientDateTime().to_internal_value(sent)
    except ValidationError:
        raise Invalid(_("Record invalid")) from None


@dataclass(frozen=True)
class InteractionPolicyForm:
    """The parameters of a change of who may quote a post."""

    quote_approval_policy: str | None = None


class InteractionPolicyInput(Input[InteractionPolicyForm]):
    """Who may quote a post; nothing stands for the author's setting."""

    draft = InteractionPolicyForm
    quote_approval_policy = ClientString()

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> InteractionPolicyForm:
        """As of any input; an empty word is none."""
        return super().read_mapping({name: value for name, value in values.items() if value != ""})


@dataclass(frozen=True)
class IdsForm:
    """Posts that are asked for together."""

    ids: tuple[str, ...] = ()


class IdsInput(Input[IdsForm]):
    """`id[]`; a single `id` is no list and dropped."""

    draft = IdsForm
    id = StringListField(source="ids")


@dataclass(frozen=True)
class DeletionForm:
    """The parameters of a deletion."""

    delete_media: bool = False


class DeletionInput(Input[DeletionForm]):
    """Whether the files go at once, or may be used for another post."""

    draft = DeletionForm
    delete_media = ClientBoolean()


class AccountStatusesInput(Input[AccountStatusesFilter]):
    """Which of an account's posts are wanted."""

    draft = AccountStatusesFilter
    only_media = ClientBoolean()
    exclude_replies = ClientBoolean()
    exclude_reblogs = ClientBoolean()
    exclude_direct = ClientBoolean()
    pinned = ClientBoolean()
    tagged = ClientString()


@dataclass(frozen=True)
class ReblogForm:
    """The parameters of a boost."""

    visibility: str = ""


class ReblogInput(Input[ReblogForm]):
    """Who sees the boost; nothing is the author's default."""

    draft = ReblogForm
    visibility = ClientString()


@dataclass(frozen=True)
class TranslationForm:
    """The parameters of a translation."""

    lang: str | None = None


class TranslationInput(Input[TranslationForm]):
    """The language to translate to; nothing stands for that of the request."""

    draft = TranslationForm
    lang = ClientString()
