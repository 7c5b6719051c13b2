"""Colours for a media player, taken from a cover: the background, the text on it, and an accent."""

import colorsys
from typing import Final, cast

from PIL import Image
from PIL.Image import Quantize

from social.kernel.colours import Rgb, contrast_of_rgb

_SIDE: Final = 64
_COLOURS: Final = 16
#: Contrast ratios of WCAG 2.1, section 1.4: of text, and of everything else that must be recognised.
_READABLE: Final = 4.5
_VISIBLE: Final = 3.0
_STEPS: Final = 20


def colours_of(cover: Image.Image) -> dict[str, str]:
    """Return `background`, `foreground` and `accent` of a picture, as `#rrggbb` (contract, entities "MediaAttachment", meta).
    The background is the most frequent colour at the edges; foreground and accent contrast with it by 4.5 to 1 and 3 to 1 if
    possible.
    """
    small = cover.convert("RGB").resize((_SIDE, _SIDE))
    background = _prevailing(_edges(small))[0]
    candidates = _prevailing(small)
    foreground = max(candidates, key=lambda colour: contrast_of_rgb(colour, background))
    lively = [colour for colour in candidates if contrast_of_rgb(colour, background) >= _VISIBLE]
    accent = max(lively, key=_saturation, default=foreground)
    return {
        "background": _written(background),
        "foreground": _written(_readable(foreground, background, _READABLE)),
        "accent": _written(_readable(accent, background, _VISIBLE)),
    }


def _edges(image: Image.Image) -> Image.Image:
    """Return the outermost tenth of each side; the four parts are joined into one strip."""
    width = _SIDE // 10
    strip = Image.new("RGB", (_SIDE, width * 4))
    strip.paste(image.crop((0, 0, _SIDE, width)), (0, 0))
    strip.paste(image.crop((0, _SIDE - width, _SIDE, _SIDE)), (0, width))
    for row, left in ((2, 0), (3, _SIDE - width)):
        strip.paste(image.crop((left, 0, left + width, _SIDE)).resize((_SIDE, width)), (0, width * row))
    return strip


def _prevailing(image: Image.Image) -> list[Rgb]:
    """Return the colours of a picture, the most frequent first."""
    reduced = image.quantize(_COLOURS, method=Quantize.MEDIANCUT)
    palette = reduced.getpalette() or []
    # For a picture with a palette, `getcolors` returns indexes of the palette.
    counted = cast("list[tuple[int, int]]", reduced.getcolors() or [])
    ordered = sorted(counted, reverse=True)
    return [(palette[index * 3], palette[index * 3 + 1], palette[index * 3 + 2]) for _count, index in ordered]


def _saturation(colour: Rgb) -> float:
    red, green, blue = colour
    return colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)[2]


def _readable(colour: Rgb, background: Rgb, ratio: float) -> Rgb:
    """Return the colour, made lighter or darker until it contrasts with the background, at most until it is white or black."""
    if contrast_of_rgb(colour, background) >= ratio:
        return colour
    target = max(((255, 255, 255), (0, 0, 0)), key=lambda end: contrast_of_rgb(end, background))
    for step in range(1, _STEPS):
        red, green, blue = (
            round(part + (end - part) * step / _STEPS) for part, end in zip(colour, target, strict=True)
        )
        if contrast_of_rgb((red, green, blue), background) >= ratio:
            return red, green, blue
    return target


def _written(colour: Rgb) -> str:
    red, green, blue = colour
    return f"#{red:02x}{green:02x}{blue:02x}"
