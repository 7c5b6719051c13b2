"""Helpers that draw pictures which differ as much as photographs do, with large and small shapes in many colours."""

import io
import random
from typing import Any

from PIL import Image, ImageDraw


def painted(seed: int, width: int = 640, height: int = 480) -> Image.Image:
    """Return a picture that depends only on the seed."""
    chance = random.Random(seed)
    image = Image.new("RGB", (width, height), (chance.randrange(256),) * 3)
    pen = ImageDraw.Draw(image)
    for _ in range(chance.randrange(8, 40)):
        left, top = chance.randrange(width), chance.randrange(height)
        right, bottom = left + chance.randrange(1, width // 2), top + chance.randrange(1, height // 2)
        colour = (chance.randrange(256), chance.randrange(256), chance.randrange(256))
        draw = pen.ellipse if chance.random() < 0.5 else pen.rectangle
        draw((left, top, right, bottom), fill=colour)
    return image


def encoded(image: Image.Image, image_format: str = "PNG", **options: Any) -> bytes:
    """Return the bytes of the image file."""
    buffer = io.BytesIO()
    image.save(buffer, image_format, **options)
    return buffer.getvalue()
