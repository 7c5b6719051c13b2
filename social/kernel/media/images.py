"""Knows how a picture somebody sent becomes pictures we serve: checked before decoding, turned upright, drawn anew.

Nothing of the file survives but its pixels, so neither a place of recording nor a second file hidden in it is passed on
(security row 1). Limits: contract, parameters section 3 "Media" and behaviours section 10.
"""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, TypeVar, cast

from django.conf import settings
from django.utils.translation import get_language, gettext_noop, override
from django.utils.translation import gettext as _
from PIL import Image, ImageCms, ImageOps, ImageSequence
from PIL.Image import Resampling

from social.kernel import errors
from social.kernel.media import blurhash

PIXEL_LIMIT: Final = 33_177_600
SIDE_LIMIT: Final = 32_767
"""Pixels of either side: a picture one pixel wide and 33 million high takes seconds to draw (security row 56)."""
GIF_PIXEL_LIMIT: Final = 921_600
ORIGINAL_PIXELS: Final = 8_294_400
PREVIEW_PIXELS: Final = 230_400
ANIMATION_PIXELS: Final = 48_000_000
"""Pixels of all frames of an animation together, as sent or as drawn anew: 300 frames of 400 x 400."""
_BLUR_SIDE: Final = 64

ACCEPTED: Final = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/avif")
"""The media types `process` takes. HEIC needs a decoder that is not installed."""

_FORMATS: Final = {"JPEG": "image/jpeg", "MPO": "image/jpeg", "PNG": "image/png", "GIF": "image/gif"} | {
    "WEBP": "image/webp",
    "AVIF": "image/avif",
}
# What a picture is drawn anew as. A still GIF gains from PNG; AVIF is for the few that cannot show it (behaviours 10).
_TARGETS: Final = {
    "image/jpeg": "JPEG",
    "image/png": "PNG",
    "image/gif": "PNG",
    "image/webp": "WEBP",
    "image/avif": "JPEG",
}
_EXTENSIONS: Final = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif"}
_OPTIONS: Final[dict[str, dict[str, object]]] = {
    "JPEG": {"quality": 88, "optimize": False, "progressive": False},
    "PNG": {"compress_level": 4},
    "WEBP": {"quality": 88, "method": 2},
    "GIF": {},
}
# What browsers take for a frame that says no time, and GIF's "clear the frame before the next one".
_FRAME_MILLISECONDS: Final = 100
_RESTORE_BACKGROUND: Final = 2
_SRGB: Final = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))

T = TypeVar("T")


class Unidentified(errors.Invalid):
    """The bytes are not a picture, whatever their name says."""

    default = gettext_noop("File type of uploaded media could not be verified")


class Unsupported(errors.Invalid):
    """A picture, and not one this server takes."""


@dataclass(frozen=True)
class Rendition:
    """One picture to serve."""

    data: bytes
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


# Pillow's own guard does not tell the size. `_check` is stricter and comes before any pixel is decoded; this one is left for
# sizes that are beyond all reason.
Image.MAX_IMAGE_PIXELS = 2**31


@dataclass(frozen=True)
class Picture:
    """What became of one uploaded picture."""

    original: Rendition
    preview: Rendition
    blurhash: str


@dataclass(frozen=True)
class Shape:
    """The size that `draw` gives a picture: exactly this one, its middle cut out, or no larger area with `cropped` False."""

    width: int
    height: int
    cropped: bool

    def applied(self, image: Image.Image) -> Image.Image:
        """The picture in this shape."""
        if self.cropped:
            return ImageOps.fit(image, (self.width, self.height), Resampling.BICUBIC)
        return _reduced(image, self.width * self.height)


@dataclass(frozen=True)
class Drawing:
    """A picture drawn anew in a shape; `still` is the first frame of an animation, None for any other picture."""

    shown: Rendition
    still: Rendition | None


def draw(data: bytes, shape: Shape) -> Drawing:
    """Draw a picture anew in a shape; an animated GIF or WebP stays one.

    Upright, in sRGB, without metadata. Raises Unidentified for what cannot be decoded, Unsupported beyond PIXEL_LIMIT or
    SIDE_LIMIT, checked on the header before any pixel is decoded, or beyond ANIMATION_PIXELS. Waits for its turn as
    `process` does.
    """
    return _image_workers().submit(_or_refused, partial(_drawing, data, shape), get_language()).result()


def process(data: bytes) -> Picture:
    """Draw a picture anew: at most ORIGINAL_PIXELS, a preview of at most PREVIEW_PIXELS, its blur of 4 x 4 waves.

    Upright, in sRGB, without metadata; of several frames only the first, except that a moving GIF is refused. Raises
    Unidentified for what cannot be decoded, Unsupported beyond PIXEL_LIMIT (GIF_PIXEL_LIMIT) or SIDE_LIMIT, checked on
    the header before any pixel is decoded. At most settings.IMAGE_WORKERS pictures at a time in a process; others wait.
    """
    return _image_workers().submit(_or_refused, partial(_drawn, data), get_language()).result()


@cache
def _image_workers() -> ThreadPoolExecutor:
    # A decoded picture takes up to 130 MB: not every thread of the server may have one at the same time. And always the
    # same threads, because a thread's share of the heap stays as large as the largest picture it ever had.
    return ThreadPoolExecutor(settings.IMAGE_WORKERS, thread_name_prefix="painter")


def _or_refused(work: Callable[[], T], language: str | None) -> T:
    # The language of a thread is not that of the one that waits for it.
    with override(language):
        try:
            return work()
        except (errors.KernelError, MemoryError):
            raise
        except Image.DecompressionBombError:
            raise Unsupported(_("Images of this size are not supported")) from None
        except Exception:
            # Which exceptions decoders raise on broken files is nowhere promised, and differs between formats.
            raise Unidentified from None


def _drawing(data: bytes, shape: Shape) -> Drawing:
    with Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "GIF", "WEBP")) as opened:
        source_type = _FORMATS[cast(str, opened.format)]
        _check_size(opened, PIXEL_LIMIT)
        frames = getattr(opened, "n_frames", 1) if opened.format in ("GIF", "WEBP") else 1
        shown = None
        if frames > 1:
            larger = max(opened.width * opened.height, shape.width * shape.height if shape.cropped else 0)
            if frames * larger > ANIMATION_PIXELS:
                raise Unsupported(_("Animations of this size are not supported"))
            shown = _animated(opened, shape)
            opened.seek(0)
        image = _upright(opened)
    target = "PNG" if shown is not None else _TARGETS[source_type]
    still = _encoded(shape.applied(_plain(image, alpha=target != "JPEG")), target)
    return Drawing(still, None) if shown is None else Drawing(shown, still)


def _animated(opened: Image.Image, shape: Shape) -> Rendition:
    target = cast(str, opened.format)
    # Both encoders want to know all times beforehand, and all frames at once would take up to 190 MB.
    durations = []
    for frame in ImageSequence.Iterator(opened):
        frame.load()
        durations.append(int(frame.info.get("duration", 0)) or _FRAME_MILLISECONDS)
    loop = {"loop": opened.info["loop"]} if "loop" in opened.info else {}
    frames = _frames(opened, shape)
    first = next(frames)
    return _encoded(
        first, target, save_all=True, append_images=frames, duration=durations, disposal=_RESTORE_BACKGROUND, **loop
    )


def _frames(opened: Image.Image, shape: Shape) -> Iterator[Image.Image]:
    for frame in ImageSequence.Iterator(opened):
        drawn = shape.applied(frame.convert("RGBA"))
        drawn.info = {}
        yield drawn


def _drawn(data: bytes) -> Picture:
    with Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "GIF", "WEBP", "AVIF")) as opened:
        source_type = _FORMATS[cast(str, opened.format)]
        _check(opened, source_type)
        image = _upright(opened)
    target = _TARGETS[source_type]
    image = _plain(image, alpha=target != "JPEG")
    preview = _reduced(image, PREVIEW_PIXELS)
    return Picture(_encoded(image, target), _encoded(preview, target), _blur(preview))


def _check_size(image: Image.Image, pixels: int) -> None:
    width, height = image.size
    if width * height > pixels or max(width, height) > SIDE_LIMIT:
        raise Unsupported(_("%(size)s images are not supported") % {"size": f"{width}x{height}"})


def _check(image: Image.Image, source_type: str) -> None:
    _check_size(image, GIF_PIXEL_LIMIT if source_type == "image/gif" else PIXEL_LIMIT)
    if source_type == "image/gif" and getattr(image, "is_animated", False):
        raise Unsupported(_("Animated images are not supported"))


def _upright(opened: Image.Image) -> Image.Image:
    """The decoded picture, turned as its EXIF says, not larger than what is kept."""
    fitting = _fitting(opened.size, ORIGINAL_PIXELS)
    if fitting != opened.size:
        # JPEG can be decoded at a half or a quarter: cheaper than shrinking it afterwards.
        opened.draft(None, (fitting[0] * 2, fitting[1] * 2))
    opened.load()
    image = _reduced(opened, ORIGINAL_PIXELS)
    image.info = dict(opened.info)
    # A picture is not lost because some program wrote nonsense beside it.
    with contextlib.suppress(Exception):
        ImageOps.exif_transpose(image, in_place=True)
    return image


def _plain(image: Image.Image, *, alpha: bool) -> Image.Image:
    """RGB or RGBA in sRGB, with no metadata left that an encoder could write."""
    profile = image.info.get("icc_profile")
    transparent = image.has_transparency_data
    if image.mode in ("RGB", "RGBA", "CMYK", "L") and isinstance(profile, bytes) and profile:
        image = _in_srgb(image, profile)
    if transparent:
        image = image.convert("RGBA")
        if not alpha:
            ground = Image.new("RGBA", image.size, "white")
            image = Image.alpha_composite(ground, image)
    wanted = "RGBA" if transparent and alpha else "RGB"
    if image.mode != wanted:
        # Else it would be copied, which takes as much again.
        image = image.convert(wanted)
    image.info = {}
    return image


def _in_srgb(image: Image.Image, profile: bytes) -> Image.Image:
    """The colours as the profile means them; a profile that cannot be read is as good as none."""
    if b"sRGB" in profile[:4096]:
        return image
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        mode = "RGBA" if image.mode == "RGBA" else "RGB"
        return ImageCms.profileToProfile(image, source, _SRGB, outputMode=mode) or image
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return image


def _fitting(size: tuple[int, int], pixels: int) -> tuple[int, int]:
    width, height = size
    if width * height <= pixels:
        return size
    scale = math.sqrt(pixels / (width * height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _reduced(image: Image.Image, pixels: int) -> Image.Image:
    fitting = _fitting(image.size, pixels)
    if fitting == image.size:
        return image
    if image.mode in ("P", "1", "PA"):
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    elif image.mode not in ("RGB", "RGBA", "L", "LA", "CMYK"):
        image = image.convert("RGB")
    return image.resize(fitting, Resampling.BICUBIC, reducing_gap=2.0)


def _encoded(image: Image.Image, target: str, **options: Any) -> Rendition:
    buffer = io.BytesIO()
    image.save(buffer, target, **_OPTIONS[target], **options)
    return Rendition(
        data=buffer.getvalue(),
        content_type=f"image/{target.lower()}",
        extension=_EXTENSIONS[target],
        width=image.width,
        height=image.height,
    )


def _blur(preview: Image.Image) -> str:
    small = preview.convert("RGB")
    small.thumbnail((_BLUR_SIDE, _BLUR_SIDE), Resampling.BILINEAR)
    return blurhash.encode(small.tobytes(), small.width, small.height)
