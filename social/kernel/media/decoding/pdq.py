"""Computes PDQ, a perceptual hash of pictures: copies that were scaled or encoded again have nearly the same hash.

Source: "PDQ & TMK + PDQF" (Meta, ThreatExchange, 2019), whose constants these are. Pictures are scaled by Pillow rather than as
described there, which changes few of the 256 bits (docs/adr/0045).
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise
from operator import mul
from typing import IO, Any, Final

from PIL import Image, ImageFilter
from PIL.Image import Resampling

from social.kernel.media.decoding import pictures

_SIDE: Final = 64
_WAVES: Final = 16
_SAMPLED_SIDE: Final = 512
_CONTRAST_SHARE: Final = 90
_COSINES: Final = tuple(
    tuple(math.cos(math.pi / 2 / _SIDE * wave * (2 * place + 1)) for place in range(_SIDE))
    for wave in range(1, _WAVES + 1)
)


def hashed(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> dict[str, Any]:
    """Do the job HASHED: return the `hash_of` a picture, upright and on white, or of the first frame of an animation."""
    return hash_of(pictures.still(source, 2 * _SAMPLED_SIDE))


def hash_of(image: Image.Image) -> dict[str, Any]:
    """Return the `hash` of a picture as 64 hexadecimal digits, and its `quality` from 0 to 100. The quality is low if the
    picture has little contrast, because the hash then depends on chance.
    """
    grey = image.convert("L")
    size = (min(grey.width, _SAMPLED_SIDE), min(grey.height, _SAMPLED_SIDE))
    if size != grey.size:
        grey = grey.resize(size, Resampling.BOX)
    # The filter that the source describes, applied twice: every pixel becomes the mean of a box that is a 128th as wide and as
    # high as the picture.
    radius = ((math.ceil(size[0] / (2 * _SIDE)) - 1) / 2, (math.ceil(size[1] / (2 * _SIDE)) - 1) / 2)
    for _pass in range(2):
        grey = grey.filter(ImageFilter.BoxBlur(radius))
    pixels = grey.resize((_SIDE, _SIDE), Resampling.NEAREST).tobytes()
    rows = [pixels[start : start + _SIDE] for start in range(0, len(pixels), _SIDE)]
    across = [[sum(map(mul, row, wave)) for row in rows] for wave in _COSINES]
    waves = [sum(map(mul, column, wave)) for wave in _COSINES for column in across]
    middle = statistics.median(waves)
    bits = sum(1 << place for place, value in enumerate(waves) if value > middle)
    return {"hash": f"{bits:064x}", "quality": _quality(pixels)}


def _quality(pixels: bytes) -> int:
    beside = sum(
        abs(one - other) * 100 // 255 for place, (one, other) in enumerate(pairwise(pixels), start=1) if place % _SIDE
    )
    below = sum(abs(one - other) * 100 // 255 for one, other in zip(pixels, pixels[_SIDE:], strict=False))
    return min(100, (beside + below) // _CONTRAST_SHARE)
