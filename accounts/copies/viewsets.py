"""Serves files from other servers out of copies; a request waits, without occupying a thread, until a file is fetched."""

from functools import partial
from typing import Final

from django.http import HttpResponse
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.copies.models import CopyFailure, CopyPurpose, CopyState, RemoteCopy
from accounts.copies.policies import is_due, is_key_of
from accounts.copies.queries import find_copy, find_picture_url
from accounts.copies.services.copying import record_served, request_copy
from social.api.access import optional_user
from social.api.addresses import client_ip, rate_key
from social.api.admission import count
from social.api.authentication import UncountedAuthentication
from social.api.declarations import Endpoint
from social.api.later import answer_later
from social.api.limits import FETCHED_FILES, Rule, limited, refuse_exceeded
from social.api.responses import TRY_AGAIN, error, redirect
from social.api.viewsets import ApiViewSet
from social.kernel import clock
from social.kernel.errors import NotFound, RateLimited
from social.kernel.media import storage

WAIT_SECONDS: Final = 30.0
"""Time-out of a request that waits for a file to be fetched; the file is still fetched after the time-out."""
_PICTURES: Final = {
    "avatar": ("avatar", False),
    "avatar_static": ("avatar", True),
    "header": ("header", False),
    "header_static": ("header", True),
}


class MediaProxyViewSet(ApiViewSet):
    """Base of endpoints for remote files. Requests without the URL's key are limited (behaviours section 4)."""

    authentication_classes: tuple[type[BaseAuthentication], ...] = (UncountedAuthentication,)

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # DRF declares its own Response
        """Count requests for missing files (security row 84), because this server never generates URLs of missing files."""
        if isinstance(exc, NotFound):
            try:
                self.limit(self.request, limited("media_proxy")[0])
            except RateLimited as refusal:
                exc = refusal
        return super().handle_exception(exc)

    def has_key(self, request: Request, url: str) -> bool:
        """Tell whether this server generated the requested URL for the file at `url`."""
        path = request.path_info.strip("/")
        return is_key_of(request.GET.get("key", ""), path, url)

    def limit(self, request: Request, rule: Rule) -> None:
        """Count the request. Raises RateLimited."""
        refuse_exceeded([count(rule, address=rate_key(client_ip(request._request)))])

    def show(
        self, request: Request, purpose: CopyPurpose, url: str, *, small: bool, shared: bool, keyed: bool
    ) -> HttpResponse:
        """Redirect (302) to the copy of the file at `url`; return 404 if there is none, 500 while its server is unreachable.

        `small`: redirect to the preview. `shared`: caches may store the response for everybody. `keyed`: the request has the
        URL's key.
        """
        if not keyed:
            self.limit(request, limited("media_proxy")[0])
        copy = find_copy(purpose, url)
        if is_due(copy, clock.now()):
            self.limit(request, FETCHED_FILES)
            copy = request_copy(purpose=purpose, url=url)
        assert copy is not None
        answer = _redirect_to_copy(copy, small=small, shared=shared)
        if answer is not None:
            return answer
        poll = partial(_redirect_if_ready, copy.id, get_language(), small=small, shared=shared)
        return answer_later(request._request, poll, _unreachable(), seconds=WAIT_SECONDS)


class ProfilePicturesViewSet(MediaProxyViewSet):
    """`/media_proxy/accounts/:account_id/:picture`."""

    endpoints = {"retrieve": Endpoint(optional_user(), None, also=("key",))}

    def retrieve(self, request: Request, account_id: int, picture: str) -> HttpResponse:
        """`picture`: avatar, avatar_static, header or header_static."""
        if picture not in _PICTURES:
            raise NotFound
        name, small = _PICTURES[picture]
        url = find_picture_url(account_id, name)
        keyed = self.has_key(request, url)
        return self.show(request, CopyPurpose(name), url, small=small, shared=True, keyed=keyed)


def _redirect_if_ready(copy_id: int, language: str | None, *, small: bool, shared: bool) -> HttpResponse | None:
    copy = RemoteCopy.objects.filter(id=copy_id).first()
    with override(language):
        return _redirect_to_copy(copy, small=small, shared=shared) if copy is not None else _missing()


def _redirect_to_copy(copy: RemoteCopy, *, small: bool, shared: bool) -> HttpResponse | None:
    """Return the response for a copy; None while the copy is being fetched."""
    if copy.state == CopyState.WAITING:
        return None
    if copy.state == CopyState.FAILED:
        return _unreachable() if copy.failure == CopyFailure.UNREACHABLE else _missing()
    # Covers, and profile pictures and emojis that are not animated, have no separate preview.
    path = (copy.preview or ("" if copy.purpose == CopyPurpose.ATTACHMENT else copy.file)) if small else copy.file
    if not path:
        return _missing()
    record_served(copy)
    return redirect(storage.url(path), shared=shared)


def _missing() -> HttpResponse:
    return error(NotFound.default, status=404)


def _unreachable() -> HttpResponse:
    return error(_(TRY_AGAIN), status=500)
