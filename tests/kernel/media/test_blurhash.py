"""Tests of blurhashes: clients must be able to decode them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from social.kernel.media.blurhash import encode

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"


def _gradient(width: int, height: int) -> bytes:
    return bytes(
        value
        for y in range(height)
        for x in range(width)
        for value in (x * 255 // width, y * 255 // height, (x + y) * 255 // (width + height))
    )


@pytest.mark.parametrize(
    ("width", "height", "components", "known"),
    [
        # Expected values, computed by the reference implementation in Python (blurhash 1.1.5).
        (8, 6, (4, 4), "UiF$If31a^xuzFNKfRnQenf9fRf6%eOTfPof"),
        (1, 1, (1, 1), "000000"),
        (16, 9, (3, 2), "BsGl3J2%wzu.R.ju"),
    ],
)
def test_known_pictures_have_the_expected_hash(width, height, components, known) -> None:
    assert encode(_gradient(width, height), width, height, *components) == known


def test_a_picture_of_one_colour_has_it_as_its_average() -> None:
    blurred = encode(bytes((120, 40, 200)) * 12, 4, 3)
    number = 0
    for digit in blurred[2:6]:
        number = number * 83 + DIGITS.index(digit)
    assert (number >> 16, number >> 8 & 255, number & 255) == (120, 40, 200)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_the_hash_of_any_picture_has_the_right_length(data) -> None:
    width, height = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 12))
    across, down = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    pixels = data.draw(st.binary(min_size=width * height * 3, max_size=width * height * 3))
    blurred = encode(pixels, width, height, across, down)
    assert len(blurred) == 4 + 2 * across * down
    assert set(blurred) <= set(DIGITS)


@pytest.mark.parametrize("arguments", [(b"", 0, 0), (b"abc", 2, 1), (b"abc", 1, 1, 10, 4), (b"abc", 1, 1, 4, 0)])
def test_a_wrong_number_of_pixels_or_components_is_refused(arguments) -> None:
    with pytest.raises(ValueError):
        encode(*arguments)
