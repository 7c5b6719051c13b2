"""Promises about files over HTTP."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from accounts.models import Account
from statuses.models import MediaAttachment
from tests.factories.statuses import make_media, make_status, picture
from tests.statuses.conftest import api_of
from tests.support.entities import check

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _root(media_root: Path) -> None:
    pass


def _file(data: bytes | None = None, name: str = "cat.png", content_type: str = "image/png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, picture() if data is None else data, content_type)


@pytest.mark.parametrize("version", [1, 2])
def test_seed_094_a_picture_is_ready_when_the_upload_is_answered(
    alice: Account, media_root: Path, version: int
) -> None:
    response = api_of(alice).upload(
        "POST", f"/api/v{version}/media", file=_file(), description="a cat", focus="0.1,-0.2"
    )
    assert response.status_code == 200
    assert response.headers.get("Deprecation", "")[:1] == ("@" if version == 1 else "")
    body = response.json()
    check("MediaAttachment", body)
    assert (body["type"], body["description"], body["remote_url"], body["text_url"]) == ("image", "a cat", None, None)
    assert body["meta"]["focus"] == {"x": 0.1, "y": -0.2}
    assert body["meta"]["original"] == {"width": 40, "height": 30, "size": "40x30", "aspect": 40 / 30}
    path = body["url"].removeprefix("http://social.localhost/system/")
    assert Image.open(io.BytesIO((media_root / path).read_bytes())).size == (40, 30)


def test_seed_065_files_come_in_base64_too(alice: Account) -> None:
    encoded = base64.b64encode(picture()).decode()
    api = api_of(alice)
    for response in (
        api.post("/api/v1/media", {"file": f"data:image/png;base64,{encoded}"}),
        api.upload("POST", "/api/v2/media", file=f"data:image/png;base64,{encoded}"),
    ):
        assert (response.status_code, response.json()["type"]) == (200, "image")


WRONG_TYPE = "Validation failed: File content type is invalid, File is invalid"


@pytest.mark.parametrize(
    ("data", "content_type", "error"),
    [
        (b"", "image/png", WRONG_TYPE),
        (b"hello", "text/plain", WRONG_TYPE),
        (b"\0\0\0\x18ftypmp42", "video/mp4", WRONG_TYPE),
        (b"hello", "image/jpeg", "Validation failed: File has contents that are not what they are reported to be"),
        (b"<html><script>", "image/png", WRONG_TYPE),
    ],
)
def test_what_is_no_picture_is_told(alice: Account, data: bytes, content_type: str, error: str) -> None:
    response = api_of(alice).upload("POST", "/api/v2/media", file=_file(data, "../../x.png", content_type))
    assert (response.status_code, response.json()) == (422, {"error": error})
    assert not MediaAttachment.objects.exists()


def test_a_missing_file_and_a_string_that_is_none(alice: Account) -> None:
    api = api_of(alice)
    missing = api.post("/api/v2/media", {"description": "x"})
    assert (missing.status_code, missing.json()) == (422, {"error": "Validation failed: File can't be blank"})
    for wrong in ("hello", "data:image/png", "https://example.com/cat.png"):
        assert api.post("/api/v2/media", {"file": wrong}).status_code == 400
    assert api.post("/api/v2/media", {"file": "data:image/png;base64,!!!!"}).status_code in (400, 422)


def test_too_large_a_file_is_told_and_far_too_large_a_body_is_not_read(alice: Account) -> None:
    api = api_of(alice)
    large = api.upload("POST", "/api/v2/media", file=_file(b"\x89PNG\r\n\x1a\n" + b"\0" * 16 * 1024 * 1024))
    assert large.json() == {"error": "Validation failed: File file size must be less than 16 MB"}
    assert api.upload("POST", "/api/v2/media", file=_file(b"\0" * 34 * 1024 * 1024)).status_code == 413


def test_seed_028_a_thumbnail_on_a_picture_is_refused(alice: Account) -> None:
    response = api_of(alice).upload("POST", "/api/v2/media", file=_file(), thumbnail=_file())
    assert (response.status_code, response.json()["error"]) == (422, "Validation failed: Thumbnail must be blank")


def test_seed_064_and_086_a_file_changes_until_it_is_attached(alice: Account) -> None:
    media = make_media(alice)
    api = api_of(alice)
    path = f"/api/v1/media/{media.id}"
    assert api.put(path, {"description": "new"}).json()["description"] == "new"
    assert api.put(path, {"focus": "1,1"}).json()["meta"]["focus"] == {"x": 1.0, "y": 1.0}
    assert api.put(path, {"description": "x" * 10_001}).status_code == 422
    assert api.put(path, {"description": ["x"], "focus": {"x": 1}}).json()["description"] == "new"
    assert api.get(path).status_code == 200
    make_status(alice, media=[media])
    for response in (api.put(path, {"description": "late"}), api.get(path)):
        assert (response.status_code, response.json()) == (404, {"error": "Record not found"})
    deleted = api.delete(path)
    assert deleted.status_code == 422
    assert deleted.json() == {"error": "Media attachment is currently used by a status"}


@pytest.mark.parametrize(("processing", "status"), [("queued", 206), ("running", 206), ("failed", 422)])
def test_trap_17_what_is_not_ready_has_no_address(alice: Account, processing: str, status: int) -> None:
    media = make_media(alice)
    MediaAttachment.objects.filter(id=media.id).update(processing=processing)
    response = api_of(alice).get(f"/api/v1/media/{media.id}")
    assert response.status_code == status
    if status == 206:
        assert (response.json()["url"], response.json()["preview_url"]) == (None, None)
    else:
        assert response.json() == {"error": "Error processing thumbnail for uploaded media"}


def test_security_20_and_21_files_of_others_are_not_there(alice: Account, bob: Account) -> None:
    media = make_media(bob)
    api = api_of(alice)
    unknown = api.get("/api/v1/media/1").content
    path = f"/api/v1/media/{media.id}"
    for response in (api.get(path), api.put(path, {"description": "x"}), api.delete(path)):
        assert (response.status_code, response.content) == (404, unknown)


def test_thirty_uploads_in_half_an_hour_are_the_most(alice: Account, settings: Any) -> None:
    settings.RATE_LIMITS = True
    api = api_of(alice)
    answers = [api.post("/api/v2/media", {"description": "x"}).status_code for _time in range(31)]
    assert answers == [422] * 30 + [429]
