"""Encodes a picture as a short text from which a blurred preview can be drawn (woltapp/blurhash "Algorithm.md")."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
_Colour = tuple[float, float, float]


def _to_linear(value: int) -> float:
    share = value / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


_LINEAR: Final = tuple(_to_linear(value) for value in range(256))


def _to_srgb(value: float) -> int:
    share = min(1.0, max(0.0, value))
    encoded = share * 12.92 if share <= 0.0031308 else 1.055 * share ** (1 / 2.4) - 0.055
    return int(encoded * 255 + 0.5)


def _base83(value: int, length: int) -> str:
    return "".join(_DIGITS[value // 83 ** (length - place) % 83] for place in range(1, length + 1))


@lru_cache(maxsize=32)
def _cosines(components: int, size: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(math.cos(math.pi * c * x / size) for x in range(size)) for c in range(components))


def _quantised(share: float) -> int:
    return max(0, min(18, math.floor(math.copysign(abs(share) ** 0.5, share) * 9 + 9.5)))


def encode(pixels: bytes, width: int, height: int, components_x: int = 4, components_y: int = 4) -> str:
    """Return the hash of `width` x `height` RGB pixels (three bytes each, row by row).

    A thumbnail of 64 pixels a side is enough, because the hash holds `components_x` x `components_y` waves (1 to 9 each), and
    the time grows with the number of pixels. Raises ValueError when the number of bytes or of components is wrong.
    """
    if not (1 <= components_x <= 9 and 1 <= components_y <= 9) or width < 1 or height < 1:
        raise ValueError("A hash has 1 to 9 components a side and at least one pixel.")
    if len(pixels) != width * height * 3:
        raise ValueError("Three bytes are needed for each pixel.")
    factors = _factors(pixels, width, height, components_x, components_y)
    average, waves = factors[0], factors[1:]
    parts = [_base83(components_x - 1 + (components_y - 1) * 9, 1)]
    largest = max((abs(part) for colour in waves for part in colour), default=0.0)
    quantised_largest = max(0, min(82, math.floor(largest * 166 - 0.5))) if waves else 0
    scale = (quantised_largest + 1) / 166 if waves else 1.0
    parts.append(_base83(quantised_largest, 1))
    red, green, blue = (_to_srgb(part) for part in average)
    parts.append(_base83(red << 16 | green << 8 | blue, 4))
    for colour in waves:
        red, green, blue = (_quantised(part / scale) for part in colour)
        parts.append(_base83(red * 361 + green * 19 + blue, 2))
    return "".join(parts)


def _factors(pixels: bytes, width: int, height: int, components_x: int, components_y: int) -> Sequence[_Colour]:
    """Return the coefficient of each wave. A wave is the product of a horizontal and a vertical wave, so each row is summed
    only once for each horizontal wave.
    """
    across = _cosines(components_x, width)
    down = _cosines(components_y, height)
    linear = [_LINEAR[value] for value in pixels]
    stride = width * 3
    rows: list[list[_Colour]] = []
    for start in range(0, len(linear), stride):
        red, green, blue = (linear[start + part : start + stride : 3] for part in range(3))
        rows.append([(_dot(red, wave), _dot(green, wave), _dot(blue, wave)) for wave in across])
    factors: list[_Colour] = []
    for j, vertical in enumerate(down):
        for i in range(components_x):
            scale = (1 if i == 0 and j == 0 else 2) / (width * height)
            sums = (sum(vertical[y] * rows[y][i][part] for y in range(height)) * scale for part in range(3))
            red_sum, green_sum, blue_sum = sums
            factors.append((red_sum, green_sum, blue_sum))
    return factors


def _dot(values: Sequence[float], wave: Sequence[float]) -> float:
    return sum(map(float.__mul__, values, wave))
