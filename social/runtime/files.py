"""Serves uploaded files where no proxy or object storage does: by type, never as something a browser would run."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase
from django.utils._os import safe_join

# The extensions this server gives to what it has decoded and written itself (social.kernel.media).
_TYPES: Final = {
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".mp4": "video/mp4",
    ".mp3": "audio/mpeg",
}
_HEADERS: Final = {
    # Names are random and never used again.
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


def media(request: HttpRequest, path: str) -> HttpResponseBase:
    """`GET /system/<path>`: a stored file. Raises Http404 for anything else, also for a path that leads out."""
    kind = _TYPES.get(Path(path).suffix)
    if request.method not in ("GET", "HEAD") or kind is None or "\0" in path:
        raise Http404
    try:
        file = Path(safe_join(str(settings.MEDIA_ROOT), path)).open("rb")  # noqa: SIM115 (the response closes it)
    except (SuspiciousFileOperation, OSError, ValueError):
        raise Http404 from None
    return FileResponse(file, content_type=kind, headers=_HEADERS)
