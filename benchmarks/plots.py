"""Draws what something costs against how much there is, as an SVG that needs nothing to be looked at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Final

RESULTS: Final = Path(__file__).resolve().parent / "results"
_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 190, 40, 50
_COLOURS: Final = ("#1f5fa8", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#0e7490", "#be123c", "#475569")

Point = tuple[float, float]


def draw(
    name: str,
    title: str,
    *,
    across: str,
    up: str,
    lines: Mapping[str, Sequence[Point]],
    aim: float | None = None,
    logarithmic: bool = True,
) -> Path:
    """Write `benchmarks/results/NAME.svg`: one line of (size, cost) points per name, `aim` as a dashed line; its path.

    `logarithmic`: sizes stand at the distance of their magnitudes. Costs begin at zero.
    """
    points = [point for line in lines.values() for point in line]
    sizes = sorted({size for size, _cost in points})
    highest = _round_up(max([cost for _size, cost in points] + ([aim] if aim is not None else [])))
    scale = math.log10 if logarithmic else float

    def x(size: float) -> float:
        first, last = scale(sizes[0]), scale(sizes[-1])
        share = 0.5 if first == last else (scale(size) - first) / (last - first)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(cost: float) -> float:
        return _HEIGHT - _BOTTOM - cost / highest * (_HEIGHT - _TOP - _BOTTOM)

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2:.0f}" y="{_HEIGHT - 10}" text-anchor="middle">{escape(across)}</text>',
        f'<text transform="translate(16 {_HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(up)}</text>',
    ]
    for part in range(5):
        cost = highest * part / 4
        drawn.append(f'<path d="M{_LEFT} {y(cost):.1f}H{_WIDTH - _RIGHT}" stroke="#d4d4d8"/>')
        drawn.append(f'<text x="{_LEFT - 6}" y="{y(cost) + 4:.1f}" text-anchor="end">{cost:g}</text>')
    for size in sizes:
        drawn.append(f'<path d="M{x(size):.1f} {_TOP}V{_HEIGHT - _BOTTOM}" stroke="#e4e4e7"/>')
        drawn.append(f'<text x="{x(size):.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{size:,g}</text>')
    if aim is not None:
        drawn.append(f'<path d="M{_LEFT} {y(aim):.1f}H{_WIDTH - _RIGHT}" stroke="#dc2626" stroke-dasharray="6 4"/>')
    for number, (line, found) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        path = "L".join(f"{x(size):.1f} {y(cost):.1f}" for size, cost in found)
        drawn.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x(size):.1f}" cy="{y(cost):.1f}" r="3" fill="{colour}"/>' for size, cost in found]
        drawn.append(
            f'<text x="{_WIDTH - _RIGHT + 12}" y="{_TOP + 8 + 18 * number}" fill="{colour}">{escape(line)}</text>'
        )
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{name}.svg"
    file.write_text("\n".join([*drawn, "</svg>"]) + "\n")
    return file


def _round_up(value: float) -> float:
    """A number that reads well and is no less."""
    if value <= 0:
        return 1.0
    magnitude = 10 ** math.floor(math.log10(value))
    return float(next(step * magnitude for step in (1, 1.2, 1.6, 2, 3, 4, 6, 8, 10) if step * magnitude >= value))
