"""Uploaded files are served as what they are, and nothing else is (security row 6)."""

from __future__ import annotations

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


def test_a_file_has_its_type_and_may_do_nothing(root: Path) -> None:
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
def test_nothing_else_is_served(root: Path, path: str) -> None:
    assert Api().get(f"/system/{path}").status_code == 404
