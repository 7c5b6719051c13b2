"""Files over HTTP: upload, look at, change and remove what is not attached yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request

from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.inputs import ClientFile, ClientString, Input
from social.api.limits import limited
from social.api.parsers import MEBIBYTE
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import FieldError, Invalid
from statuses.models import MediaAttachment, Processing
from statuses.policies.media import IMAGE_SIZE_LIMIT
from statuses.queries.media import find_media
from statuses.serializers.media import media_entity
from statuses.services.media import (
    MediaChange,
    MediaUpload,
    delete_media,
    update_media,
    upload_media,
)

# The largest file in base64, escaped for a form, and a little more: what is larger still is refused unread (413).
MAX_BODY = 2 * IMAGE_SIZE_LIMIT + MEBIBYTE


@dataclass(frozen=True)
class MediaForm:
    """The parameters of an upload or a change."""

    file: UploadedFile | None = None
    thumbnail: UploadedFile | None = None
    description: str | None = None
    focus: str | None = None


class MediaInput(Input[MediaForm]):
    """A file, its description and its focus (contract, parameters section 3 "Media")."""

    draft = MediaForm
    file = ClientFile()
    thumbnail = ClientFile()
    description = ClientString()
    focus = ClientString()


class MediaViewSet(ApiViewSet):
    """`/api/v1/media` and `/api/v2/media`."""

    endpoints = {
        **dict.fromkeys(
            ("create", "create_v1"),
            Endpoint(
                user("write:media"), "MediaAttachment", input=MediaInput, throttles=limited("media"), max_body=MAX_BODY
            ),
        ),
        "retrieve": Endpoint(user("write:media"), "MediaAttachment"),
        "update": Endpoint(user("write:media"), "MediaAttachment", input=MediaInput, max_body=MAX_BODY),
        "destroy": Endpoint(user("write:media"), EMPTY),
    }

    def create_v1(self, request: Request) -> HttpResponse:
        """`POST /api/v1/media`: the same for pictures; deprecated upstream since 3.1.3 (unix time of that release)."""
        return reply(self.create(request), headers={"Deprecation": "@1586044800"})

    def create(self, request: Request) -> Any:
        """`POST /api/v2/media`: ready when answered."""
        form = MediaInput.read(request)
        if form.file is None:
            raise Invalid.of([FieldError("file", "ERR_BLANK", _("can't be blank"), _("File"))])
        media = upload_media(
            account_id=self.account_id,
            upload=MediaUpload(
                # One byte beyond the limit tells as much as all of them.
                data=form.file.read(IMAGE_SIZE_LIMIT + 1),
                content_type=form.file.content_type or "",
                description=form.description,
                focus=form.focus,
                has_thumbnail=form.thumbnail is not None,
            ),
        )
        return media_entity(media)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """`GET /api/v1/media/:id`: 206 until it is processed."""
        return _respond(find_media(id, self.account_id))

    def update(self, request: Request, id: int) -> HttpResponse:
        """`PUT /api/v1/media/:id`: description and focus, until it is attached."""
        form = MediaInput.read(request)
        change = MediaChange(description=form.description, focus=form.focus, has_thumbnail=form.thumbnail is not None)
        return _respond(update_media(account_id=self.account_id, media_id=id, change=change))

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v1/media/:id`."""
        delete_media(account_id=self.account_id, media_id=id)
        return {}


def _respond(media: MediaAttachment) -> HttpResponse:
    if media.processing == Processing.FAILED:
        raise Invalid(_("Error processing thumbnail for uploaded media"))
    return reply(media_entity(media), status=200 if media.processing == Processing.COMPLETE else 206)
