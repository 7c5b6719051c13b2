"""Writes the screenshots in the documentation, which show the demonstration data: `make pictures`.

They are taken at the port of `make run`, which must be free, so that they show the address that a newcomer sees.
"""

import base64
import html
import io
import os
import re
import tempfile
from pathlib import Path
from typing import Final

from PIL import Image

from tests.runtime.processes import eventually
from tests.support.chromium import Tab, open_tab
from tests.support.instance import ROOT, Instance

FOLDER: Final = ROOT / "docs" / "pictures"
#: The maximum size of a picture in bytes, so that pages with pictures load quickly.
LIMIT: Final = 150_000
#: Pictures, keyed by name: the page, its width and height, and whether the theme is dark.
PAGES: Final = {
    "profile": ("/@mei", 1100, 900, False),
    "admin": ("/admin/", 1280, 900, False),
    "inbox": ("/admin/moderation/report/inbox/", 1280, 800, False),
}
_TERMINAL: Final = """<!doctype html><body style="margin:0;padding:24px;background:#12171a;color:#e8ecee">
<pre style="font:14px/1.5 monospace;margin:0;white-space:pre-wrap">$ ./manage.py doctor\n{}</pre>"""


def _take(tab: Tab, name: str, width: int, height: int) -> None:
    shot = tab.call(
        "Page.captureScreenshot", format="png", clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    )
    image = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    file = FOLDER / f"{name}.webp"
    image.save(file, "WEBP", quality=82, method=6)
    assert file.stat().st_size <= LIMIT, f"{file} has {file.stat().st_size} bytes"
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size} bytes")


def _resize(tab: Tab, width: int, height: int, *, dark: bool) -> None:
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    tab.call("Emulation.setEmulatedMedia", features=[scheme])
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)


def take_all() -> None:
    """Start a server with demonstration data, and write every picture."""
    os.environ.pop("LOG_FORMAT", None)
    instance = Instance(PORT="8000", STREAMING_PORT="4000")
    instance.base_url = "http://localhost:8000"
    with tempfile.TemporaryDirectory() as folder, instance, open_tab(Path(folder)) as tab:
        said = instance.manage("seed_demo")
        found = re.search(r"one password: (\S+)", said)
        assert found is not None, said
        tab.call("Emulation.setScrollbarsHidden", hidden=True)
        tab.go(f"{instance.base_url}/auth/sign_in")
        tab.fill(login="demo@example.com", password=found[1])
        tab.press("form:not([data-passkey]) [type=submit]")
        for name, (path, width, height, dark) in PAGES.items():
            _resize(tab, width, height, dark=dark)
            tab.go(instance.base_url + path)
            eventually(lambda: tab.run("[...document.images].every(each => each.complete)"))
            _take(tab, name, width, height)
        said = instance.manage("doctor").replace(str(instance.data_dir), "var")
        page = Path(folder) / "doctor.html"
        page.write_text(_TERMINAL.format(html.escape(said)))
        _resize(tab, 1000, 800, dark=True)
        tab.go(f"file://{page}")
        _take(tab, "doctor", 1000, int(tab.run("document.querySelector('pre').offsetHeight + 48")))


if __name__ == "__main__":
    take_all()
