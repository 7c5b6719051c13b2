"""Tests of uploaded animations: they stay animated, and animations that are too large are refused."""

import io

import pytest
from PIL import Image, ImageSequence

from social.kernel.media import images
from social.kernel.media.images import Moving, TooLong, Unsupported
from social.kernel.media.limits import ANIMATION_PIXELS
from tests.kernel.media.pictures_of_tests import linear, moving_picture, opened, process, saved


def test_an_animated_gif_is_refused_as_a_picture() -> None:
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue", "green")]
    with pytest.raises(Moving):
        process(saved(frames[0], "GIF", save_all=True, append_images=frames[1:]))


def test_an_animated_webp_stays_animated_and_its_preview_is_still() -> None:
    frames = [Image.new("RGB", (900, 600), colour) for colour in ("red", "blue", "green")]
    data = saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], duration=[100, 200, 300], exif=b"SECRET")
    picture = process(data)
    assert picture.original.content_type == "image/webp"
    shown = opened(picture.original.data)
    assert (shown.n_frames, shown.size) == (3, (900, 600))
    assert getattr(opened(picture.preview.data), "n_frames", 1) == 1
    assert b"SECRET" not in picture.original.data


def test_an_animation_with_too_many_pixels_is_refused() -> None:
    shades = [number % 2 * 255 for number in range(ANIMATION_PIXELS // (400 * 400) + 1)]
    frames = [Image.new("L", (400, 400), shade) for shade in shades]
    data = saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], duration=20)
    with pytest.raises(Unsupported, match="Animations of this size are not supported"):
        process(data)


@pytest.mark.parametrize(("image_format", "becomes"), [("PNG", "PNG"), ("AVIF", "WEBP"), ("WEBP", "WEBP")])
def test_an_animated_picture_stays_animated_in_posts_and_profiles(image_format: str, becomes: str) -> None:
    data = moving_picture(image_format)
    picture = process(data)
    with images.draw(io.BytesIO(data), images.Shape(30, 30, cropped=True)) as drawing:
        assert drawing.still is not None
        small, still = opened(drawing.shown.data), opened(drawing.still.data)
    for moving in (opened(picture.original.data), small):
        assert (moving.format, moving.n_frames) == (becomes, 3)
        times, colours = [], []
        for frame in ImageSequence.Iterator(moving):
            colours.append(max(range(3), key=frame.convert("RGB").getpixel((5, 5)).__getitem__))
            times.append(frame.info["duration"])
        assert (times, colours) == ([100, 200, 300], [0, 2, 1])
    for motionless in (opened(picture.preview.data), still):
        assert getattr(motionless, "n_frames", 1) == 1


def test_the_default_image_of_an_animated_png_is_not_a_frame() -> None:
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("white", "red", "blue")]
    data = saved(frames[0], "PNG", save_all=True, append_images=frames[1:], default_image=True, duration=100)
    picture = process(data)
    moving = opened(picture.original.data)
    assert moving.n_frames == 2
    assert moving.convert("RGB").getpixel((5, 5)) == (255, 0, 0)
    assert opened(picture.preview.data).convert("RGB").getpixel((5, 5)) == (255, 255, 255)


def test_frames_are_converted_to_srgb_like_still_pictures() -> None:
    data = moving_picture("PNG", icc_profile=linear(b""))
    moving = opened(process(data).original.data)
    assert moving.n_frames == 3
    assert "icc_profile" not in moving.info


def test_the_first_frame_of_an_animation_that_is_too_long_can_be_drawn() -> None:
    frames = [Image.new("L", (400, 400), number % 2 * 255) for number in range(ANIMATION_PIXELS // (400 * 400) + 1)]
    data = saved(frames[0], "PNG", save_all=True, append_images=frames[1:], duration=20, compress_level=1)
    with pytest.raises(TooLong):
        process(data)
    with images.process(io.BytesIO(data), still=True) as picture:
        assert getattr(opened(picture.original.data), "n_frames", 1) == 1


def test_of_a_broken_animation_the_first_frame_is_shown() -> None:
    whole = moving_picture("PNG")
    broken = whole[: whole.rindex(b"fcTL") + 8]
    assert opened(process(broken).original.data).convert("RGB").getpixel((5, 5)) == (255, 0, 0)


@pytest.mark.parametrize("image_format", ["GIF", "PNG", "WEBP"])
def test_frames_of_an_avatar_show_nothing_of_the_previous_frame(image_format: str) -> None:
    frames = []
    for box, colour in (((5, 5, 25, 25), "red"), ((35, 35, 55, 55), "blue")):
        frame = Image.new("RGBA", (60, 60), (0, 0, 0, 0))
        frame.paste(colour, box)
        frames.append(frame)
    disposal = {"GIF": {"disposal": 2}, "PNG": {"disposal": 1}}.get(image_format, {})
    data = saved(frames[0], image_format, save_all=True, append_images=frames[1:], duration=100, loop=0, **disposal)
    with images.draw(io.BytesIO(data), images.Shape(60, 60, cropped=True)) as drawing:
        shown = opened(drawing.shown.data)
        seen = [
            [frame.convert("RGBA").getpixel(place)[3] for place in ((15, 15), (45, 45), (58, 2))]
            for frame in ImageSequence.Iterator(shown)
        ]
    assert seen == [[255, 0, 0], [0, 255, 0]]


def test_a_black_background_in_a_gif_stays_black() -> None:
    second = Image.new("RGB", (120, 120), "black")
    second.paste("white", (30, 30, 90, 90))
    data = saved(Image.new("RGB", (120, 120), "white"), "GIF", save_all=True, append_images=[second], duration=500)
    with images.draw(io.BytesIO(data), images.Shape(120, 120, cropped=True)) as drawing:
        shown = opened(drawing.shown.data)
        shown.seek(1)
        assert shown.convert("RGBA").getpixel((2, 2)) == (0, 0, 0, 255)


@pytest.mark.parametrize("image_format", ["WEBP", "PNG"])
def test_orientation_is_applied_to_animations(image_format: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    shown = opened(process(moving_picture(image_format, exif=exif)).original.data)
    assert (shown.size, shown.n_frames) == ((40, 60), 3)
