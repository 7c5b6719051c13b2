"""Tests of the colours of uploaded pictures: modes, kinds of PNG and colour profiles."""

import io
import struct
import zlib
from typing import Any

import pillow_heif
import pytest
from PIL import Image, ImageCms

from social.kernel.media.decoding import pictures
from tests.kernel.media.pictures_of_tests import linear, opened, process, saved


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "I;16", "CMYK"])
def test_pictures_of_every_colour_mode_are_redrawn(mode) -> None:
    image_format = "JPEG" if mode == "CMYK" else "PNG"
    image = Image.new("RGBA", (800, 700)).convert("PA") if mode == "PA" else Image.new(mode, (800, 700))
    if mode == "PA":
        image = image.convert("LA")
    assert process(saved(image, image_format)).preview.width < 800


#: A value in each of Pillow's modes, and the colour that users see.
_MODES = {
    "1": (255, (255, 255, 255)),
    "L": (128, (128, 128, 128)),
    "LA": ((128, 77), (128, 128, 128, 77)),
    "La": ((64, 128), (128, 128, 128, 128)),
    "P": (3, (30, 40, 50)),
    "PA": ((3, 77), (30, 40, 50, 77)),
    "RGB": ((200, 100, 50), (200, 100, 50)),
    "RGBA": ((200, 100, 50, 77), (200, 100, 50, 77)),
    "RGBa": ((100, 50, 25, 128), (200, 100, 50, 128)),
    "RGBX": ((200, 100, 50, 77), (200, 100, 50)),
    "CMYK": ((0, 255, 255, 0), (255, 0, 0)),
    "YCbCr": ((76, 85, 255), (254, 0, 0)),
    "LAB": ((255, 128, 128), (255, 255, 255)),
    "HSV": ((85, 255, 255), (0, 255, 2)),
    "I": (32_896, (128, 128, 128)),
    "F": (128.0, (128, 128, 128)),
    "I;16": (32_896, (128, 128, 128)),
    "I;16B": (32_896, (128, 128, 128)),
    "I;16L": (32_896, (128, 128, 128)),
    "I;16N": (32_896, (128, 128, 128)),
}


@pytest.mark.parametrize("mode", Image.MODES)
def test_colours_survive_in_every_mode_of_pillow(mode: str) -> None:
    value, seen = _MODES[mode]
    image = Image.new(mode, (400, 300))
    if mode in ("P", "PA"):
        image.putpalette(bytes(9) + bytes((30, 40, 50)))
    image.paste(value, (0, 0, 400, 300))
    whole = pictures.eight_bits(image)
    for shown in (whole, pictures.reduced(whole, 1000)):
        found = shown.convert("RGBA" if len(seen) == 4 else "RGB").getpixel((5, 5))
        assert isinstance(found, tuple)
        assert all(abs(one - other) <= 2 for one, other in zip(found, seen, strict=True)), (mode, found)


def _png(depth: int, kind: int, row: bytes, width: int, transparent: bytes = b"", palette: bytes = b"") -> bytes:
    """Return a PNG of any bit depth and colour type, which Pillow itself cannot write."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    parts = [chunk(b"IHDR", struct.pack(">IIBBBBB", width, 1, depth, kind, 0, 0, 0))]
    parts += [chunk(b"PLTE", palette)] if palette else []
    parts += [chunk(b"tRNS", transparent)] if transparent else []
    return b"\x89PNG\r\n\x1a\n" + b"".join([*parts, chunk(b"IDAT", zlib.compress(b"\0" + row)), chunk(b"IEND", b"")])


def _words(*values: int) -> bytes:
    return struct.pack(f">{len(values)}H", *values)


_HALF = (128, 128, 128, 255)


_CLEAR = (128, 128, 128, 0)


_BLACK, _WHITE = (0, 0, 0, 255), (255, 255, 255, 255)


_ORANGE = (200, 100, 50, 255)


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (_png(1, 0, b"\x40", 2), [_BLACK, _WHITE]),
        (_png(1, 0, b"\x40", 2, _words(1)), [_BLACK, (255, 255, 255, 0)]),
        (_png(2, 0, b"\x1b", 4), [_BLACK, (85, 85, 85, 255), (170, 170, 170, 255), _WHITE]),
        (_png(2, 0, b"\x1b", 4, _words(2)), [_BLACK, (85, 85, 85, 255), (170, 170, 170, 0), _WHITE]),
        (_png(4, 0, b"\x0f\x70", 3), [_BLACK, _WHITE, (119, 119, 119, 255)]),
        (_png(4, 0, b"\x0f\x70", 3, _words(7)), [_BLACK, _WHITE, (119, 119, 119, 0)]),
        (_png(8, 0, b"\x00\x80\xff", 3, _words(128)), [_BLACK, _CLEAR, _WHITE]),
        (_png(16, 0, _words(0, 32_896, 65_535), 3), [_BLACK, _HALF, _WHITE]),
        (_png(16, 0, _words(0, 32_896, 65_535), 3, _words(32_896)), [_BLACK, _CLEAR, _WHITE]),
        (_png(16, 0, _words(32_895, 32_896), 2, _words(32_896)), [_HALF, _CLEAR]),
        (_png(8, 2, bytes((200, 100, 50, 0, 0, 0)), 2, _words(0, 0, 0)), [_ORANGE, (0, 0, 0, 0)]),
        (_png(16, 2, _words(51_400, 25_700, 12_850), 1), [_ORANGE]),
        (_png(16, 2, _words(51_400, 25_700, 12_850), 1, _words(51_400, 25_700, 12_850)), [(200, 100, 50, 0)]),
        (_png(16, 2, _words(51_300, 25_650, 12_800), 1, _words(51_300, 25_650, 12_800)), [(200, 100, 50, 0)]),
        (_png(2, 3, b"\x1b", 4, b"\xff\x80", bytes(range(10, 130, 10))), [(10, 20, 30, 255), (40, 50, 60, 128)]),
        (_png(8, 4, b"\x80\x00\x80\xff", 2), [_CLEAR, _HALF]),
        (_png(16, 4, _words(32_896, 0, 32_896, 65_535), 2), [_CLEAR, _HALF]),
        (_png(8, 6, bytes((200, 100, 50, 255)), 1), [_ORANGE]),
        (_png(16, 6, _words(51_400, 25_700, 12_850, 65_535), 1), [_ORANGE]),
    ],
)
def test_every_kind_of_png_keeps_its_colours(data: bytes, seen: list[tuple[int, ...]]) -> None:
    """The cases are each bit depth and colour type of PNG, with and without a transparent colour (W3C PNG, section 11.2)."""
    shown = opened(process(data).original.data).convert("RGBA")
    assert [shown.getpixel((x, 0)) for x in range(len(seen))] == seen


@pytest.mark.parametrize("deep", [False, True])
def test_a_grey_heic_of_ten_or_twelve_bits_keeps_its_shades(deep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pillow_heif.options, "SAVE_HDR_TO_12_BIT", deep)
    row = struct.pack("<256H", *(value * 257 for value in range(256)))
    buffer = io.BytesIO()
    pillow_heif.from_bytes(mode="I;16", size=(256, 16), data=row * 16).save(buffer, quality=-1)
    shown = opened(process(buffer.getvalue()).original.data).convert("L")
    assert all(abs(int(shown.getpixel((value, 8))) - value) <= 3 for value in range(0, 256, 15))


@pytest.mark.parametrize("name", [b"linear", b"Linear sRGB", b"sRGB IEC61966-2.1"])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L"])
def test_a_colour_profile_is_judged_by_its_effect_not_its_name(name: bytes, mode: str) -> None:
    image = Image.new("RGB", (20, 20), (55, 55, 55))
    image = image.quantize(4) if mode == "P" else image.convert(mode)
    shown = opened(process(saved(image, "PNG", icc_profile=linear(name))).original.data)
    assert all(abs(value - 128) <= 1 for value in shown.convert("RGB").getpixel((5, 5)))


@pytest.mark.parametrize("mode", ["L", "LA", "I;16"])
def test_a_grey_profile_is_applied_to_grey_pictures(mode: str) -> None:
    value: Any = {"L": 55, "LA": (55, 77), "I;16": 55 * 257}[mode]
    image = Image.new(mode, (20, 20), value)
    shown = opened(process(saved(image, "PNG", icc_profile=linear(b"", b"GRAY"))).original.data)
    seen = shown.convert("RGBA").getpixel((5, 5))
    assert all(abs(one - 128) <= 1 for one in seen[:3])
    assert seen[3] == (77 if mode == "LA" else 255)


@pytest.mark.parametrize("space", [b"CMYK", b"Lab ", b"6CLR"])
def test_a_colour_profile_for_another_picture_mode_is_ignored(space: bytes) -> None:
    image = Image.new("RGB", (20, 20), (55, 90, 120))
    shown = opened(process(saved(image, "PNG", icc_profile=linear(b"", space))).original.data)
    assert shown.getpixel((5, 5)) == (55, 90, 120)


def test_a_profile_without_effect_leaves_colours_unchanged() -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    image = Image.effect_noise((60, 40), 80).convert("RGB")
    shown = opened(process(saved(image, "PNG", icc_profile=profile)).original.data)
    assert shown.tobytes() == image.tobytes()


def test_a_cmyk_jpeg_is_not_inverted() -> None:
    data = saved(Image.new("CMYK", (20, 20), (0, 255, 255, 0)), "JPEG", quality=95)
    red, green, blue = opened(process(data).original.data).getpixel((5, 5))
    assert red > 240
    assert max(green, blue) < 15
