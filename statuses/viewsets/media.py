"""Files over HTTP: upload, look at, change and remove what is not attached yet."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import IO, Any, cast

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from rest_framework.request import Request

from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.exceptions import exception_handler
from social.api.later import answer_later
from social.api.limits import limited
from social.api.parsers import MEBIBYTE
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import FieldError, Invalid, KernelError
from statuses.models import MediaAttachment, Processing
from statuses.policies.media import IMAGE_SIZE_LIMIT, VIDEO_SIZE_LIMIT
from statuses.queries.media import find_media
from statuses.serializers.inputs.media import MediaInput
from statuses.serializers.media import MediaAttachmentSerializer
from statuses.services.media import (
    MediaChange,
    MediaUpload,
    SentFile,
    delete_media,
    update_media,
    upload_media,
)

# The largest video as one part of a form, with its thumbnail and a little more; what is larger is refused unread (413).
MAX_BODY = VIDEO_SIZE_LIMIT + IMAGE_SIZE_LIMIT + MEBIBYTE
# The largest picture in base64, escaped for a form: such bodies are held in memory.
MAX_TEXT = 2 * IMAGE_SIZE_LIMIT + MEBIBYTE
WAIT_SECONDS = 60.0
"""The longest that `POST /api/v1/media` waits for a file to be processed."""


_UPLOAD = Endpoint(
    user("write:media"),
    "MediaAttachment",
    input=MediaInput,
    throttles=limited("media"),
    max_body=MAX_BODY,
    max_text=MAX_TEXT,
)


class MediaViewSet(ApiViewSet):
    """`/api/v1/media` and `/api/v2/media`."""

    endpoints = {
        "create": _UPLOAD,
        "create_v1": replace(_UPLOAD, deprecated=1586044800),  # 3.1.3
        "retrieve": Endpoint(user("write:media"), "MediaAttachment"),
        "update": Endpoint(user("write:media"), "MediaAttachment", input=MediaInput, max_body=MAX_TEXT),
        "destroy": Endpoint(user("write:media"), EMPTY),
    }

    def create_v1(self, request: Request) -> HttpResponse:
        """`POST /api/v1/media`: answered when the file is processed, after WAIT_SECONDS as by the second version."""
        media = self._upload(request)
        response = _respond(media, processing=202)
        if media.processing == Processing.COMPLETE:
            return response
        poll = partial(_poll, media.id, self.account_id, get_language())
        return answer_later(request._request, poll, response, seconds=WAIT_SECONDS)

    def create(self, request: Request) -> HttpResponse:
        """`POST /api/v2/media`: a picture is ready when answered; else 202, without an address."""
        return _respond(self._upload(request), processing=202)

    def _upload(self, request: Request) -> MediaAttachment:
        form = MediaInput.read(request)
        if form.file is None:
            raise Invalid.of([FieldError("file", "ERR_BLANK", _("can't be blank"), _("File"))])
        upload = MediaUpload(
            sent=_sent(form.file),
            description=form.description,
            focus=form.focus,
            thumbnail=_sent(form.thumbnail) if form.thumbnail is not None else None,
        )
        return upload_media(account_id=self.account_id, upload=upload)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """`GET /api/v1/media/:id`: 206 until it is processed."""
        return _respond(find_media(id, self.account_id))

    def update(self, request: Request, id: int) -> HttpResponse:
        """`PUT /api/v1/media/:id`: description, focus and thumbnail, until it is attached."""
        form = MediaInput.read(request)
        change = MediaChange(
            description=form.description,
            focus=form.focus,
            thumbnail=_sent(form.thumbnail) if form.thumbnail is not None else None,
        )
        return _respond(update_media(account_id=self.account_id, media_id=id, change=change))

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v1/media/:id`."""
        delete_media(account_id=self.account_id, media_id=id)
        return {}


def _sent(file: UploadedFile) -> SentFile:
    return SentFile(cast("IO[bytes]", file.file), file.content_type or "")


def _poll(media_id: int, account_id: int, language: str | None) -> HttpResponse | None:
    """The answer about a file that was being processed, None as long as it is."""
    with override(language):
        try:
            media = find_media(media_id, account_id, unattached=False)
            return None if media.processing in (Processing.QUEUED, Processing.RUNNING) else _respond(media)
        except KernelError as error:
            return exception_handler(error, {})


def _respond(media: MediaAttachment, *, processing: int = 206) -> HttpResponse:
    if media.processing == Processing.FAILED:
        raise Invalid(_("Error processing thumbnail for uploaded media"))
    return reply(
        MediaAttachmentSerializer(media).data, status=200 if media.processing == Processing.COMPLETE else processing
    )
