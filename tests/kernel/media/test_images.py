"""Tests of uploaded pictures: they are encoded anew, or refused (security rows 1, 41)."""

from __future__ import annotations

import contextlib
import io
import struct
import zlib
from typing import Any

import pillow_heif
import pytest
from django.utils import translation
from PIL import Image, ImageCms, ImageSequence

from social.kernel.media import images
from social.kernel.media.decoding import pictures
from social.kernel.media.images import Moving, Picture, TooLong, Unidentified, Unsupported
from social.kernel.media.limits import ANIMATION_PIXELS, ORIGINAL_PIXELS
from tests.kernel.text.support import takes_at_most

pillow_heif.register_heif_opener()


def _saved(image: Image.Image, image_format: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, image_format, **options)
    return buffer.getvalue()


def process(data: bytes) -> Picture:
    """Return a processed picture, which remains usable after the block."""
    with images.process(io.BytesIO(data)) as picture:
        return Picture(picture.original.in_memory(), picture.preview.in_memory(), picture.blurhash)


def _opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def _png_header(width: int, height: int) -> bytes:
    """Return a PNG whose header declares a large size, with almost no data."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("image_format", "becomes", "extension"),
    [
        ("JPEG", "image/jpeg", "jpg"),
        ("PNG", "image/png", "png"),
        ("GIF", "image/png", "png"),
        ("WEBP", "image/webp", "webp"),
        ("AVIF", "image/jpeg", "jpg"),
        ("HEIF", "image/jpeg", "jpg"),
    ],
)
def test_every_accepted_type_is_served_as_one_that_browsers_show(image_format, becomes, extension) -> None:
    picture = process(_saved(Image.new("RGB", (60, 40), (200, 30, 30)), image_format))
    for rendition in (picture.original, picture.preview):
        assert (rendition.content_type, rendition.extension) == (becomes, extension)
        assert _opened(rendition.data).size == (60, 40)
    red, green, blue = _opened(picture.original.data).convert("RGB").getpixel((30, 20))
    assert (abs(red - 200), abs(green - 30), abs(blue - 30)) < (12, 12, 12)
    assert len(picture.blurhash) == 36


def test_small_pictures_keep_their_size_and_large_ones_are_fitted() -> None:
    picture = process(_saved(Image.new("RGB", (1600, 1200)), "JPEG"))
    assert picture.original.size == {"width": 1600, "height": 1200, "size": "1600x1200", "aspect": 1600 / 1200}
    assert (picture.preview.width, picture.preview.height) == (554, 416), "the nearest whole numbers"
    assert abs(picture.preview.width / picture.preview.height - 4 / 3) < 0.01
    large = process(_saved(Image.new("RGB", (5000, 3000)), "PNG"))
    assert abs(large.original.width * large.original.height / ORIGINAL_PIXELS - 1) < 0.001
    thin = process(_saved(Image.new("RGB", (32_767, 8)), "PNG"))
    assert thin.original.width == 32_767
    assert thin.preview.height == 8, "a side is never less than the nearest whole number"


def test_orientation_is_applied_and_no_metadata_survives() -> None:
    image = Image.new("RGB", (60, 40), "white")
    image.paste((255, 0, 0), (0, 0, 20, 20))
    exif = image.getexif()
    exif[0x0112] = 6  # the orientation means: rotate clockwise
    exif[0x010E] = "SECRET PLACE"
    exif.get_ifd(0x8825)[2] = (52.0, 30.0, 0.0)
    data = _saved(image, "JPEG", exif=exif, comment=b"SECRET COMMENT", quality=95)
    picture = process(data)
    shown = _opened(picture.original.data)
    assert shown.size == (40, 60)
    red, green, _blue = shown.getpixel((35, 5))
    assert red > 200
    assert green < 80
    for rendition in (picture.original, picture.preview):
        assert b"SECRET" not in rendition.data
        assert not _opened(rendition.data).getexif()


@pytest.mark.parametrize("image_format", ["PNG", "WEBP"])
def test_texts_and_profiles_inside_a_file_do_not_survive(image_format) -> None:
    from PIL.PngImagePlugin import PngInfo

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    info = PngInfo()
    info.add_text("Comment", "SECRET")
    info.add_itxt("XML:com.adobe.xmp", "<SECRET/>", zip=True)
    options = {"pnginfo": info} if image_format == "PNG" else {"exif": b"Exif\0\0SECRET", "xmp": b"<SECRET/>"}
    data = _saved(Image.new("RGB", (20, 20)), image_format, icc_profile=profile, **options)
    shown = _opened(process(data).original.data)
    assert not {"icc_profile", "exif", "xmp", "Comment", "XML:com.adobe.xmp"} & set(shown.info)


def test_data_after_the_picture_is_not_stored() -> None:
    data = _saved(Image.new("RGB", (20, 20)), "PNG") + b"PK\x03\x04 <script>alert(1)</script>"
    assert b"script" not in process(data).original.data


def test_a_broken_orientation_does_not_cost_the_picture() -> None:
    data = _saved(Image.new("RGB", (20, 30)), "WEBP", exif=b"Exif\0\0nonsense")
    assert process(data).original.height == 30


def test_transparency_is_kept_where_the_format_can() -> None:
    image = Image.new("RGBA", (20, 20), (0, 0, 0, 0))
    assert _opened(process(_saved(image, "PNG")).original.data).mode == "RGBA"
    palette = Image.new("P", (20, 20), 0)
    assert _opened(process(_saved(palette, "GIF", transparency=0)).original.data).mode == "RGBA"
    on_white = _opened(process(_saved(image, "AVIF")).original.data)
    assert on_white.convert("RGB").getpixel((5, 5)) == (255, 255, 255)


@pytest.mark.parametrize("image_format", ["PNG", "WEBP", "GIF"])
def test_the_blur_of_a_picture_shows_no_colour_that_is_transparent_in_it(image_format: str) -> None:
    seen = Image.new("RGB", (64, 48), "white")
    seen.paste((255, 0, 0), (20, 10, 44, 38))
    hidden = Image.new("RGB", seen.size, "blue")
    hidden.paste((255, 0, 0), (20, 10, 44, 38))
    transparency = Image.new("L", seen.size, 0)
    transparency.paste(255, (20, 10, 44, 38))
    hidden.putalpha(transparency)
    data = _saved(hidden, image_format, **{"lossless": True, "exact": True} if image_format == "WEBP" else {})
    assert process(data).blurhash == process(_saved(seen, "PNG")).blurhash


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "I;16", "CMYK"])
def test_every_mode_of_colour_is_drawn(mode) -> None:
    image_format = "JPEG" if mode == "CMYK" else "PNG"
    image = Image.new("RGBA", (800, 700)).convert("PA") if mode == "PA" else Image.new(mode, (800, 700))
    if mode == "PA":
        image = image.convert("LA")
    assert process(_saved(image, image_format)).preview.width < 800


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"RIFF\0\0\0\0WEBP",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"push graphic-context\nviewbox 0 0 1 1\nimage over 0,0 0,0 'https://127.0.0.1/'\npop graphic-context",
        b"%!PS-Adobe-3.0\n(file) run",
        b"ffconcat version 1.0\nfile '/etc/passwd'",
        _saved(Image.new("RGB", (20, 20)), "BMP"),
        _saved(Image.new("RGB", (20, 20)), "TIFF"),
        _saved(Image.new("RGB", (64, 64)), "JPEG")[:200],
        _png_header(100, 100),
    ],
)
def test_incomplete_pictures_and_other_types_are_refused(data) -> None:
    with pytest.raises(Unidentified):
        process(data)


@pytest.mark.verify
def test_random_damage_is_refused_or_drawn_and_nothing_else() -> None:
    import random

    chance = random.Random(7)
    for image_format in ("JPEG", "PNG", "GIF", "WEBP", "AVIF"):
        whole = _saved(Image.effect_noise((40, 40), 60).convert("RGB"), image_format)
        for _attempt in range(60):
            broken = bytearray(whole)
            for _hit in range(chance.randint(1, 8)):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            with contextlib.suppress(Unidentified, Unsupported):
                assert process(bytes(broken)).original.data


def test_too_many_pixels_are_refused_before_they_are_decoded() -> None:
    def refuse() -> None:
        with pytest.raises(Unsupported, match="30000x30000 images are not supported"):
            process(_png_header(30_000, 30_000))
        with pytest.raises(Unsupported, match="Images of this size are not supported"):
            process(_png_header(2**31 - 1, 2**31 - 1))
        with pytest.raises(Unsupported, match="5761x5760 images are not supported"):
            process(_png_header(5761, 5760))

    assert takes_at_most(200, refuse)
    with pytest.raises(Unsupported, match="961x960 images are not supported"):
        process(_saved(Image.new("P", (961, 960)), "GIF"))


def test_a_moving_gif_is_none_of_the_pictures() -> None:
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue", "green")]
    with pytest.raises(Moving):
        process(_saved(frames[0], "GIF", save_all=True, append_images=frames[1:]))


def test_an_animated_webp_stays_one_and_its_preview_stands_still() -> None:
    frames = [Image.new("RGB", (900, 600), colour) for colour in ("red", "blue", "green")]
    data = _saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], duration=[100, 200, 300], exif=b"SECRET")
    picture = process(data)
    assert picture.original.content_type == "image/webp"
    shown = _opened(picture.original.data)
    assert (shown.n_frames, shown.size) == (3, (900, 600))
    assert getattr(_opened(picture.preview.data), "n_frames", 1) == 1
    assert b"SECRET" not in picture.original.data


def test_an_animation_of_too_many_pixels_is_refused() -> None:
    shades = [number % 2 * 255 for number in range(ANIMATION_PIXELS // (400 * 400) + 1)]
    frames = [Image.new("L", (400, 400), shade) for shade in shades]
    data = _saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], duration=20)
    with pytest.raises(Unsupported, match="Animations of this size are not supported"):
        process(data)


def test_a_picture_is_refused_in_the_language_of_who_sent_it() -> None:
    frames = [Image.new("L", (8, 8), shade) for shade in (0, 255)]
    with translation.override("de"), pytest.raises(Unsupported) as refused:
        process(_saved(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    assert "unterstützt" in str(refused.value)


@pytest.mark.parametrize("size", [(1, 33_177_600), (33_177_600, 1), (32_768, 1), (1, 32_768)])
def test_row_56_a_picture_of_extreme_sides_is_refused_before_it_is_decoded(size: tuple[int, int]) -> None:
    with pytest.raises(Unsupported, match=f"{size[0]}x{size[1]} images are not supported"):
        process(_png_header(*size))


def test_row_56_a_long_panorama_is_taken() -> None:
    assert process(_saved(Image.new("L", (32_767, 10)), "PNG")).original.width == 32_767


#: A value in each mode of Pillow, and the visible colour.
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
def test_every_mode_of_pillow_keeps_its_colours(mode: str) -> None:
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
def test_every_kind_of_png_is_shown_as_it_was_drawn(data: bytes, seen: list[tuple[int, ...]]) -> None:
    """Each bit depth and colour type of PNG, with and without a transparent colour (W3C PNG, section 11.2)."""
    shown = _opened(process(data).original.data).convert("RGBA")
    assert [shown.getpixel((x, 0)) for x in range(len(seen))] == seen


@pytest.mark.parametrize("deep", [False, True])
def test_a_grey_heic_of_ten_or_twelve_bits_keeps_its_greys(deep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pillow_heif.options, "SAVE_HDR_TO_12_BIT", deep)
    row = struct.pack("<256H", *(value * 257 for value in range(256)))
    buffer = io.BytesIO()
    pillow_heif.from_bytes(mode="I;16", size=(256, 16), data=row * 16).save(buffer, quality=-1)
    shown = _opened(process(buffer.getvalue()).original.data).convert("L")
    assert all(abs(int(shown.getpixel((value, 8))) - value) <= 3 for value in range(0, 256, 15))


def _moving(image_format: str, **options: Any) -> bytes:
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("red", "blue", "lime")]
    return _saved(frames[0], image_format, save_all=True, append_images=frames[1:], duration=[100, 200, 300], **options)


@pytest.mark.parametrize(("image_format", "becomes"), [("PNG", "PNG"), ("AVIF", "WEBP"), ("WEBP", "WEBP")])
def test_an_animated_picture_stays_animated_in_posts_and_profiles(image_format: str, becomes: str) -> None:
    data = _moving(image_format)
    picture = process(data)
    with images.draw(io.BytesIO(data), images.Shape(30, 30, cropped=True)) as drawing:
        assert drawing.still is not None
        small, still = _opened(drawing.shown.data), _opened(drawing.still.data)
    for moving in (_opened(picture.original.data), small):
        assert (moving.format, moving.n_frames) == (becomes, 3)
        times, colours = [], []
        for frame in ImageSequence.Iterator(moving):
            colours.append(max(range(3), key=frame.convert("RGB").getpixel((5, 5)).__getitem__))
            times.append(frame.info["duration"])
        assert (times, colours) == ([100, 200, 300], [0, 2, 1])
    for motionless in (_opened(picture.preview.data), still):
        assert getattr(motionless, "n_frames", 1) == 1


def test_the_picture_of_an_animated_png_for_those_who_see_no_motion_is_no_frame() -> None:
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("white", "red", "blue")]
    data = _saved(frames[0], "PNG", save_all=True, append_images=frames[1:], default_image=True, duration=100)
    picture = process(data)
    moving = _opened(picture.original.data)
    assert moving.n_frames == 2
    assert moving.convert("RGB").getpixel((5, 5)) == (255, 0, 0)
    assert _opened(picture.preview.data).convert("RGB").getpixel((5, 5)) == (255, 255, 255)


def test_frames_are_in_srgb_like_pictures_that_stand_still() -> None:
    data = _moving("PNG", icc_profile=_linear(b""))
    moving = _opened(process(data).original.data)
    assert moving.n_frames == 3
    assert "icc_profile" not in moving.info


def _linear(name: bytes, space: bytes = b"RGB ") -> bytes:
    """Return a linear colour profile with sRGB's primaries: its 55 equals 128 in sRGB."""

    def tag(kind: bytes, body: bytes) -> bytes:
        return kind + bytes(4) + body

    def point(*values: float) -> bytes:
        return tag(b"XYZ ", b"".join(struct.pack(">i", round(value * 65536)) for value in values))

    tags = {
        b"desc": tag(b"desc", struct.pack(">I", len(name) + 1) + name + b"\0" + bytes(78)),
        b"wtpt": point(0.9642, 1.0, 0.8249),
        b"rXYZ": point(0.4360, 0.2225, 0.0139),
        b"gXYZ": point(0.3851, 0.7169, 0.0971),
        b"bXYZ": point(0.1431, 0.0606, 0.7141),
        **dict.fromkeys((b"rTRC", b"gTRC", b"bTRC", b"kTRC"), tag(b"curv", bytes(4))),
    }
    body, table = b"", struct.pack(">I", len(tags))
    for signature, content in tags.items():
        content += bytes(-len(content) % 4)
        table += signature + struct.pack(">II", 132 + 12 * len(tags) + len(body), len(content))
        body += content
    length = 128 + len(table) + len(body)
    head = struct.pack(">I4sI4s4s4s", length, b"", 0x02100000, b"mntr", space, b"XYZ ") + bytes(12) + b"acsp"
    return head.ljust(68, b"\0") + struct.pack(">3i", 63190, 65536, 54061) + bytes(48) + table + body


@pytest.mark.parametrize("name", [b"linear", b"Linear sRGB", b"sRGB IEC61966-2.1"])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L"])
def test_a_profile_is_known_by_what_it_does_and_not_by_its_name(name: bytes, mode: str) -> None:
    image = Image.new("RGB", (20, 20), (55, 55, 55))
    image = image.quantize(4) if mode == "P" else image.convert(mode)
    shown = _opened(process(_saved(image, "PNG", icc_profile=_linear(name))).original.data)
    assert all(abs(value - 128) <= 1 for value in shown.convert("RGB").getpixel((5, 5)))


@pytest.mark.parametrize("mode", ["L", "LA", "I;16"])
def test_a_profile_of_greys_is_taken_for_greys(mode: str) -> None:
    value: Any = {"L": 55, "LA": (55, 77), "I;16": 55 * 257}[mode]
    image = Image.new(mode, (20, 20), value)
    shown = _opened(process(_saved(image, "PNG", icc_profile=_linear(b"", b"GRAY"))).original.data)
    seen = shown.convert("RGBA").getpixel((5, 5))
    assert all(abs(one - 128) <= 1 for one in seen[:3])
    assert seen[3] == (77 if mode == "LA" else 255)


@pytest.mark.parametrize("space", [b"CMYK", b"Lab ", b"6CLR"])
def test_a_colour_profile_for_another_picture_mode_is_ignored(space: bytes) -> None:
    image = Image.new("RGB", (20, 20), (55, 90, 120))
    shown = _opened(process(_saved(image, "PNG", icc_profile=_linear(b"", space))).original.data)
    assert shown.getpixel((5, 5)) == (55, 90, 120)


def test_a_profile_that_changes_nothing_costs_no_colour() -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    image = Image.effect_noise((60, 40), 80).convert("RGB")
    shown = _opened(process(_saved(image, "PNG", icc_profile=profile)).original.data)
    assert shown.tobytes() == image.tobytes()


def test_the_first_frame_of_an_animation_that_is_too_long_can_be_drawn() -> None:
    frames = [Image.new("L", (400, 400), number % 2 * 255) for number in range(ANIMATION_PIXELS // (400 * 400) + 1)]
    data = _saved(frames[0], "PNG", save_all=True, append_images=frames[1:], duration=20, compress_level=1)
    with pytest.raises(TooLong):
        process(data)
    with images.process(io.BytesIO(data), still=True) as picture:
        assert getattr(_opened(picture.original.data), "n_frames", 1) == 1


def test_a_broken_animation_is_shown_by_its_first_frame() -> None:
    whole = _moving("PNG")
    broken = whole[: whole.rindex(b"fcTL") + 8]
    assert _opened(process(broken).original.data).convert("RGB").getpixel((5, 5)) == (255, 0, 0)


def test_a_png_with_large_or_broken_text_chunks_is_accepted() -> None:
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("workflow", "x" * 3_000_000, zip=True)
    for number in range(60):
        info.add_text(f"note{number}", "y")
    data = bytearray(_saved(Image.new("RGB", (20, 20), (200, 30, 30)), "PNG", pnginfo=info))
    data[data.index(b"tEXt") + 6] ^= 1
    assert _opened(process(bytes(data)).original.data).getpixel((5, 5)) == (200, 30, 30)
    data[data.index(b"IHDR") + 18] ^= 1
    with pytest.raises(Unidentified):
        process(bytes(data))


@pytest.mark.parametrize("image_format", ["GIF", "PNG", "WEBP"])
def test_frames_of_an_avatar_leave_nothing_of_the_frame_before(image_format: str) -> None:
    frames = []
    for box, colour in (((5, 5, 25, 25), "red"), ((35, 35, 55, 55), "blue")):
        frame = Image.new("RGBA", (60, 60), (0, 0, 0, 0))
        frame.paste(colour, box)
        frames.append(frame)
    disposal = {"GIF": {"disposal": 2}, "PNG": {"disposal": 1}}.get(image_format, {})
    data = _saved(frames[0], image_format, save_all=True, append_images=frames[1:], duration=100, loop=0, **disposal)
    with images.draw(io.BytesIO(data), images.Shape(60, 60, cropped=True)) as drawing:
        shown = _opened(drawing.shown.data)
        seen = [
            [frame.convert("RGBA").getpixel(place)[3] for place in ((15, 15), (45, 45), (58, 2))]
            for frame in ImageSequence.Iterator(shown)
        ]
    assert seen == [[255, 0, 0], [0, 255, 0]]


def test_a_black_ground_in_a_gif_stays_black() -> None:
    second = Image.new("RGB", (120, 120), "black")
    second.paste("white", (30, 30, 90, 90))
    data = _saved(Image.new("RGB", (120, 120), "white"), "GIF", save_all=True, append_images=[second], duration=500)
    with images.draw(io.BytesIO(data), images.Shape(120, 120, cropped=True)) as drawing:
        shown = _opened(drawing.shown.data)
        shown.seek(1)
        assert shown.convert("RGBA").getpixel((2, 2)) == (0, 0, 0, 255)


@pytest.mark.parametrize("image_format", ["WEBP", "PNG"])
def test_orientation_is_applied_to_what_moves(image_format: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    shown = _opened(process(_moving(image_format, exif=exif)).original.data)
    assert (shown.size, shown.n_frames) == ((40, 60), 3)


def test_a_cmyk_jpeg_is_not_inverted() -> None:
    data = _saved(Image.new("CMYK", (20, 20), (0, 255, 255, 0)), "JPEG", quality=95)
    red, green, blue = _opened(process(data).original.data).getpixel((5, 5))
    assert red > 240
    assert max(green, blue) < 15
