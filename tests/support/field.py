"""The input files of the problem reports from the field (documents, pages, media), and the expected results.

The folder is not part of the repository: `FIELD` names it, and tests are skipped without it.
"""

import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest
from PIL import Image

_FOLDER: Final = Path(__file__).parents[2] / os.environ.get("FIELD", "../shared/field")

needs_folder = pytest.mark.skipif(not _FOLDER.is_dir(), reason="the inputs are not beside this folder")

#: The expected title and description of the card of each page.
PAGES: Final = {
    "05-page-euc-kr-uhc.html": ("똠방각하", ""),
    "05-page-shift_jis-nec.html": ("①ニュース㈱", ""),
    "05-page-windows-874.html": ("ข่าวภาษาไทย", ""),
    "05-page-x-sjis.html": ("日本語のニュース", ""),
    "06-page-late-meta.html": ("Привет", ""),
    "06-page-undeclared-utf8-one-bad-byte.html": ("Lüneburg — größte", "abc h\ufffd..."),
}


def names() -> list[str]:
    """Return the names of the inputs; each begins with its number."""
    return sorted(path.name for path in _FOLDER.glob("[0-9]*"))


def bytes_of(name: str) -> bytes:
    """Return the bytes of the input whose name begins with `name`."""
    (found,) = _FOLDER.glob(f"{name}*")
    return found.read_bytes()


def text_of(name: str) -> str:
    """Return the text of the input whose name begins with `name`."""
    return bytes_of(name).decode()


def document_of(name: str, stranger: str, person: str) -> dict[str, Any]:
    """Return an input in which the ids of the remote and the local account are replaced with these."""
    home = "/".join(stranger.split("/")[:3])
    text = text_of(name).replace("https://r.example/u/ann", stranger).replace("https://r.example/u/mod", stranger)
    text = text.replace("https://r.example", home).replace("https://our.example/users/fielda", person)
    found: dict[str, Any] = json.loads(text)
    return found


def finger() -> dict[str, Any]:
    """Return the WebFinger document of input 04, whose address is on a different domain than the account."""
    found: dict[str, Any] = json.loads(text_of("04").partition("\n\n")[2])
    return found


def signature_headers() -> list[str]:
    """Return the header values of input 09."""
    lines = text_of("09").splitlines()
    found = [line.removeprefix("Signature:").strip() for line in lines if line.startswith("Signature:")]
    assert len(found) >= 5
    return found


def signature_header(form: str, key_id: str, header: str) -> str:
    """Return a header in a form of input 09, with this key id and the signature of the valid `header`."""
    signature = header.rpartition('signature="')[2].rstrip('"')
    written = form.replace('"K"', f'"{key_id}"').replace('"S"', f'"{signature}"')
    return written.replace('"..."', '"(request-target) host date digest"')


def check_picture(name: str, data: bytes) -> None:
    """Check a picture: input 07 shows a gradient, input 08 a uniform grey, and input 16 is animated."""
    image = Image.open(io.BytesIO(data))
    if name.startswith("07"):
        _check_greys(image, range(256))
    elif name.startswith("08"):
        _check_greys(image, [128] * image.width)
    else:
        assert getattr(image, "n_frames", 1) == 10


def _check_greys(image: Image.Image, expected: Iterable[int]) -> None:
    row = [image.convert("RGB").getpixel((x, 8)) for x in range(image.width)]
    wrong = [(seen, grey) for seen, grey in zip(row, expected, strict=True) if max(abs(one - grey) for one in seen) > 1]
    assert not wrong, wrong[:5]
