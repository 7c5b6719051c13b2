"""HTTP endpoints for media attachments and polls."""

from dataclasses import replace
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from rest_framework.request import Request

from accounts.copies.models import CopyPurpose
from accounts.copies.viewsets import MediaProxyViewSet
from accounts.emojis.queries import EmojiLookup
from social.api.access import optional_user, user
from social.api.declarations import EMPTY, Endpoint
from social.api.exceptions import exception_handler
from social.api.later import answer_later
from social.api.limits import limited
from social.api.parsers import MEBIBYTE
from social.api.responses import redirect, reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import FieldError, Invalid, KernelError, NotFound
from social.kernel.media import storage
from statuses.models import MediaAttachment, Poll, Processing
from statuses.policies.audience import is_for_everybody
from statuses.policies.media import IMAGE_SIZE_LIMIT, VIDEO_SIZE_LIMIT
from statuses.policies.posts import Post
from statuses.queries.media import find_media, find_shown_media
from statuses.queries.posts import load_votes
from statuses.queries.statuses import find_poll
from statuses.serializers.attachments import MediaAttachmentSerializer, PollSerializer
from statuses.serializers.inputs.statuses import MediaInput, VoteInput, sent_file
from statuses.services.media import MediaUpload, delete_media, update_media, upload_media
from statuses.services.polls import vote

# The largest video with its thumbnail and some overhead, as a multipart form; a larger body is refused unread (413).
UPLOAD_BODY_LIMIT = VIDEO_SIZE_LIMIT + IMAGE_SIZE_LIMIT + MEBIBYTE
# The largest picture in base64, escaped for a form; the limit is low because such bodies are held in memory.
TEXT_BODY_LIMIT = 2 * IMAGE_SIZE_LIMIT + MEBIBYTE
WAIT_SECONDS = 60.0
"""Time-out of `POST /api/v1/media` while a file is processed, in seconds."""


_UPLOAD = Endpoint(
    user("write:media"),
    "MediaAttachment",
    input=MediaInput,
    throttles=limited("media"),
    max_body=UPLOAD_BODY_LIMIT,
    max_text=TEXT_BODY_LIMIT,
)


class MediaViewSet(ApiViewSet):
    """`/api/v1/media` and `/api/v2/media`."""

    endpoints = {
        "create": _UPLOAD,
        "create_v1": replace(_UPLOAD, deprecated=1586044800),  # Mastodon 3.1.3
        "retrieve": Endpoint(user("write:media"), "MediaAttachment"),
        "update": Endpoint(user("write:media"), "MediaAttachment", input=MediaInput, max_body=TEXT_BODY_LIMIT),
        "destroy": Endpoint(user("write:media"), EMPTY),
    }

    def create_v1(self, request: Request) -> HttpResponse:
        """`POST /api/v1/media`: responds when the file is processed, or after WAIT_SECONDS as `POST /api/v2/media` does."""
        media = self._upload(request)
        response = _respond(media, processing=202)
        if media.processing == Processing.COMPLETE:
            return response
        poll = partial(_poll, media.id, self.account_id, get_language())
        return answer_later(request._request, poll, response, seconds=WAIT_SECONDS)

    def create(self, request: Request) -> HttpResponse:
        """`POST /api/v2/media`: a picture is complete in the response; other files get 202, without an address."""
        return _respond(self._upload(request), processing=202)

    def _upload(self, request: Request) -> MediaAttachment:
        form = MediaInput.read(request)
        if form.file is None:
            raise Invalid.of([FieldError("file", "ERR_BLANK", _("can't be blank"), _("File"))])
        change = form.change
        upload = MediaUpload(sent_file(form.file), change.description, change.focus, change.thumbnail)
        return upload_media(account_id=self.account_id, upload=upload)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """`GET /api/v1/media/:id`: 206 until the file is processed."""
        return _respond(find_media(id, self.account_id))

    def update(self, request: Request, id: int) -> HttpResponse:
        """`PUT /api/v1/media/:id`: description, focus and thumbnail of an unattached file."""
        change = MediaInput.read(request).change
        return _respond(update_media(account_id=self.account_id, media_id=id, change=change))

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v1/media/:id`."""
        delete_media(account_id=self.account_id, media_id=id)
        return {}


def _poll(media_id: int, account_id: int, language: str | None) -> HttpResponse | None:
    # Returns None while the file is still being processed.
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


class AttachmentsViewSet(MediaProxyViewSet):
    """`/media_proxy/:id/:style` and `/media/:id`: for viewers who may read the post, or who have an address with a key."""

    endpoints = {
        "proxy": Endpoint(optional_user(), None, also=("key",)),
        "show_file": Endpoint(optional_user(), None),
    }

    def proxy(self, request: Request, id: int, style: str) -> HttpResponse:
        """Redirect (302) to the copy of a remote file, or to its preview if the style ends with "small"."""
        media, is_readable = find_shown_media(id, self.viewer_id)
        url, keyed = media.remote_url, False
        if url is not None and not media.file:
            keyed = self.has_key(request, url)
        if url is None or media.file or not (is_readable or keyed):
            raise NotFound
        small, purpose = style.endswith("small"), CopyPurpose.ATTACHMENT
        if small and media.preview_remote_url:
            purpose, url = CopyPurpose.COVER, media.preview_remote_url
        return self.show(request, purpose, url, small=small, shared=_is_for_anybody(media), keyed=keyed)

    def show_file(self, request: Request, id: int) -> HttpResponse:
        """Redirect (302) to the file, or to the copy of a remote file."""
        media, is_readable = find_shown_media(id, self.viewer_id)
        if is_readable and media.file:
            return redirect(storage.url(media.file), shared=_is_for_anybody(media))
        if is_readable and media.remote_url:
            shared = _is_for_anybody(media)
            return self.show(request, CopyPurpose.ATTACHMENT, media.remote_url, small=False, shared=shared, keyed=False)
        raise NotFound


def _is_for_anybody(media: MediaAttachment) -> bool:
    status = media.status
    return status is not None and is_for_everybody(status)


class PollsViewSet(ApiViewSet):
    endpoints = {
        "retrieve": Endpoint(optional_user("read:statuses"), "Poll"),
        "vote": Endpoint(user("write:statuses"), "Poll", input=VoteInput),
    }

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v1/polls/:id`: for viewers who may read the poll's post."""
        poll, post, _relations = find_poll(id, self.viewer_id)
        return self._poll_entity(poll, post)

    def vote(self, request: Request, id: int) -> Any:
        """`POST /api/v1/polls/:id/votes`: vote for the options at `choices[]`."""
        poll, post, relations = find_poll(id, self.account_id)
        choices = VoteInput.read(request).choices
        voted = vote(account_id=self.account_id, poll=poll, post=post, relations=relations, choices=choices)
        return self._poll_entity(voted, post)

    def _poll_entity(self, poll: Poll, post: Post) -> Any:
        viewer_id = self.viewer_id
        votes = {} if viewer_id is None else load_votes([viewer_id], [post.id]).get(viewer_id, {})
        context = {
            "viewer_id": viewer_id,
            "author_id": post.account_id,
            "own_votes": votes.get(post.id, ()),
            "domain": post.domain,
            "emojis": EmojiLookup([(post.domain, poll.options)]),
        }
        return PollSerializer(poll, context=context).data
