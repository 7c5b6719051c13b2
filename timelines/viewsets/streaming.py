"""`/api/v1/streaming` on the main server: where to go instead (SEED-127)."""

from __future__ import annotations

from typing import Final
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http import HttpResponse, HttpResponsePermanentRedirect
from rest_framework.request import Request

from social.api.access import anyone
from social.api.declarations import Endpoint
from social.api.viewsets import ApiViewSet
from social.kernel.errors import NotFound

_PORTS: Final = {"http": 80, "ws": 80, "https": 443, "wss": 443}


class StreamingRedirectViewSet(ApiViewSet):
    """Streams are served by another process. Where that has a host or port of its own, clients are sent there."""

    endpoints = {"redirect": Endpoint(anyone(), None)}

    def redirect(self, request: Request, stream: str = "", variant: str = "") -> HttpResponse:
        """301 to the same path and query at STREAMING_API_BASE_URL. Raises NotFound when that is this very address."""
        streaming, own = urlsplit(settings.STREAMING_URL), urlsplit(settings.BASE_URL)
        if _place(streaming) == _place(own):
            raise NotFound
        path = request.get_full_path()
        return HttpResponsePermanentRedirect(f"{own.scheme}://{streaming.netloc}{path}")


def _place(url: SplitResult) -> tuple[str | None, int | None]:
    return url.hostname, url.port or _PORTS.get(url.scheme)
