"""Conversion of uploaded video and audio to MP4 and MP3, which every browser plays.

The conversion itself is done in a separate process (`social.kernel.media.decoding.recordings`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final

from social.kernel.media import images
from social.kernel.media.decoder import Found
from social.kernel.media.decoding import jobs
from social.kernel.media.images import Rendition

CONVERSION_SECONDS: Final = jobs.LIMITS[jobs.CONVERTED].seconds
"""Longest time that `convert` may take, in seconds, not counting the start of its process."""

# FFmpeg's demuxer for the type that the first bytes of a file show: no other demuxer is tried.
READERS: Final = {
    "video/mp4": "mov",
    "video/quicktime": "mov",
    "audio/m4a": "mov",
    "audio/3gpp": "mov",
    "video/webm": "matroska",
    "video/ogg": "ogg",
    "audio/ogg": "ogg",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/flac": "flac",
    "audio/aac": "aac",
    "video/x-ms-asf": "asf",
    "image/gif": "gif",
}
READABLE: Final = frozenset(READERS) - {"image/gif"}
"""Types that the first bytes of video and audio may show; a GIF counts as a picture until it is found to be animated."""
ACCEPTED: Final = (
    "video/webm", "video/mp4", "video/quicktime", "video/ogg", "audio/wave", "audio/wav", "audio/x-wav",
    "audio/x-pn-wave", "audio/vnd.wave", "audio/ogg", "audio/vorbis", "audio/mpeg", "audio/mp3", "audio/webm",
    "audio/flac", "audio/aac", "audio/m4a", "audio/x-m4a", "audio/mp4", "audio/3gpp", "video/x-ms-asf",
)  # fmt: skip
"""Media types under which video and audio may be uploaded (contract, entities "supported_mime_types")."""


@dataclass(frozen=True)
class Cover:
    """Preview picture of a video or audio file; `colours` are for its player."""

    preview: Rendition
    blurhash: str
    colours: dict[str, str] | None = None


@dataclass(frozen=True)
class Examined:
    """Facts of a file: `kind` is video, gifv (video without sound) or audio; `meta` as in the entity MediaAttachment."""

    kind: str
    meta: dict[str, Any]
    cover: Cover | None


@dataclass(frozen=True)
class Converted:
    """The file to serve, open until the end of the block of `convert`, and its `meta`."""

    file: IO[bytes]
    byte_count: int
    content_type: str
    extension: str
    meta: dict[str, Any]


@contextmanager
def examine(source: IO[bytes], content_type: str) -> Iterator[Examined]:
    """Examine a file, without converting it (`types.media_type` has found its `content_type`); draw a cover if it has a
    picture.

    Raises Unidentified for a file that cannot be read, Unsupported beyond the limits of `social.kernel.media.limits`.
    """
    with images.run_job(jobs.EXAMINED, source, {"format": READERS[content_type]}) as found:
        facts = found.facts
        yield Examined(facts["kind"], facts["meta"], _cover(found) if "preview" in facts else None)


@contextmanager
def convert(source: IO[bytes], content_type: str) -> Iterator[Converted]:
    """Convert a file into the format that is served; metadata, other streams and attachments are left out. Raises the errors of
    `examine`. Takes up to CONVERSION_SECONDS, and is therefore only for background work.
    """
    with images.run_job(jobs.CONVERTED, source, {"format": READERS[content_type]}) as found:
        yield Converted(found.files[0], **found.facts["file"], meta=found.facts["meta"])


@contextmanager
def draw_cover(source: IO[bytes]) -> Iterator[Cover]:
    """Draw a picture, or the first frame of an animated one, as a cover. Raises the errors of `images.process`."""
    with images.run_job(jobs.COVER, source) as found:
        yield _cover(found)


def _cover(found: Found) -> Cover:
    facts = found.facts
    return Cover(images.rendition(found, 0, facts["preview"]), facts["blurhash"], facts.get("colours"))
