"""Tests of uploaded pictures: they are encoded again, or refused (security rows 1, 41)."""

import contextlib

import pytest
from django.utils import translation
from PIL import Image, ImageCms

from social.kernel.media.images import Unidentified, Unsupported
from social.kernel.media.limits import ORIGINAL_PIXELS
from tests.kernel.media.pictures_of_tests import opened, png_header, process, saved
from tests.kernel.text.support import takes_at_most


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
def test_every_accepted_type_is_served_in_a_format_that_browsers_show(image_format, becomes, extension) -> None:
    picture = process(saved(Image.new("RGB", (60, 40), (200, 30, 30)), image_format))
    for rendition in (picture.original, picture.preview):
        assert (rendition.content_type, rendition.extension) == (becomes, extension)
        assert opened(rendition.data).size == (60, 40)
    red, green, blue = opened(picture.original.data).convert("RGB").getpixel((30, 20))
    assert (abs(red - 200), abs(green - 30), abs(blue - 30)) < (12, 12, 12)
    assert len(picture.blurhash) == 36


def test_small_pictures_keep_their_size_and_large_ones_are_scaled_down() -> None:
    picture = process(saved(Image.new("RGB", (1600, 1200)), "JPEG"))
    assert picture.original.size == {"width": 1600, "height": 1200, "size": "1600x1200", "aspect": 1600 / 1200}
    assert (picture.preview.width, picture.preview.height) == (554, 416), "sides are rounded to the nearest integer"
    assert abs(picture.preview.width / picture.preview.height - 4 / 3) < 0.01
    large = process(saved(Image.new("RGB", (5000, 3000)), "PNG"))
    assert abs(large.original.width * large.original.height / ORIGINAL_PIXELS - 1) < 0.001
    thin = process(saved(Image.new("RGB", (32_767, 8)), "PNG"))
    assert thin.original.width == 32_767
    assert thin.preview.height == 8, "a side is rounded, not truncated"


def test_orientation_is_applied_and_metadata_is_removed() -> None:
    image = Image.new("RGB", (60, 40), "white")
    image.paste((255, 0, 0), (0, 0, 20, 20))
    exif = image.getexif()
    exif[0x0112] = 6  # the value of this orientation means "rotate clockwise"
    exif[0x010E] = "SECRET PLACE"
    exif.get_ifd(0x8825)[2] = (52.0, 30.0, 0.0)
    data = saved(image, "JPEG", exif=exif, comment=b"SECRET COMMENT", quality=95)
    picture = process(data)
    shown = opened(picture.original.data)
    assert shown.size == (40, 60)
    red, green, _blue = shown.getpixel((35, 5))
    assert red > 200
    assert green < 80
    for rendition in (picture.original, picture.preview):
        assert b"SECRET" not in rendition.data
        assert not opened(rendition.data).getexif()


@pytest.mark.parametrize("image_format", ["PNG", "WEBP"])
def test_texts_and_profiles_in_a_file_are_removed(image_format) -> None:
    from PIL.PngImagePlugin import PngInfo

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    info = PngInfo()
    info.add_text("Comment", "SECRET")
    info.add_itxt("XML:com.adobe.xmp", "<SECRET/>", zip=True)
    options = {"pnginfo": info} if image_format == "PNG" else {"exif": b"Exif\0\0SECRET", "xmp": b"<SECRET/>"}
    data = saved(Image.new("RGB", (20, 20)), image_format, icc_profile=profile, **options)
    shown = opened(process(data).original.data)
    assert not {"icc_profile", "exif", "xmp", "Comment", "XML:com.adobe.xmp"} & set(shown.info)


def test_data_after_the_picture_is_removed() -> None:
    data = saved(Image.new("RGB", (20, 20)), "PNG") + b"PK\x03\x04 <script>alert(1)</script>"
    assert b"script" not in process(data).original.data


def test_a_picture_with_a_broken_orientation_is_accepted() -> None:
    data = saved(Image.new("RGB", (20, 30)), "WEBP", exif=b"Exif\0\0nonsense")
    assert process(data).original.height == 30


def test_transparency_is_kept_if_the_format_supports_it() -> None:
    image = Image.new("RGBA", (20, 20), (0, 0, 0, 0))
    assert opened(process(saved(image, "PNG")).original.data).mode == "RGBA"
    palette = Image.new("P", (20, 20), 0)
    assert opened(process(saved(palette, "GIF", transparency=0)).original.data).mode == "RGBA"
    on_white = opened(process(saved(image, "AVIF")).original.data)
    assert on_white.convert("RGB").getpixel((5, 5)) == (255, 255, 255)


@pytest.mark.parametrize("image_format", ["PNG", "WEBP", "GIF"])
def test_the_blurhash_ignores_colours_of_transparent_pixels(image_format: str) -> None:
    seen = Image.new("RGB", (64, 48), "white")
    seen.paste((255, 0, 0), (20, 10, 44, 38))
    hidden = Image.new("RGB", seen.size, "blue")
    hidden.paste((255, 0, 0), (20, 10, 44, 38))
    transparency = Image.new("L", seen.size, 0)
    transparency.paste(255, (20, 10, 44, 38))
    hidden.putalpha(transparency)
    data = saved(hidden, image_format, **{"lossless": True, "exact": True} if image_format == "WEBP" else {})
    assert process(data).blurhash == process(saved(seen, "PNG")).blurhash


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
        saved(Image.new("RGB", (20, 20)), "BMP"),
        saved(Image.new("RGB", (20, 20)), "TIFF"),
        saved(Image.new("RGB", (64, 64)), "JPEG")[:200],
        png_header(100, 100),
    ],
)
def test_incomplete_pictures_and_other_types_are_refused(data) -> None:
    with pytest.raises(Unidentified):
        process(data)


@pytest.mark.verify
def test_randomly_damaged_pictures_are_either_refused_or_redrawn() -> None:
    import random

    chance = random.Random(7)
    for image_format in ("JPEG", "PNG", "GIF", "WEBP", "AVIF"):
        whole = saved(Image.effect_noise((40, 40), 60).convert("RGB"), image_format)
        for _attempt in range(60):
            broken = bytearray(whole)
            for _hit in range(chance.randint(1, 8)):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            with contextlib.suppress(Unidentified, Unsupported):
                assert process(bytes(broken)).original.data


def test_too_many_pixels_are_refused_before_they_are_decoded() -> None:
    def refuse() -> None:
        with pytest.raises(Unsupported, match="30000x30000 images are not supported"):
            process(png_header(30_000, 30_000))
        with pytest.raises(Unsupported, match="Images of this size are not supported"):
            process(png_header(2**31 - 1, 2**31 - 1))
        with pytest.raises(Unsupported, match="5761x5760 images are not supported"):
            process(png_header(5761, 5760))

    assert takes_at_most(200, refuse)
    with pytest.raises(Unsupported, match="961x960 images are not supported"):
        process(saved(Image.new("P", (961, 960)), "GIF"))


def test_a_refusal_is_in_the_language_of_the_uploader() -> None:
    frames = [Image.new("L", (8, 8), shade) for shade in (0, 255)]
    with translation.override("de"), pytest.raises(Unsupported) as refused:
        process(saved(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    assert "unterstützt" in str(refused.value)


@pytest.mark.parametrize("size", [(1, 33_177_600), (33_177_600, 1), (32_768, 1), (1, 32_768)])
def test_row_56_a_picture_with_an_extreme_side_is_refused_before_it_is_decoded(size: tuple[int, int]) -> None:
    with pytest.raises(Unsupported, match=f"{size[0]}x{size[1]} images are not supported"):
        process(png_header(*size))


def test_row_56_a_long_panorama_is_accepted() -> None:
    assert process(saved(Image.new("L", (32_767, 10)), "PNG")).original.width == 32_767


def test_a_png_with_large_or_broken_text_chunks_is_accepted() -> None:
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("workflow", "x" * 3_000_000, zip=True)
    for number in range(60):
        info.add_text(f"note{number}", "y")
    data = bytearray(saved(Image.new("RGB", (20, 20), (200, 30, 30)), "PNG", pnginfo=info))
    data[data.index(b"tEXt") + 6] ^= 1
    assert opened(process(bytes(data)).original.data).getpixel((5, 5)) == (200, 30, 30)
    data[data.index(b"IHDR") + 18] ^= 1
    with pytest.raises(Unidentified):
        process(bytes(data))
