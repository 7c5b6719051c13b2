"""Converts an uploaded picture, which is checked before decoding, turned upright and redrawn.

Only the pixels of the file are kept, so neither the location of a photo nor a second file hidden in it is passed on (security
row 1). Limits: contract, parameters section 3 "Media" and behaviours section 10. Runs in the process of
`social.kernel.media.decoding` only.
"""

import contextlib
import importlib
import io
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Final, cast

import pillow_heif
from PIL import Image, ImageChops, ImageCms, ImageFile, ImageOps, ImageSequence, PngImagePlugin
from PIL.Image import Resampling

from social.kernel.media import blurhash, limits
from social.kernel.media.decoding.damaged import load, with_missing_ends
from social.kernel.media.decoding.jobs import Refused

# `Image.open` would import these modules on first use, but a confined process can import nothing.
for _format in ("Avif", "Gif", "Jpeg", "Mpo", "Png", "Tiff", "WebP"):
    importlib.import_module(f"PIL.{_format}ImagePlugin")
pillow_heif.register_heif_opener(thumbnails=False)
Image.preinit()

_BLUR_SIDE: Final = 64
_FORMATS: Final = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "HEIF")
# The formats in which pictures are redrawn. A GIF without animation becomes a PNG; AVIF and HEIC become JPEG, because not every
# browser shows AVIF, and hardly any shows HEIC (behaviours section 10).
_TARGETS: Final = {
    "JPEG": "JPEG",
    "MPO": "JPEG",
    "PNG": "PNG",
    "GIF": "PNG",
    "WEBP": "WEBP",
    "AVIF": "JPEG",
    "HEIF": "JPEG",
}
# The formats that animations are written in; a GIF in a post becomes a video instead.
_MOVING_TARGETS: Final = {"GIF": "GIF", "WEBP": "WEBP", "PNG": "PNG", "AVIF": "WEBP"}
_EXTENSIONS: Final = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif"}
_OPTIONS: Final[dict[str, dict[str, object]]] = {
    "JPEG": {"quality": 88, "optimize": False, "progressive": False},
    "PNG": {"compress_level": 4},
    "WEBP": {"quality": 88, "method": 2},
    "GIF": {},
}
# In a GIF, each frame is cleared before the next one. The frames of a PNG are compressed quickly, because there may be many.
_MOVING_OPTIONS: Final[dict[str, dict[str, object]]] = {"GIF": {"disposal": 2}, "PNG": {"compress_level": 1}}
# Time for which browsers show a frame if its file gives no time.
_FRAME_MILLISECONDS: Final = 100
# Pillow's modes for 16-bit pixels, the 8-bit value of each 16-bit value, and, for raw modes of 2 or 4 bits, the factor that
# scales a grey value to 8 bits.
_SIXTEEN_BITS: Final = ("I", "I;16", "I;16B", "I;16L", "I;16N")
_WHOLE: Final = range(1 << 16)
_EIGHT_OF_SIXTEEN: Final = [round(value / 257) for value in _WHOLE]
_FACTORS_OF_FEW_BITS: Final = {"L;2": 85, "L;4": 17}
_SRGB: Final = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
# The colour spaces of profiles with Pillow's modes for them, and colours that show whether a profile changes anything visible.
_SPACES: Final = {"GRAY": "L", "RGB": "RGB", "CMYK": "CMYK"}
_LEVELS: Final = range(0, 256, 17)
_SAMPLES: Final = {
    "L": Image.frombytes("L", (16, 1), bytes(_LEVELS)),
    "RGB": Image.frombytes(
        "RGB", (256, 16), bytes(v for r in _LEVELS for g in _LEVELS for b in _LEVELS for v in (r, g, b))
    ),
}
_UNSEEN_DIFFERENCE: Final = 2

Facts = dict[str, Any]

# Cameras and programs write profiles and texts that are larger than Pillow's limit of a megabyte. The memory of the job is
# bounded anyway.
PngImagePlugin.MAX_TEXT_CHUNK = 16 * 1024 * 1024
# Pillow's own guard, which does not report the size, remains for absurd sizes only: `_check_size` is stricter, and runs
# before any pixel is decoded.
Image.MAX_IMAGE_PIXELS = 2**31


@with_missing_ends
def picture(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> Facts:
    """Do the job PICTURE: write the picture with at most ORIGINAL_PIXELS to the first output, and a preview of at most
    PREVIEW_PIXELS to the second.

    Both pictures are upright, in sRGB and without metadata. A PNG or WebP stays animated, an animated AVIF becomes a WebP, and
    an animated GIF is refused as "moving". With the parameter `still`, and for other formats, the first frame is used. Returns
    `original`, `preview` and `blurhash` with 4 x 4 components.
    """
    with _opened(source) as opened:
        source_format = cast(str, opened.format)
        _check_size(opened, limits.GIF_PIXEL_LIMIT if source_format == "GIF" else limits.PIXEL_LIMIT)
        moving = _is_moving(opened, parameters)
        if moving:
            if source_format == "GIF":
                raise Refused("moving")
            _check_animation(opened, opened.width * opened.height)
        image = _upright(opened)
    original = _animated(source, source_format, None, outputs[0]) if moving else None
    target = _TARGETS[source_format]
    image = _plain(image, alpha=target != "JPEG")
    preview = reduced(image, limits.PREVIEW_PIXELS)
    return {
        "original": original or write(image, target, outputs[0]),
        "preview": write(preview, target, outputs[1]),
        "blurhash": blur(preview),
    }


@with_missing_ends
def shaped(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> Facts:
    """Do the job SHAPED: the picture goes to the first output in the shape that the parameters give (`width`, `height`,
    `cropped`).

    An animated picture stays animated (AVIF becomes WebP), and its first frame goes to the second output; with the
    parameter `still`, only the first frame is used. Returns `shown` and `still` (or None).
    """
    with _opened(source) as opened:
        source_format = cast(str, opened.format)
        _check_size(opened, limits.PIXEL_LIMIT)
        moving = _is_moving(opened, parameters)
        if moving:
            area = parameters["width"] * parameters["height"] if parameters["cropped"] else 0
            _check_animation(opened, max(opened.width * opened.height, area))
        image = _upright(opened)
    shown = _animated(source, source_format, parameters, outputs[0]) if moving else None
    target = "PNG" if moving else _TARGETS[source_format]
    still = _in_shape(_plain(image, alpha=target != "JPEG"), parameters)
    if shown is None:
        return {"shown": write(still, target, outputs[0]), "still": None}
    return {"shown": shown, "still": write(still, target, outputs[1])}


@with_missing_ends
def cover(source: IO[bytes], output: IO[bytes]) -> tuple[Facts, Image.Image]:
    """Write a preview of a picture for use as a cover; return its facts and its pixels."""
    with _opened(source) as opened:
        _check_size(opened, limits.PIXEL_LIMIT)
        image = _upright(opened)
    target = _TARGETS[cast(str, opened.format)]
    preview = reduced(_plain(image, alpha=target != "JPEG"), limits.PREVIEW_PIXELS)
    return write(preview, target, output), preview


@with_missing_ends
def still(source: IO[bytes], side: int) -> Image.Image:
    """Return the picture, or the first frame of an animation, on white; a JPEG is decoded no larger than `side` needs."""
    with _opened(source) as opened:
        _check_size(opened, limits.PIXEL_LIMIT)
        opened.draft(None, (side, side))
        image = _upright(opened)
    return _plain(image, alpha=False)


@contextlib.contextmanager
def _opened(source: IO[bytes]) -> Iterator[ImageFile.ImageFile]:
    try:
        with Image.open(source, formats=_FORMATS) as opened:
            yield opened
    except Image.DecompressionBombError:
        raise Refused("large") from None


def _check_size(image: Image.Image, pixels: int) -> None:
    if image.width * image.height > pixels or max(image.size) > limits.SIDE_LIMIT:
        raise Refused("size", width=image.width, height=image.height)


def _is_moving(opened: ImageFile.ImageFile, parameters: Mapping[str, Any]) -> bool:
    return not parameters.get("still") and opened.format in _MOVING_TARGETS and _frame_count(opened) > 1


def _frame_count(opened: Image.Image) -> int:
    """Return the number of frames of an animation, without the default image that an animated PNG has for programs that do not
    show animations.
    """
    return getattr(opened, "n_frames", 1) - bool(opened.info.get("default_image"))


def _check_animation(image: Image.Image, pixels: int) -> None:
    if _frame_count(image) * pixels > limits.ANIMATION_PIXELS:
        raise Refused("animation")


def _in_shape(image: Image.Image, shape: Mapping[str, Any] | None) -> Image.Image:
    if shape is None:
        return reduced(image, limits.ORIGINAL_PIXELS)
    size = (shape["width"], shape["height"])
    if shape["cropped"]:
        return ImageOps.fit(image, size, Resampling.BICUBIC)
    return reduced(image, size[0] * size[1])


def _animated(
    source: IO[bytes], source_format: str, shape: Mapping[str, Any] | None, output: IO[bytes]
) -> Facts | None:
    """Write an animation's frames. Returns None if they cannot be read; the first frame is then shown, as in browsers."""
    target = _MOVING_TARGETS[source_format]
    options: dict[str, Any] = dict(_MOVING_OPTIONS.get(target, {}))
    try:
        # The encoders need all durations beforehand, and all frames together would take up to 190 MB.
        durations = []
        for frame in _frames(source):
            durations.append(int(frame.info.get("duration", 0)) or _FRAME_MILLISECONDS)
            options |= {"loop": frame.info["loop"]} if "loop" in frame.info else {}
        frames = _Drawn(source, shape)
        return write(frames.first, target, output, save_all=True, append_images=frames, duration=durations, **options)
    except (SyntaxError, EOFError, OSError, ValueError):
        output.seek(0)
        output.truncate()
        return None


class _Drawn:
    """The frames after the first, each drawn on demand; the PNG encoder iterates over them twice."""

    def __init__(self, source: IO[bytes], shape: Mapping[str, Any] | None) -> None:
        self._source, self._shape = source, shape
        self.first = self._draw(next(_frames(source)))

    def __iter__(self) -> Iterator[Image.Image]:
        return map(self._draw, itertools.islice(_frames(self._source), 1, None))

    def _draw(self, frame: Image.Image) -> Image.Image:
        return _in_shape(_plain(_upright(frame.copy()), alpha=True).convert("RGBA"), self._shape)


def _frames(source: IO[bytes]) -> Iterator[Image.Image]:
    # The file is opened again, because not every decoder can go back to the first frame.
    with _opened(source) as opened:
        for number, frame in enumerate(ImageSequence.Iterator(opened)):
            if number or not opened.info.get("default_image"):
                frame.load()
                yield frame


def _upright(opened: Image.Image) -> Image.Image:
    """Return the decoded picture, in a mode of `eight_bits`, turned as its EXIF data says, with at most ORIGINAL_PIXELS."""
    fitting = fitted_size(opened.size, limits.ORIGINAL_PIXELS)
    if fitting != opened.size:
        # A JPEG can be decoded at half or a quarter of its size, which is cheaper than shrinking it afterwards.
        opened.draft(None, (fitting[0] * 2, fitting[1] * 2))
    _mend_transparency(opened)
    load(opened)
    image = reduced(eight_bits(opened), limits.ORIGINAL_PIXELS)
    image.info = {name: value for name, value in opened.info.items() if name != "transparency"}
    # A picture is not refused because of broken EXIF data.
    with contextlib.suppress(Exception):
        ImageOps.exif_transpose(image, in_place=True)
    return image


def _mend_transparency(opened: Image.Image) -> None:
    """Scale the transparent colour of a PNG to eight bits, if its pixels are 2-bit or 4-bit greys or 16-bit colours."""
    transparent = opened.info.get("transparency")
    for tile in getattr(opened, "tile", ()):
        if tile.args in _FACTORS_OF_FEW_BITS and isinstance(transparent, int):
            opened.info["transparency"] = transparent * _FACTORS_OF_FEW_BITS[tile.args]
        elif tile.args == "RGB;16B" and isinstance(transparent, tuple):
            opened.info["transparency"] = tuple(value >> 8 for value in transparent)


def eight_bits(image: Image.Image) -> Image.Image:
    """Return the picture in mode L, LA, RGB, RGBA or CMYK, with transparency in the alpha channel; unchanged if it has such a
    mode. 16-bit values are scaled to 8 bits; values of mode F are assumed to be between 0 and 255.
    """
    if image.mode in _SIXTEEN_BITS:
        whole = image.convert("I")
        grey = whole.point(_EIGHT_OF_SIXTEEN, "L")
        transparent = image.info.get("transparency")
        if not isinstance(transparent, int):
            return grey
        return Image.merge("LA", (grey, whole.point([255 * (value != transparent) for value in _WHOLE], "L")))
    if image.mode in ("L", "LA", "RGB", "RGBA", "CMYK") and "transparency" not in image.info:
        return image
    if image.mode == "La":
        return image.convert("LA")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _plain(image: Image.Image, *, alpha: bool) -> Image.Image:
    """Return a picture of `eight_bits` as RGB or RGBA in sRGB, without metadata that an encoder could write."""
    transparency = image.getchannel("A") if image.has_transparency_data else None
    profile = image.info.get("icc_profile")
    if isinstance(profile, bytes) and profile:
        image = _in_srgb(image, profile)
    if image.mode != "RGB":
        # `convert` copies even an RGB picture, which would take as much memory again.
        image = image.convert("RGB")
    if transparency is not None and alpha:
        image.putalpha(transparency)
    elif transparency is not None:
        image = Image.composite(image, Image.new("RGB", image.size, "white"), transparency)
    image.info = {}
    return image


def _in_srgb(image: Image.Image, profile: bytes) -> Image.Image:
    """Return the picture converted from its profile to sRGB, without alpha; unchanged if the profile cannot be read or used."""
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        mode = _SPACES.get(source.profile.xcolor_space.strip(), "")
        if (
            not mode
            or (image.mode.removesuffix("A") != mode and mode != "RGB")
            or (image.mode == "CMYK") != (mode == "CMYK")
        ):
            return image
        transform = ImageCms.buildTransform(source, _SRGB, mode, "RGB")
        if mode in _SAMPLES and _changes_nothing(transform, _SAMPLES[mode]):
            return image
        return transform.apply(image.convert(mode))
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return image


def _changes_nothing(transform: ImageCms.ImageCmsTransform, sample: Image.Image) -> bool:
    """Tell whether a transform changes no colour visibly, which is common, because most profiles are sRGB under some name."""
    difference = ImageChops.difference(transform.apply(sample), sample.convert("RGB"))
    return all(
        most <= _UNSEEN_DIFFERENCE for _least, most in cast("tuple[tuple[int, int], ...]", difference.getextrema())
    )


def fitted_size(size: tuple[int, int], pixels: int) -> tuple[int, int]:
    """Return width and height in the same proportions, with at most `pixels` pixels in total."""
    width, height = size
    if width * height <= pixels:
        return size
    scale = math.sqrt(pixels / (width * height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def reduced(image: Image.Image, pixels: int) -> Image.Image:
    """Scale a picture of `eight_bits` down to at most `pixels` pixels, in its proportions."""
    fitting = fitted_size(image.size, pixels)
    if fitting == image.size:
        return image
    return image.resize(fitting, Resampling.BICUBIC, reducing_gap=2.0)


def write(image: Image.Image, target: str, output: IO[bytes], **options: Any) -> Facts:
    image.save(output, target, **{**_OPTIONS[target], **options})
    output.flush()
    return {
        "content_type": f"image/{target.lower()}",
        "extension": _EXTENSIONS[target],
        "width": image.width,
        "height": image.height,
        "byte_count": output.tell(),
    }


def blur(preview: Image.Image) -> str:
    """Return the blurhash with 4 x 4 components, on white, because the colours of transparent pixels are not visible."""
    small = _plain(eight_bits(preview).copy(), alpha=False)
    small.thumbnail((_BLUR_SIDE, _BLUR_SIDE), Resampling.BILINEAR)
    return blurhash.encode(small.tobytes(), small.width, small.height)
