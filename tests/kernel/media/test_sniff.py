"""Tests of detecting media types by the first bytes."""

import io

import pytest
from PIL import Image

from social.kernel.media.types import HEAD, media_type


@pytest.mark.parametrize("image_format", ["JPEG", "PNG", "GIF", "WEBP", "AVIF"])
def test_pictures_are_recognised_by_their_first_bytes(image_format) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (20, 20)).save(buffer, image_format)
    assert media_type(buffer.getvalue()[:HEAD]) == f"image/{image_format.lower()}"


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"ID3\x04", "audio/mpeg"),
        (b"\xff\xfb\x90", "audio/mpeg"),
        (b"\xff\xf1\x50", "audio/aac"),
        (b"OggS\0", "audio/ogg"),
        (b"fLaC", "audio/flac"),
        (b"RIFF\0\0\0\0WAVE", "audio/wav"),
        (b"OggS" + b"\0" * 24 + b"\x80theora", "video/ogg"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm", "video/webm"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska", "video/x-matroska"),
        (b"\0\0\0\x14ftypqt  \0\0\0\0", "video/quicktime"),
        (b"\0\0\0\x08wide\0\0\x10\0mdat", "video/quicktime"),
        (b"\0\0\0\x18ftyp3gp6\0\0\0\0", "audio/3gpp"),
        (b"\0\0\0\x1cftypM4A \0\0\0\0", "audio/m4a"),
        (b"\0\0\0\x18ftypmp42\0\0\0\0", "video/mp4"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "image/heic"),
        (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avif", "image/avif"),
        (b"%PDF-1.7", "application/pdf"),
        (b"<?xml version='1.0'?><svg/>", "text/xml"),
        (b"\xef\xbb\xbf  <html>", "text/xml"),
        (b"PK\x03\x04", "application/zip"),
        (b"#EXTM3U", "text/plain"),
        (b"", None),
        (b"hello", None),
        (b"\xff", None),
    ],
)
def test_other_files_are_recognised_or_have_no_type(head, found) -> None:
    assert media_type(head) == found
