"""Conversion of an uploaded picture: checked before decoding, turned upright, drawn anew.

Nothing of the file survives but its pixels, so neither a place of recording nor a second file hidden in it is passed on
(security row 1). Limits: contract, parameters section 3 "Media" and behaviours section 10. Runs in the process of
`social.kernel.media.decoding` only.
"""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Final, NoReturn, cast

import pillow_heif

# What `Image.open` would import when it meets the format: afterwards nothing can be imported any more.
from PIL import (
    AvifImagePlugin,
    GifImagePlugin,
    Image,
    ImageCms,
    ImageFile,
    ImageOps,
    ImageSequence,
    JpegImagePlugin,
    MpoImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)
from PIL.Image import Resampling

from social.kernel.media import blurhash
from social.kernel.media.decoding.jobs import Refused
from social.kernel.media.limits import (
    ANIMATION_PIXELS,
    GIF_PIXEL_LIMIT,
    ORIGINAL_PIXELS,
    PIXEL_LIMIT,
    PREVIEW_PIXELS,
    SIDE_LIMIT,
)

_PLUGINS: Final = (
    AvifImagePlugin,
    GifImagePlugin,
    JpegImagePlugin,
    MpoImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)
pillow_heif.register_heif_opener(thumbnails=False)
Image.preinit()

_BLUR_SIDE: Final = 64
_FORMATS: Final = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "HEIF")
# What a picture is drawn anew as. A still GIF gains from PNG; not every browser shows AVIF, hardly any HEIC (behaviours 10).
_TARGETS: Final = {
    "JPEG": "JPEG",
    "MPO": "JPEG",
    "PNG": "PNG",
    "GIF": "PNG",
    "WEBP": "WEBP",
    "AVIF": "JPEG",
    "HEIF": "JPEG",
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

Facts = dict[str, Any]

# Pillow's own guard does not report the size. `_check_size` is stricter and comes before any pixel is decoded; this one is
# left for sizes that are beyond all reason.
Image.MAX_IMAGE_PIXELS = 2**31


def picture(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> Facts:
    """The job PICTURE: at most ORIGINAL_PIXELS to the first output, a preview of at most PREVIEW_PIXELS to the second.

    Upright, in sRGB, without metadata; an animated WebP stays one, of other pictures with several frames the first is
    taken, and a moving GIF is refused as "moving". Gives `original`, `preview` and the `blurhash` of 4 x 4 waves.
    """
    with _opened(source) as opened:
        source_format = cast(str, opened.format)
        _check_size(opened, GIF_PIXEL_LIMIT if source_format == "GIF" else PIXEL_LIMIT)
        moving = source_format in ("GIF", "WEBP") and getattr(opened, "is_animated", False)
        if moving and source_format == "GIF":
            raise Refused("moving")
        original = None
        if moving:
            _check_animation(opened, opened.width * opened.height)
            original = _animated(opened, None, outputs[0])
            opened.seek(0)
        image = _upright(opened)
    target = _TARGETS[source_format]
    image = _plain(image, alpha=target != "JPEG")
    preview = reduced(image, PREVIEW_PIXELS)
    return {
        "original": original or write(image, target, outputs[0]),
        "preview": write(preview, target, outputs[1]),
        "blurhash": blur(preview),
    }


def shaped(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> Facts:
    """The job SHAPED: the picture in the shape of the parameters (`width`, `height`, `cropped`) to the first output.

    Of an animated GIF or WebP, which stays one, also the first frame to the second: `shown` and `still` (or None).
    """
    with _opened(source) as opened:
        source_format = cast(str, opened.format)
        _check_size(opened, PIXEL_LIMIT)
        moving = source_format in ("GIF", "WEBP") and getattr(opened, "is_animated", False)
        shown = None
        if moving:
            area = parameters["width"] * parameters["height"] if parameters["cropped"] else 0
            _check_animation(opened, max(opened.width * opened.height, area))
            shown = _animated(opened, parameters, outputs[0])
            opened.seek(0)
        image = _upright(opened)
    target = "PNG" if moving else _TARGETS[source_format]
    still = _in_shape(_plain(image, alpha=target != "JPEG"), parameters)
    if shown is None:
        return {"shown": write(still, target, outputs[0]), "still": None}
    return {"shown": shown, "still": write(still, target, outputs[1])}


def cover(source: IO[bytes], output: IO[bytes]) -> tuple[Facts, Image.Image]:
    """A preview of a picture that stands for something else; what is written about it, and its pixels."""
    with _opened(source) as opened:
        _check_size(opened, PIXEL_LIMIT)
        image = _upright(opened)
    target = _TARGETS[cast(str, opened.format)]
    preview = reduced(_plain(image, alpha=target != "JPEG"), PREVIEW_PIXELS)
    return write(preview, target, output), preview


@contextlib.contextmanager
def _opened(source: IO[bytes]) -> Iterator[ImageFile.ImageFile]:
    try:
        with Image.open(source, formats=_FORMATS) as opened:
            yield opened
    except Image.DecompressionBombError:
        raise Refused("large") from None


def _refuse_size(image: Image.Image) -> NoReturn:
    raise Refused("size", width=image.width, height=image.height)


def _check_size(image: Image.Image, pixels: int) -> None:
    if image.width * image.height > pixels or max(image.size) > SIDE_LIMIT:
        _refuse_size(image)


def _check_animation(image: Image.Image, pixels: int) -> None:
    if getattr(image, "n_frames", 1) * pixels > ANIMATION_PIXELS:
        raise Refused("animation")


def _in_shape(image: Image.Image, shape: Mapping[str, Any] | None) -> Image.Image:
    if shape is None:
        return reduced(image, ORIGINAL_PIXELS)
    size = (shape["width"], shape["height"])
    if shape["cropped"]:
        return ImageOps.fit(image, size, Resampling.BICUBIC)
    return reduced(image, size[0] * size[1])


def _animated(opened: Image.Image, shape: Mapping[str, Any] | None, output: IO[bytes]) -> Facts:
    target = cast(str, opened.format)
    # Both encoders want to know all times beforehand, and all frames at once would take up to 190 MB.
    durations = []
    for frame in ImageSequence.Iterator(opened):
        frame.load()
        durations.append(int(frame.info.get("duration", 0)) or _FRAME_MILLISECONDS)
    loop = {"loop": opened.info["loop"]} if "loop" in opened.info else {}
    frames = _frames(opened, shape)
    first = next(frames)
    return write(
        first,
        target,
        output,
        save_all=True,
        append_images=frames,
        duration=durations,
        disposal=_RESTORE_BACKGROUND,
        **loop,
    )


def _frames(opened: Image.Image, shape: Mapping[str, Any] | None) -> Iterator[Image.Image]:
    for frame in ImageSequence.Iterator(opened):
        drawn = _in_shape(frame.convert("RGBA"), shape)
        drawn.info = {}
        yield drawn


def _upright(opened: ImageFile.ImageFile) -> Image.Image:
    """The decoded picture, turned as its EXIF says, not larger than what is kept."""
    fitting = _fitting(opened.size, ORIGINAL_PIXELS)
    if fitting != opened.size:
        # JPEG can be decoded at a half or a quarter: cheaper than shrinking it afterwards.
        opened.draft(None, (fitting[0] * 2, fitting[1] * 2))
    opened.load()
    image = reduced(opened, ORIGINAL_PIXELS)
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


def reduced(image: Image.Image, pixels: int) -> Image.Image:
    """The picture with at most so many pixels, in its proportions."""
    fitting = _fitting(image.size, pixels)
    if fitting == image.size:
        return image
    if image.mode in ("P", "1", "PA"):
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    elif image.mode not in ("RGB", "RGBA", "L", "LA", "CMYK"):
        image = image.convert("RGB")
    return image.resize(fitting, Resampling.BICUBIC, reducing_gap=2.0)


def write(image: Image.Image, target: str, output: IO[bytes], **options: Any) -> Facts:
    """Encode a picture to a file; what there is to know about it."""
    image.save(output, target, **_OPTIONS[target], **options)
    output.flush()
    return {
        "content_type": f"image/{target.lower()}",
        "extension": _EXTENSIONS[target],
        "width": image.width,
        "height": image.height,
        "byte_count": output.tell(),
    }


def blur(preview: Image.Image) -> str:
    """The blurhash of 4 x 4 waves."""
    small = preview.convert("RGB")
    small.thumbnail((_BLUR_SIDE, _BLUR_SIDE), Resampling.BILINEAR)
    return blurhash.encode(small.tobytes(), small.width, small.height)
