"""Tests that uploaded files are served with the right content type, and that other paths are not served (security row 6)."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.client import Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    (tmp_path / "media" / "ab").mkdir(parents=True)
    (tmp_path / "media" / "ab" / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "media" / "page.html").write_text("<script>")
    (tmp_path / "secret.png").write_bytes(b"secret")
    return tmp_path


def test_a_file_is_served_with_its_type_and_in_a_sandbox(root: Path) -> None:
    answer = Api().get("/system/ab/picture.png")
    assert answer.status_code == 200
    assert b"".join(answer.streaming_content) == b"\x89PNG"
    assert answer["Content-Type"] == "image/png"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]
    assert "immutable" in answer["Cache-Control"]


@pytest.mark.parametrize(
    "path",
    ["page.html", "ab/missing.png", "ab", "../secret.png", "ab/../../secret.png", "%2e%2e/secret.png", "ab/a%00.png"],
)
def test_paths_that_are_no_stored_files_are_404(root: Path, path: str) -> None:
    assert Api().get(f"/system/{path}").status_code == 404


@pytest.mark.parametrize(
    ("asked", "status", "body", "range_"),
    [
        ("bytes=1-2", 206, b"PN", "bytes 1-2/4"),
        ("bytes=2-", 206, b"NG", "bytes 2-3/4"),
        ("bytes=-3", 206, b"PNG", "bytes 1-3/4"),
        ("bytes=0-999", 206, b"\x89PNG", "bytes 0-3/4"),
        ("bytes=4-", 416, b"", "bytes */4"),
        ("bytes=3-1", 200, b"\x89PNG", None),
        ("bytes=-", 200, b"\x89PNG", None),
        ("pages=1-2", 200, b"\x89PNG", None),
    ],
)
def test_a_range_of_a_file_can_be_requested(
    root: Path, asked: str, status: int, body: bytes, range_: str | None
) -> None:
    answer = Api().get("/system/ab/picture.png", headers={"Range": asked})
    assert (answer.status_code, b"".join(answer.streaming_content)) == (status, body)
    assert (answer.headers.get("Content-Range"), answer["Content-Length"]) == (range_, str(len(body)))


def test_an_unchanged_file_is_not_sent_again_and_a_changed_one_is_sent_whole(root: Path) -> None:
    tag = Api().get("/system/ab/picture.png")["ETag"]
    assert Api().get("/system/ab/picture.png", headers={"If-None-Match": tag}).status_code == 304
    headers = {"Range": "bytes=1-2", "If-Range": '"other"'}
    assert Api().get("/system/ab/picture.png", headers=headers).status_code == 200
