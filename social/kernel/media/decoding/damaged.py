"""Decodes damaged pictures as browsers and Mastodon do: shows what is left of a truncated picture, and ignores wrong
checksums of chunks that hold no pixels. Runs in the process of `social.kernel.media.decoding` only.
"""

import struct
from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from PIL import Image, ImageFile, PngImagePlugin

P = ParamSpec("P")
R = TypeVar("R")

# The formats whose decoders return the pixels of a truncated file; other decoders return no pixels, or black pixels.
_PROGRESSIVE: Final = frozenset({"JPEG", "MPO", "PNG", "GIF"})
_ANCILLARY: Final = 0x20


class _PngStream(PngImagePlugin.PngStream):
    """Reader of the chunks of a PNG. As in browsers, a wrong checksum of an ancillary chunk does not matter."""

    def crc(self, cid: bytes, data: bytes) -> None:
        if cid[0] & _ANCILLARY:
            self.crc_skip(cid, data)
        else:
            super().crc(cid, data)


PngImagePlugin.PngStream = _PngStream  # type: ignore[misc]  # the plugin offers no other way


def with_missing_ends(job: Callable[P, R]) -> Callable[P, R]:
    """Return a job that tries again if the picture cannot be decoded, and then accepts a truncated picture.

    A process does one job only, so the setting of the library affects no other picture.
    """

    @wraps(job)
    def done(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return job(*args, **kwargs)
        except (OSError, SyntaxError, EOFError, ValueError, struct.error):
            if ImageFile.LOAD_TRUNCATED_IMAGES:
                raise
            ImageFile.LOAD_TRUNCATED_IMAGES = True
            return job(*args, **kwargs)

    return done


def load(image: Image.Image) -> None:
    """Decode a picture; in the second attempt of `with_missing_ends`, its end may be missing.

    Raises OSError if nothing of a truncated picture can be decoded, that is, if the whole picture has one colour.
    """
    is_cut = ImageFile.LOAD_TRUNCATED_IMAGES and isinstance(image, ImageFile.ImageFile)
    if is_cut and image.format not in _PROGRESSIVE:
        raise OSError("the end of the picture is missing")
    image.load()
    if is_cut and _has_one_colour(image):
        raise OSError("nothing of the picture can be decoded")


def _has_one_colour(image: Image.Image) -> bool:
    return all(band.getextrema()[0] == band.getextrema()[1] for band in image.split())
