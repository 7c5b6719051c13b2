"""Serves uploaded files where no proxy or object storage does: only known types, and never as executable content."""

import io
import os
import re
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.utils._os import safe_join

from social.kernel.media import storage
from social.kernel.media.types import TYPES

_HEADERS: Final = {
    # Names are random and never reused.
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Accept-Ranges": "bytes",
}
_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z")


class Part(io.FileIO):
    """File that ends at `end`; the web server sends it without reading it in Python."""

    end: int | None = None

    def read(self, size: int | None = -1) -> bytes:
        left = (os.fstat(self.fileno()).st_size if self.end is None else self.end) - self.tell()
        return super().read(max(0, left if size is None or size < 0 else min(size, left))) or b""


def media(request: HttpRequest, path: str) -> HttpResponseBase:
    """`GET /system/<path>`: a stored file or one range of it (RFC 9110 section 14). Raises Http404 for any other path."""
    kind = TYPES.get(Path(path).suffix)
    if request.method not in ("GET", "HEAD") or kind is None or "\0" in path:
        raise Http404
    if not storage.is_local():
        # Other servers still use the URLs from before the files were moved to an object storage.
        return HttpResponseRedirect(storage.url(path))
    # The file's name serves as its ETag, since a file never changes.
    tag = f'"{Path(path).stem}"' if Path(path).stem.isalnum() else ""
    headers = _HEADERS | ({"ETag": tag} if tag else {})
    try:
        file = Part(safe_join(str(settings.MEDIA_ROOT), path))
    except (SuspiciousFileOperation, OSError, ValueError):
        raise Http404 from None
    if tag and tag in request.headers.get("If-None-Match", ""):
        file.close()
        return HttpResponse(status=304, headers=headers)
    response = FileResponse(file, content_type=kind, headers=headers)
    wanted = _RANGE.match(request.headers.get("Range", ""))
    if wanted is not None and request.headers.get("If-Range", tag) == tag:
        _restrict_to_range(response, file, wanted[1], wanted[2])
    return response


def _restrict_to_range(response: FileResponse, file: Part, first: str, last: str) -> None:
    """Make a response 206 with the range, or 416 if the file is too short for the range; an invalid range is ignored."""
    size = os.fstat(file.fileno()).st_size
    if first:
        start, end = int(first), min(int(last) + 1 if last else size, size)
        if last and int(last) < start:
            return
    elif last:
        start, end = max(0, size - int(last)), size
    else:
        return
    if start >= end:
        file.end = start = file.seek(0)
        response.status_code = 416
        response["Content-Range"] = f"bytes */{size}"
    else:
        file.seek(start)
        file.end = end
        response.status_code = 206
        response["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    response["Content-Length"] = str(file.end - start)
