"""Helpers for the tests of pictures."""

import io
import struct
import zlib
from typing import Any

import pillow_heif
from PIL import Image

from social.kernel.media import images
from social.kernel.media.images import Picture

pillow_heif.register_heif_opener()


def saved(image: Image.Image, image_format: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, image_format, **options)
    return buffer.getvalue()


def process(data: bytes) -> Picture:
    """Process a picture, and return copies that remain usable after the block."""
    with images.process(io.BytesIO(data)) as picture:
        return Picture(picture.original.in_memory(), picture.preview.in_memory(), picture.blurhash)


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def png_header(width: int, height: int) -> bytes:
    """Return a PNG whose header declares a large size, with almost no data."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def moving_picture(image_format: str, **options: Any) -> bytes:
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("red", "blue", "lime")]
    return saved(frames[0], image_format, save_all=True, append_images=frames[1:], duration=[100, 200, 300], **options)


def linear(name: bytes, space: bytes = b"RGB ") -> bytes:
    """Return a colour profile with linear values and the primaries of sRGB: the value 55 in it equals 128 in sRGB."""

    def tag(kind: bytes, body: bytes) -> bytes:
        return kind + bytes(4) + body

    def point(*values: float) -> bytes:
        return tag(b"XYZ ", b"".join(struct.pack(">i", round(value * 65536)) for value in values))

    tags = {
        b"desc": tag(b"desc", struct.pack(">I", len(name) + 1) + name + b"\0" + bytes(78)),
        b"wtpt": point(0.9642, 1.0, 0.8249),
        b"rXYZ": point(0.4360, 0.2225, 0.0139),
        b"gXYZ": point(0.3851, 0.7169, 0.0971),
        b"bXYZ": point(0.1431, 0.0606, 0.7141),
        **dict.fromkeys((b"rTRC", b"gTRC", b"bTRC", b"kTRC"), tag(b"curv", bytes(4))),
    }
    body, table = b"", struct.pack(">I", len(tags))
    for signature, content in tags.items():
        content += bytes(-len(content) % 4)
        table += signature + struct.pack(">II", 132 + 12 * len(tags) + len(body), len(content))
        body += content
    length = 128 + len(table) + len(body)
    head = struct.pack(">I4sI4s4s4s", length, b"", 0x02100000, b"mntr", space, b"XYZ ") + bytes(12) + b"acsp"
    return head.ljust(68, b"\0") + struct.pack(">3i", 63190, 65536, 54061) + bytes(48) + table + body
