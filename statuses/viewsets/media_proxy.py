"""Leads to files of posts: those of other servers through their copies, those of this one by the address of their page."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.models.remote_copy import CopyPurpose
from accounts.viewsets.media_proxy import MediaProxyViewSet
from social.api.access import optional_user
from social.api.declarations import Endpoint
from social.api.responses import redirect
from social.kernel.errors import NotFound
from social.kernel.media import storage
from statuses.models import MediaAttachment
from statuses.policies.visibility import is_for_anybody
from statuses.queries.media import find_shown_media


class AttachmentsViewSet(MediaProxyViewSet):
    """`/media_proxy/:id/:style` and `/media/:id`: for those who may read the post, or were given an address with a key."""

    endpoints = {
        "proxy": Endpoint(optional_user(), None, also=("key",)),
        "show_file": Endpoint(optional_user(), None),
    }

    def proxy(self, request: Request, id: int, style: str) -> HttpResponse:
        """302 to the copy of a file of another server: a style that ends with "small" is the preview."""
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
        """302 to the file, or to the copy of one of another server."""
        media, is_readable = find_shown_media(id, self.viewer_id)
        if is_readable and media.file:
            return redirect(storage.url(media.file), shared=_is_for_anybody(media))
        if is_readable and media.remote_url:
            shared = _is_for_anybody(media)
            return self.show(request, CopyPurpose.ATTACHMENT, media.remote_url, small=False, shared=shared, keyed=False)
        raise NotFound


def _is_for_anybody(media: MediaAttachment) -> bool:
    return media.status is not None and is_for_anybody(media.status.visibility)
