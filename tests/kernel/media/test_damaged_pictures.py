"""Tests of truncated pictures, as after an interrupted upload or copy."""

import io
from typing import Any

import pillow_heif
import pytest
from PIL import Image, ImageChops

from social.kernel.media import images
from social.kernel.media.images import Shape, Unidentified

pillow_heif.register_heif_opener()
SIZE = (320, 240)


def _drawn() -> Image.Image:
    grey = Image.radial_gradient("L").resize(SIZE)
    return Image.merge("RGB", (grey, grey.rotate(40), ImageChops.offset(grey, 50)))


def _encoded(image_format: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    _drawn().save(buffer, image_format, **options)
    return buffer.getvalue()


def _moving(image_format: str) -> bytes:
    more = [_drawn().rotate(90), _drawn().rotate(45)]
    return _encoded(image_format, save_all=True, append_images=more, duration=100)


def _shown(data: bytes) -> Image.Image:
    with images.process(io.BytesIO(data)) as picture:
        return Image.open(io.BytesIO(picture.original.in_memory().data)).convert("RGB")


CUT = {
    "JPEG": _encoded("JPEG"),
    "progressive JPEG": _encoded("JPEG", progressive=True),
    "PNG": _encoded("PNG"),
    "GIF": _encoded("GIF", interlace=0),
    "animated PNG": _moving("PNG"),
}


@pytest.mark.parametrize("part", [0.99, 0.6, 0.3])
@pytest.mark.parametrize("name", CUT)
def test_a_truncated_picture_is_shown_as_far_as_it_can_be_decoded(name: str, part: float) -> None:
    data = CUT[name]
    shown = _shown(data[: int(len(data) * part)])
    assert shown.size == SIZE
    top = (0, 0, SIZE[0], 16)
    difference = ImageChops.difference(shown.crop(top), _shown(data).crop(top)).convert("L")
    assert sum(difference.tobytes()) / (SIZE[0] * 16) < 12


@pytest.mark.parametrize("name", CUT)
def test_a_picture_of_which_nothing_can_be_decoded_is_refused(name: str) -> None:
    for length in (40, 60):
        with pytest.raises(Unidentified):
            _shown(CUT[name][:length])


@pytest.mark.parametrize("image_format", ["WEBP", "AVIF", "HEIF"])
def test_a_truncated_picture_of_a_format_without_partial_decoding_is_refused(image_format: str) -> None:
    data = _encoded(image_format)
    with pytest.raises(Unidentified):
        _shown(data[: len(data) // 2])


def test_a_complete_picture_of_one_colour_is_accepted() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", SIZE, "white").save(buffer, "PNG")
    assert _shown(buffer.getvalue()).getpixel((0, 0)) == (255, 255, 255)


def test_truncated_avatars_and_animated_emojis_are_shown() -> None:
    for name in ("JPEG", "animated PNG"):
        data = CUT[name][: int(len(CUT[name]) * 0.6)]
        with images.draw(io.BytesIO(data), Shape(100, 100, cropped=True)) as drawn:
            assert drawn.shown.size["size"] == "100x100"
