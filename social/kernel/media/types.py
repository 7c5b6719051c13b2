"""The types of the files this server keeps, by the extensions it gives to what it has decoded."""

from __future__ import annotations

from typing import Final

TYPES: Final = {
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".mp4": "video/mp4",
    ".mp3": "audio/mpeg",
    # Of other servers, kept as they are.
    ".mov": "video/quicktime",
    ".webm": "video/webm",
    ".ogv": "video/ogg",
    ".ogg": "audio/ogg",
    ".m4a": "audio/mp4",
    ".3gp": "audio/3gpp",
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".aac": "audio/aac",
}
