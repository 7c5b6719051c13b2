"""Palettes of the pages, made from one colour, with enough contrast in both themes (WCAG 2.2, 1.4.3: 4.5 to 1 for text)."""

import colorsys
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CONTRAST: Final = 4.5  # minimum contrast between text and its background
_HEX: Final = re.compile(r"#[0-9a-f]{6}")
# Backgrounds of the page and of cards, in the light and in the dark theme. The tint of notices is mixed from the background of
# cards.
_LIGHT: Final = ("#f6f5f1", "#ffffff")
_DARK: Final = ("#12171a", "#1a2125")
_LIGHTNESS_STEPS: Final = 200

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of a theme (`#rrggbb`): links and buttons, hovered links and buttons, text on buttons, background of notices."""

    accent: str
    accent_over: str
    on_accent: str
    tint: str


@dataclass(frozen=True, slots=True)
class Palette:
    light: Theme
    dark: Theme


def parse_colour(text: str) -> str | None:
    """Return a colour as `#rrggbb` in lower case. The text may be written as `#rgb` or without `#`; None for any other text."""
    digits = text.strip().lower().removeprefix("#")
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    return f"#{digits}" if _HEX.fullmatch(f"#{digits}") else None


def contrast(one: str, other: str) -> float:
    return contrast_of_rgb(_rgb(one), _rgb(other))


def contrast_of_rgb(one: Rgb, other: Rgb) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio")."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def make_palette(colour: str) -> Palette:
    """Return the themes for a colour (`#rrggbb`). The colour's lightness is changed only as far as needed for the CONTRAST of
    links with the page, cards and notices, and of buttons with their text.
    """
    return Palette(light=_with_contrast(colour, _LIGHT, darker=True), dark=_with_contrast(colour, _DARK, darker=False))


def _with_contrast(colour: str, backgrounds: Sequence[str], *, darker: bool) -> Theme:
    hue, lightness, saturation = colorsys.rgb_to_hls(*(part / 255 for part in _rgb(colour)))
    end = 0.0 if darker else 1.0
    for step in range(_LIGHTNESS_STEPS + 1):
        moved = lightness + (end - lightness) * step / _LIGHTNESS_STEPS
        theme = _theme(hue, moved, saturation, backgrounds[1], darker=darker)
        behind = (*backgrounds, theme.tint, theme.on_accent)
        if all(contrast(one, accent) >= CONTRAST for one in behind for accent in (theme.accent, theme.accent_over)):
            break
    return theme


def _theme(hue: float, lightness: float, saturation: float, card: str, *, darker: bool) -> Theme:
    accent = _hex_of(hue, lightness, saturation)
    over = lightness * 0.82 if darker else lightness + (1 - lightness) * 0.25
    return Theme(
        accent=accent,
        accent_over=_hex_of(hue, over, saturation),
        on_accent="#ffffff" if darker else _hex_of(hue, 0.08, saturation * 0.6),
        tint=_mixed(accent, card, 0.11 if darker else 0.13),
    )


def _hex_of(hue: float, lightness: float, saturation: float) -> str:
    return "#" + "".join(f"{round(part * 255):02x}" for part in colorsys.hls_to_rgb(hue, lightness, saturation))


def _mixed(one: str, other: str, share: float) -> str:
    parts = zip(_rgb(one), _rgb(other), strict=True)
    return "#" + "".join(f"{round(first * share + second * (1 - share)):02x}" for first, second in parts)


def _rgb(colour: str) -> Rgb:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(rgb: Rgb) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (value / 255 for value in rgb)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
