"""Conversion of uploaded pictures, and the sentences that say why one is not taken.

The work itself is done in a process of its own (`social.kernel.media.decoding.pictures`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from typing import IO, Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from social.kernel import errors
from social.kernel.media.decoder import DecodingFailed, Found, decoder
from social.kernel.media.decoding import jobs
from social.kernel.media.limits import FRAMES_LIMIT

ACCEPTED: Final = (
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/heic",
    "image/heif",
    "image/webp",
    "image/avif",
)
"""The media types that `process` takes."""


class Unidentified(errors.Invalid):
    """The bytes are not what this server can decode, whatever their name says."""

    default = gettext_noop("File type of uploaded media could not be verified")


class Unsupported(errors.Invalid):
    """A file that can be decoded, and not one this server takes."""


class Moving(Unsupported):
    """A GIF with several frames: it is shown as a video, and is none of `process`."""


class TooLong(Unsupported):
    """Refusal of an animation with more pixels than are drawn anew; its first frame alone may be drawn."""


@dataclass(frozen=True)
class Rendition:
    """Picture to serve, in a file that is open as long as the block of the call that made it lasts."""

    file: IO[bytes]
    byte_count: int
    content_type: str
    extension: str
    width: int
    height: int

    @property
    def size(self) -> dict[str, int | float | str]:
        """`width`, `height`, `size` and `aspect` as in the `meta` of the entity MediaAttachment."""
        return {
            "width": self.width,
            "height": self.height,
            "size": f"{self.width}x{self.height}",
            "aspect": self.width / self.height,
        }

    @property
    def data(self) -> bytes:
        """The whole file."""
        self.file.seek(0)
        return self.file.read()

    def in_memory(self) -> Rendition:
        """The same, to be kept beyond the block: for small pictures."""
        return replace(self, file=BytesIO(self.data))


@dataclass(frozen=True)
class Picture:
    """The result of one uploaded picture."""

    original: Rendition
    preview: Rendition
    blurhash: str


@dataclass(frozen=True)
class Shape:
    """The size that `draw` gives a picture: exactly this one, its middle cut out, or no larger area with `cropped` False."""

    width: int
    height: int
    cropped: bool


@dataclass(frozen=True)
class Drawing:
    """A picture drawn anew in a shape; `still` is the first frame of an animation, None for any other picture."""

    shown: Rendition
    still: Rendition | None

    def in_memory(self) -> Drawing:
        """The same, to be kept beyond the block."""
        return Drawing(self.shown.in_memory(), self.still.in_memory() if self.still is not None else None)


@contextmanager
def draw(source: IO[bytes], shape: Shape, *, still: bool = False) -> Iterator[Drawing]:
    """Draw a picture anew in a shape; an animated GIF, PNG or WebP stays one, an animated AVIF becomes a WebP.

    Upright, in sRGB, without metadata; with `still` only the first frame. Raises Unidentified for what cannot be decoded,
    Unsupported beyond the limits of `social.kernel.media.limits`, checked on the header before any pixel is decoded.
    """
    with decoded(jobs.SHAPED, source, {**asdict(shape), "still": still}) as found:
        first = found.facts["still"]
        yield Drawing(
            rendition(found, 0, found.facts["shown"]), rendition(found, 1, first) if first is not None else None
        )


@contextmanager
def process(source: IO[bytes], *, still: bool = False) -> Iterator[Picture]:
    """Draw a picture anew: at most ORIGINAL_PIXELS, a preview of at most PREVIEW_PIXELS, its blur of 4 x 4 waves.

    Upright, in sRGB, without metadata; what moves stays so as in `draw`. Raises Moving for a moving GIF, else as `draw`.
    """
    with decoded(jobs.PICTURE, source, {"still": still}) as found:
        facts = found.facts
        yield Picture(rendition(found, 0, facts["original"]), rendition(found, 1, facts["preview"]), facts["blurhash"])


def rendition(found: Found, number: int, facts: dict[str, Any]) -> Rendition:
    """A picture that a job has written to its output of this number."""
    return Rendition(found.files[number], **facts)


@contextmanager
def decoded(job: str, source: IO[bytes], parameters: dict[str, Any] | None = None) -> Iterator[Found]:
    """Have a job done; what it refuses becomes an error with a sentence for the one who sent the file."""
    try:
        with decoder.decode(job, source, parameters or {}) as found:
            yield found
    except DecodingFailed:
        raise Unidentified from None
    except jobs.Refused as refused:
        raise _error(refused) from None


def _error(refused: jobs.Refused) -> errors.Invalid:
    values = refused.values
    match refused.code:
        case "moving":
            return Moving(_("Animated images are not supported"))
        case "animation":
            return TooLong(_("Animations of this size are not supported"))
        case "large" | "memory":
            return Unsupported(_("Images of this size are not supported"))
        case "size":
            return Unsupported(
                _("%(size)s images are not supported") % {"size": f"{values['width']}x{values['height']}"}
            )
        case "video_size":
            return Unsupported(
                _("%(size)s videos are not supported") % {"size": f"{values['width']}x{values['height']}"}
            )
        case "frame_rate":
            return Unsupported(_("%(rate)dfps videos are not supported") % {"rate": values["rate"]})
        case "frames":
            return Unsupported(_("Videos of more than %(count)d frames are not supported") % {"count": FRAMES_LIMIT})
        case "codec":
            return Unsupported(_("This encoding of video or audio is not supported"))
        case _:
            return Unidentified()
