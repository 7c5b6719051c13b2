"""Converts uploaded pictures, and holds the messages for refused pictures.

The decoding itself is done in a separate process (`social.kernel.media.decoding.pictures`).
"""

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
    "image/jpeg", "image/png", "image/gif", "image/heic", "image/heif", "image/webp", "image/avif",
)  # fmt: skip
"""The media types that `process` accepts."""


class Unidentified(errors.Invalid):
    """Refusal of a file that cannot be decoded, whatever its name says."""

    default = gettext_noop("File type of uploaded media could not be verified")


class Unsupported(errors.Invalid):
    """Refusal of a file that can be decoded, but is not accepted."""


class Moving(Unsupported):
    """Refusal by `process` of a GIF with several frames, which is shown as a video instead."""


class TooLong(Unsupported):
    """Refusal of an animation with more pixels than this server redraws; its first frame alone may be redrawn."""


@dataclass(frozen=True)
class Rendition:
    """Picture to serve; its file is open until the end of the `with` block of the function that made it."""

    file: IO[bytes]
    byte_count: int
    content_type: str
    extension: str
    width: int
    height: int

    @property
    def size(self) -> dict[str, int | float | str]:
        """`width`, `height`, `size` and `aspect`, as in the `meta` of the entity MediaAttachment."""
        return {
            "width": self.width,
            "height": self.height,
            "size": f"{self.width}x{self.height}",
            "aspect": self.width / self.height,
        }

    @property
    def data(self) -> bytes:
        self.file.seek(0)
        return self.file.read()

    def in_memory(self) -> "Rendition":
        """Return a copy in memory, which can be used after the block; use this only for small pictures."""
        return replace(self, file=BytesIO(self.data))


@dataclass(frozen=True)
class Picture:
    original: Rendition
    preview: Rendition
    blurhash: str


@dataclass(frozen=True)
class Shape:
    """Size for a picture in `draw`. With `cropped` the picture gets exactly this size, cut from its middle; otherwise it
    keeps its proportions and gets this area.
    """

    width: int
    height: int
    cropped: bool


@dataclass(frozen=True)
class Drawing:
    """Picture redrawn in a shape; `still` is the first frame of an animation, None for any other picture."""

    shown: Rendition
    still: Rendition | None

    def in_memory(self) -> "Drawing":
        return Drawing(self.shown.in_memory(), self.still.in_memory() if self.still is not None else None)


@contextmanager
def draw(source: IO[bytes], shape: Shape, *, still: bool = False) -> Iterator[Drawing]:
    """Redraw a picture in a shape; a GIF, PNG or WebP stays animated, an animated AVIF becomes a WebP.

    The result is upright, in sRGB and without metadata; with `still`, it is the first frame only. Raises Unidentified for a
    file that cannot be decoded, Unsupported for a picture beyond the limits of `social.kernel.media.limits`, which are
    checked on the header before any pixel is decoded.
    """
    with run_job(jobs.SHAPED, source, {**asdict(shape), "still": still}) as found:
        first = found.facts["still"]
        yield Drawing(
            rendition(found, 0, found.facts["shown"]), rendition(found, 1, first) if first is not None else None
        )


@contextmanager
def process(source: IO[bytes], *, still: bool = False) -> Iterator[Picture]:
    """Redraw a picture with at most ORIGINAL_PIXELS; make a preview of at most PREVIEW_PIXELS and a blurhash with 4 x 4
    components.

    Picture and preview are upright, in sRGB and without metadata; animations stay animated as in `draw`. Raises Moving for
    an animated GIF, otherwise the errors of `draw`.
    """
    with run_job(jobs.PICTURE, source, {"still": still}) as found:
        facts = found.facts
        yield Picture(rendition(found, 0, facts["original"]), rendition(found, 1, facts["preview"]), facts["blurhash"])


def rendition(found: Found, number: int, facts: dict[str, Any]) -> Rendition:
    """Return the picture that a job has written to its output with this number."""
    return Rendition(found.files[number], **facts)


@contextmanager
def run_job(job: str, source: IO[bytes], parameters: dict[str, Any] | None = None) -> Iterator[Found]:
    """Run a job; if it refuses the file, raise an error with a message for the uploader."""
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
        case "size" | "video_size":
            size = {"size": f"{values['width']}x{values['height']}"}
            pictures, videos = _("%(size)s images are not supported"), _("%(size)s videos are not supported")
            return Unsupported((pictures if refused.code == "size" else videos) % size)
        case "frame_rate":
            return Unsupported(_("%(rate)dfps videos are not supported") % {"rate": values["rate"]})
        case "frames":
            return Unsupported(_("Videos of more than %(count)d frames are not supported") % {"count": FRAMES_LIMIT})
        case "codec":
            return Unsupported(_("This encoding of video or audio is not supported"))
        case _:
            return Unidentified()
