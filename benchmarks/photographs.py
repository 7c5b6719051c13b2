"""Counts false matches of a list of PDQ hashes among photographs, and the copies of listed photographs that it finds.

Each picture in the folders is used as a whole, and a large one also as ten parts that do not overlap. A random half of these is
the list. A match of one of the others is a false match, unless both show the same picture. The copies are made from listed
pictures.
"""

import argparse
import io
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from django.conf import settings
from PIL import Image, ImageDraw, ImageOps

from benchmarks.media import ROOT

_SUFFIXES: Final = {".jpg", ".jpeg", ".png", ".webp"}
_COLUMNS, _ROWS = 5, 2
_PART: Final = 240
_LARGEST: Final = 1600
_LIMIT: Final = 31


def _encoded(image: Image.Image, kind: str = "JPEG", quality: int = 90) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, quality=quality)
    return file.getvalue()


def _scaled(image: Image.Image, share: float) -> Image.Image:
    return image.resize((max(1, int(image.width * share)), max(1, int(image.height * share))), Image.Resampling.LANCZOS)


def _cropped(image: Image.Image, share: float) -> Image.Image:
    across, down = int(image.width * share / 2), int(image.height * share / 2)
    return image.crop((across, down, image.width - across, image.height - down))


def _signed(image: Image.Image) -> Image.Image:
    copy = image.copy()
    ImageDraw.Draw(copy).text((copy.width // 2, copy.height - 24), "seen at example.com", fill="white")
    return copy


COPIES: Final[dict[str, Callable[[Image.Image], bytes]]] = {
    "JPEG, quality 75": lambda image: _encoded(image, quality=75),
    "JPEG, quality 30": lambda image: _encoded(image, quality=30),
    "WebP, quality 60": lambda image: _encoded(image, "WEBP", 60),
    "half as wide": lambda image: _encoded(_scaled(image, 0.5), quality=80),
    "a quarter as wide": lambda image: _encoded(_scaled(image, 0.25), quality=80),
    "twice as wide": lambda image: _encoded(_scaled(image, 2), quality=80),
    "with words on it": lambda image: _encoded(_signed(image)),
    "grey": lambda image: _encoded(image.convert("L")),
    "2 % cut off": lambda image: _encoded(_cropped(image, 0.02)),
    "5 % cut off": lambda image: _encoded(_cropped(image, 0.05)),
    "mirrored": lambda image: _encoded(ImageOps.mirror(image)),
}


def pictures(folders: list[Path]) -> Iterator[tuple[str, Image.Image]]:
    """Yield the pictures in the folders and the parts of large ones, with their names."""
    for folder in folders:
        for path in sorted(found for found in folder.rglob("*") if found.suffix.lower() in _SUFFIXES):
            with Image.open(path) as opened:
                flat = Image.new("RGBA", opened.size, "white")
                flat.alpha_composite(opened.convert("RGBA"))
            image = flat.convert("RGB")
            whole = image.copy()
            whole.thumbnail((_LARGEST, _LARGEST))
            yield str(path), whole
            width, height = image.width // _COLUMNS, image.height // _ROWS
            if min(width, height) >= _PART:
                for place in range(_COLUMNS * _ROWS):
                    left, top = place % _COLUMNS * width, place // _COLUMNS * height
                    yield f"{path}#{place}", image.crop((left, top, left + width, top + height))


def hash_of(data: bytes) -> int | None:
    from social.kernel.media.hashing import perceptual_hash

    found = perceptual_hash(io.BytesIO(data))
    return None if found is None else int.from_bytes(found)


def count_mistakes(listed: dict[str, int], others: dict[str, int]) -> tuple[list[tuple[str, str, int]], Counter[int]]:
    """Return the false matches, and the number of pictures by their distance to the nearest listed one, in steps of 16."""
    mistakes, nearest = [], Counter[int]()
    for name, value in others.items():
        distance, which = min(((value ^ known).bit_count(), known_name) for known_name, known in listed.items())
        nearest[distance // 16 * 16] += 1
        if distance <= _LIMIT:
            mistakes.append((name, which, distance))
    return mistakes, nearest


def count_copies(listed: dict[str, int], kept: dict[str, bytes]) -> None:
    """Print how many copies of each kind the list finds."""
    for kind, make in COPIES.items():
        distances = []
        for name, data in kept.items():
            with Image.open(io.BytesIO(data)) as image:
                value = hash_of(make(image))
            distances.append(256 if value is None else (value ^ listed[name]).bit_count())
        found = sum(distance <= _LIMIT for distance in distances)
        print(
            f"{kind:20} {found:5} of {len(distances)}, distance in the middle {sorted(distances)[len(distances) // 2]}",
            flush=True,
        )


def main() -> None:
    """Count false matches and found copies, and print the numbers."""
    parser = argparse.ArgumentParser(prog="benchmarks.photographs", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument(
        "--copies", type=int, default=300, help="number of listed pictures that are copied (%(default)s)"
    )
    arguments = parser.parse_args()
    settings.configure(BASE_DIR=ROOT, DATA_DIR=tempfile.gettempdir(), IMAGE_WORKERS=2, USE_I18N=False)
    chance = random.Random(1)  # a fixed seed, so that every run has the same halves
    listed: dict[str, int] = {}
    others: dict[str, int] = {}
    kept: dict[str, bytes] = {}
    plain = 0
    for name, image in pictures(arguments.folders):
        data = _encoded(image)
        value = hash_of(data)
        if value is None:
            plain += 1
        elif chance.random() < 0.5:
            listed[name] = value
            if len(kept) < arguments.copies and chance.random() < 0.5:
                kept[name] = data
        else:
            others[name] = value
    print(f"{len(listed)} listed, {len(others)} others, {plain} too plain for a hash")
    mistakes, nearest = count_mistakes(listed, others)
    for name, which, distance in mistakes:
        print(f"distance {distance}: {name} is taken for {which}")
    print(
        f"{len(mistakes)} of {len(others)} others are taken for a listed picture, in {len(listed) * len(others):,} pairs"
    )
    print("least distance to the list:", ", ".join(f"{least}+: {count}" for least, count in sorted(nearest.items())))
    count_copies(listed, kept)


if __name__ == "__main__":
    main()
