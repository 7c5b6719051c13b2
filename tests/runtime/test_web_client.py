"""Tests of `WEB_CLIENT`: the static client that the operator chooses is served at `/app/`, and no other files are."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from social.runtime import doctor, machine_checks
from tests.factories.accounts import make_user

pytestmark = pytest.mark.django_db
_SCRIPT = "document.title = '<b>ü';\n"
_PAGE = f'<!doctype html><title>t</title><script>{_SCRIPT}</script><script src="index-BzYxQwab.js"></script>'
_FOR_EVER = "public, max-age=31536000, immutable"


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    root = tmp_path / "client"
    (root / "help").mkdir(parents=True)
    for name, content in {
        "index.html": _PAGE.replace("\n", "\r\n"),
        "help/index.html": "help",
        "index-BzYxQwab.js": "1",
        "sw.js": "2",
        "apple-touch-1024x1024.png": "3",
        "app.webmanifest": "{}",
        "x.wasm": "4",
        ".env": "secret",
        "../secret.txt": "secret",
    }.items():
        (root / name).write_text(content, newline="")
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    (root / "up").symlink_to(tmp_path)
    (root / "loop").symlink_to(root / "loop")
    (root / "in.js").symlink_to(root / "sw.js")
    settings.WEB_CLIENT = str(root)
    return root


def body(answer: Any) -> str:
    return b"".join(answer.streaming_content).decode()


@pytest.mark.parametrize(
    ("path", "kind", "cached"),
    [
        ("", "text/html; charset=utf-8", "no-cache"),
        ("index-BzYxQwab.js", "text/javascript; charset=utf-8", _FOR_EVER),
        ("sw.js", "text/javascript; charset=utf-8", "no-cache"),
        ("in.js", "text/javascript; charset=utf-8", "no-cache"),
        ("apple-touch-1024x1024.png", "image/png", "no-cache"),
        ("app.webmanifest", "application/manifest+json; charset=utf-8", "no-cache"),
        ("x.wasm", "application/wasm", "no-cache"),
    ],
)
def test_files_have_their_types_and_are_kept_as_long_as_they_cannot_change(
    client: Client, folder: Path, path: str, kind: str, cached: str
) -> None:
    answer = client.get(f"/app/{path}")
    assert (answer.status_code, answer["Content-Type"], answer["Cache-Control"]) == (200, kind, cached)
    assert answer["X-Content-Type-Options"] == "nosniff"
    again = client.get(f"/app/{path}", headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "Set-Cookie" not in answer.headers


def test_unknown_paths_without_an_extension_show_the_client(client: Client, folder: Path) -> None:
    shown = client.get("/app/@anna/123")
    assert body(shown) == _PAGE.replace("\n", "\r\n")
    allowed = b64encode(sha256(_SCRIPT.encode()).digest()).decode()
    (scripts,) = re.findall(r"script-src ([^;]+)", shown["Content-Security-Policy"])
    assert scripts == f"'self' 'wasm-unsafe-eval' 'sha256-{allowed}'"
    assert "frame-ancestors 'none'" in shown["Content-Security-Policy"]
    assert body(client.get("/app/help")) == "help"
    assert client.get("/app?x=1")["Location"] == "/app/?x=1"
    assert client.head("/app/").status_code == 200
    assert client.post("/app/").status_code == 405
    assert client.get("/app/gone.js").status_code == 404


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "help/../../secret.txt", "..\\secret.txt", "out.txt",
     "up/secret.txt", "/etc/hosts.txt", "//etc/hosts.txt", ".env", "help/.env", "loop.txt", "x%00.js", f"{'x' * 5000}.js"],
)  # fmt: skip
def test_nothing_outside_of_the_folder_and_nothing_hidden_is_served(client: Client, folder: Path, path: str) -> None:
    answer = client.get(f"/app/{path}")
    assert answer.status_code in (301, 404)
    assert "secret" not in answer.content.decode() or "secret" in path


def test_links_out_of_the_folder_or_in_circles_show_the_index_page_and_without_the_setting_there_is_no_client(
    client: Client, folder: Path, settings: Any
) -> None:
    for path in ("up", "up/", "loop"):
        assert body(client.get(f"/app/{path}")).startswith("<!doctype html>")
    member = Client()
    member.force_login(make_user("anna"))
    assert 'href="/app/"' in member.get("/bookmarks").content.decode()
    settings.WEB_CLIENT = ""
    assert client.get("/app/").status_code == 404
    assert 'href="/app/"' not in member.get("/bookmarks").content.decode()


def test_the_doctor_says_when_the_folder_has_no_page(folder: Path) -> None:
    assert [check.state for check in machine_checks.web_client()] == ["ok"]
    (folder / "index.html").unlink()
    (check,) = machine_checks.web_client()
    assert (check.state, "index.html" in check.detail, "index.html" in check.remedy) == ("warning", True, True)
    assert any("WEB_CLIENT" in str(found.msg) for found in doctor.system_checks())
