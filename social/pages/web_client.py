"""`/app/`: a static web client of the operator's choice, from the folder that `WEB_CLIENT` names.

Only regular files of that folder are served, whatever a path or a symbolic link says. Only scripts of this server and
inline scripts in the HTML files of the folder may run.
"""

import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import get_conditional_response
from django.utils.http import http_date
from django.views.decorators.http import require_safe
from django.views.generic import RedirectView
from whitenoise.media_types import MediaTypes

from social.kernel import links

INDEX: Final = "index.html"
_HTML: Final = "text/html"
#: Types with a charset, which are sent compressed.
_TEXTS: Final = ("text/", "application/json", "application/manifest+json", "image/svg+xml")
# Names such as `index-BzYx12ab.js`, in which build tools put a hash of the content. Eight letters without a digit or a change
# of case may be a word instead.
_HASHED: Final = re.compile(
    r"[-.](?=\w*[0-9]|\w*[a-z_]+\w*[A-Z]|\w*[A-Z]+\w*[a-z])\w{8,}\.(?:js|mjs|css|woff2?|wasm)\Z", re.ASCII
)
_CACHING_OF_HASHED: Final = "public, max-age=31536000, immutable"
_types: Final = MediaTypes(extra_types={".mjs": "text/javascript", ".webmanifest": "application/manifest+json"})
_compression: Final = GZipMiddleware(lambda request: FileResponse())

#: `/app` redirects to `/app/`, because relative addresses in the client's pages need the slash.
with_slash: Final = RedirectView.as_view(url="/app/", query_string=True)


@require_safe
def web_client(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Answer `/app/:path` with the file of this path, or `index.html` if there is no such file and the path has no extension.
    Returns 404 for all other paths, or if `WEB_CLIENT` is not set.
    """
    file = find_file(path)
    if file is None and "." not in path.rpartition("/")[2]:
        file = find_file(INDEX)
    if file is None:
        raise Http404
    found = file.stat()
    etag = f'"{found.st_mtime_ns:x}-{found.st_size:x}"'
    kind = _types.get_type(file.name)
    headers = {
        "Cache-Control": _CACHING_OF_HASHED if _HASHED.search(file.name) else "no-cache",
        "ETag": etag,
        "Last-Modified": http_date(found.st_mtime),
        "Content-Security-Policy": _policy(_inline_scripts(file, etag) if kind == _HTML else ()),
        "X-Robots-Tag": "noindex",
    }
    unchanged = get_conditional_response(request, etag=etag, last_modified=int(found.st_mtime))
    if unchanged is not None:
        for name, value in headers.items():
            unchanged.headers[name] = value
        return unchanged
    text = kind.startswith(_TEXTS)
    response = FileResponse(file.open("rb"), content_type=f"{kind}; charset=utf-8" if text else kind, headers=headers)
    return _compression.process_response(request, response) if text else response


def find_file(path: str) -> Path | None:
    """Return the file of the client with this path; None if there is no such file, if it is hidden or outside of the
    folder, or if `WEB_CLIENT` is not set.
    """
    if not settings.WEB_CLIENT:
        return None
    parts = path.split("/")
    if any(part.startswith(".") or "\\" in part or "\0" in part for part in parts):
        return None
    try:
        root = Path(settings.WEB_CLIENT).resolve()
        file = root.joinpath(*parts).resolve()
        if file.is_dir():
            file = (file / INDEX).resolve()
        return file if file.is_relative_to(root) and file.is_file() else None
    except (OSError, ValueError, RuntimeError):  # a name that is too long, or a loop of links
        return None


def _policy(hashes: tuple[str, ...]) -> str:
    """Return the Content-Security-Policy: scripts of this server and inline scripts with these hashes; requests to this
    server, its streams and its media storage.
    """
    media, streams = links.media_source(), urlsplit(settings.STREAMING_URL)
    policy = {
        "default-src": "'self'",
        "script-src": " ".join(("'self'", "'wasm-unsafe-eval'", *hashes)),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": f"'self' data: blob:{media}",
        "media-src": f"'self' data: blob:{media}",
        "font-src": "'self' data:",
        "connect-src": f"'self' data: blob: {streams.scheme}://{streams.netloc}{media}",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "form-action": "'self'",
        "base-uri": "'self'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in policy.items())


class _InlineScripts(HTMLParser):
    """Collects the texts of the inline scripts (those without `src`) in an HTML document."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.texts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script" and "src" not in dict(attrs)
        if self._inside:
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[-1] += data


@lru_cache(maxsize=64)
def _inline_scripts(file: Path, etag: str) -> tuple[str, ...]:
    """Return the hashes of the inline scripts of an HTML file for a Content-Security-Policy. `etag` changes with the file."""
    parser = _InlineScripts()
    # Browsers hash a script after parsing, when each CRLF has already become a single LF.
    parser.feed(file.read_text("utf-8", "replace").replace("\r\n", "\n"))
    parser.close()
    return tuple(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in parser.texts)
