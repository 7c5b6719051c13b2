"""Tests of media files over HTTP."""

import base64
import io
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from PIL import Image

from accounts.models import Account
from statuses.models import MediaAttachment
from tests.factories.recordings import SECRET, moving_gif, photograph, recording, sample
from tests.factories.statuses import make_media, make_status, picture
from tests.statuses.conftest import api_of
from tests.support.altered import altered
from tests.support.entities import check
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _root(media_root: Path) -> None:
    pass


def _file(data: bytes | None = None, name: str = "cat.png", content_type: str = "image/png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, picture() if data is None else data, content_type)


@pytest.mark.parametrize("version", [1, 2])
def test_seed_094_a_picture_is_ready_in_the_response_to_its_upload(
    alice: Account, media_root: Path, version: int
) -> None:
    response = api_of(alice).upload(
        "POST", f"/api/v{version}/media", file=_file(), description="a cat", focus="0.1,-0.2"
    )
    assert response.status_code == 200
    assert response.headers.get("Deprecation", "")[:1] == ("@" if version == 1 else "")
    refused = api_of(alice).post(f"/api/v{version}/media", {})
    assert (refused.status_code, refused.headers.get("Deprecation")) == (422, response.headers.get("Deprecation"))
    body = response.json()
    check("MediaAttachment", body)
    assert (body["type"], body["description"], body["remote_url"], body["text_url"]) == ("image", "a cat", None, None)
    assert body["meta"]["focus"] == {"x": 0.1, "y": -0.2}
    assert body["meta"]["original"] == {"width": 40, "height": 30, "size": "40x30", "aspect": 40 / 30}
    path = body["url"].removeprefix("http://social.localhost/system/")
    assert Image.open(io.BytesIO((media_root / path).read_bytes())).size == (40, 30)


@pytest.mark.parametrize(("image_format", "name"), [("JPEG", "a.jpg"), ("HEIF", "IMG_0001.HEIC")])
def test_a_phone_photograph_is_rotated_upright_and_loses_its_location(
    alice: Account, media_root: Path, image_format: str, name: str
) -> None:
    """HEIC is converted to JPEG, because browsers cannot show it. Location and camera are removed from every version."""
    sent = photograph(300, 200, image_format)
    with Image.open(io.BytesIO(sent)) as before:
        assert (before.format, bool(before.getexif().get_ifd(0x8825))) == (image_format, True)
    answer = api_of(alice).upload("POST", "/api/v2/media", file=_file(sent, name, "application/octet-stream"))
    assert answer.status_code == 200, answer.content
    body = answer.json()
    check("MediaAttachment", body)
    assert (body["type"], body["meta"]["original"]["size"], body["meta"]["small"]["size"]) == (
        "image",
        "200x300",
        "200x300",
    )
    stored = [path.read_bytes() for path in media_root.rglob("*") if path.is_file()]
    assert len(stored) == 2
    for data in stored:
        assert SECRET.encode() not in data
        assert b"Telephone" not in data
        with Image.open(io.BytesIO(data)) as after:
            assert (after.format, after.size, len(after.getexif())) == ("JPEG", (200, 300), 0)
            # The picture is red at the bottom, and after the clockwise rotation it is red on the left.
            left, right = after.getpixel((5, 150)), after.getpixel((195, 150))
            assert left[0] > 200 > 60 > right[0]


def test_seed_065_files_may_be_sent_in_base64(alice: Account) -> None:
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
        (b"\0\0\0\x18ftypmp42", "video/mp4", "File type of uploaded media could not be verified"),
        (b"hello", "image/jpeg", "Validation failed: File has contents that are not what they are reported to be"),
        (b"<html><script>", "image/png", WRONG_TYPE),
    ],
)
def test_a_file_that_is_no_picture_is_refused(alice: Account, data: bytes, content_type: str, error: str) -> None:
    response = api_of(alice).upload("POST", "/api/v2/media", file=_file(data, "../../x.png", content_type))
    assert (response.status_code, response.json()) == (422, {"error": error})
    assert not MediaAttachment.objects.exists()


def test_a_missing_file_and_a_string_that_is_not_a_file_are_refused(alice: Account) -> None:
    api = api_of(alice)
    missing = api.post("/api/v2/media", {"description": "x"})
    assert (missing.status_code, missing.json()) == (422, {"error": "Validation failed: File can't be blank"})
    for wrong in ("hello", "data:image/png", "https://example.com/cat.png"):
        assert api.post("/api/v2/media", {"file": wrong}).status_code == 400
    assert api.post("/api/v2/media", {"file": "data:image/png;base64,!!!!"}).status_code in (400, 422)


def test_a_file_that_is_too_large_is_refused_and_a_far_larger_body_is_not_read(alice: Account) -> None:
    api = api_of(alice)
    large = api.upload("POST", "/api/v2/media", file=_file(b"\x89PNG\r\n\x1a\n" + b"\0" * 16 * 1024 * 1024))
    assert large.json() == {"error": "Validation failed: File file size must be less than 16 MB"}
    encoded = "data:image/png;base64," + "A" * 34 * 1024 * 1024
    assert api.upload("POST", "/api/v2/media", file=encoded).status_code == 413
    assert api.post("/api/v2/media", {"file": encoded}).status_code == 413


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
    assert api.put(path, {"focus": "0,0"}).json()["description"] == "new"
    assert api.put(path, {"description": None}).json()["description"] in (None, "")
    make_status(alice, media=[media])
    for response in (api.put(path, {"description": "late"}), api.get(path)):
        assert (response.status_code, response.json()) == (404, {"error": "Record not found"})
    deleted = api.delete(path)
    assert deleted.status_code == 422
    assert deleted.json() == {"error": "Media attachment is currently used by a status"}


@pytest.mark.parametrize(("processing", "status"), [("queued", 206), ("running", 206), ("failed", 422)])
def test_trap_17_an_unprocessed_file_has_no_address(alice: Account, processing: str, status: int) -> None:
    media = make_media(alice)
    MediaAttachment.objects.filter(id=media.id).update(processing=processing)
    response = api_of(alice).get(f"/api/v1/media/{media.id}")
    assert response.status_code == status
    if status == 206:
        assert response.json()["url"] is None
    else:
        assert response.json() == {"error": "Error processing thumbnail for uploaded media"}


def test_security_20_and_21_files_of_others_are_not_found(alice: Account, bob: Account) -> None:
    media = make_media(bob)
    api = api_of(alice)
    unknown = api.get("/api/v1/media/1").content
    path = f"/api/v1/media/{media.id}"
    for response in (api.get(path), api.put(path, {"description": "x"}), api.delete(path)):
        assert (response.status_code, response.content) == (404, unknown)


def test_at_most_thirty_uploads_in_half_an_hour_are_accepted(alice: Account, settings: Any) -> None:
    settings.RATE_LIMITS = True
    api = api_of(alice)
    answers = [api.post("/api/v2/media", {"description": "x"}).status_code for _time in range(31)]
    assert answers == [422] * 30 + [429]


def _upload(account: Account, content_type: str, version: int = 2, **parts: Any) -> Any:
    file = SimpleUploadedFile("x", sample(content_type), content_type)
    return api_of(account).upload("POST", f"/api/v{version}/media", file=file, **parts)


def test_seed_067_a_video_has_no_address_until_it_is_processed(alice: Account) -> None:
    answer = _upload(alice, "video/webm", description="a ramp", focus="0.5,0.5")
    body = answer.json()
    assert answer.status_code == 202
    check("MediaAttachment", body)
    assert (body["type"], body["url"], body["description"]) == ("video", None, "a ramp")
    assert body["preview_url"].endswith(".jpg")
    assert body["blurhash"]
    assert body["meta"]["original"]["frame_rate"] == "10/1"
    path = f"/api/v1/media/{body['id']}"
    waiting = api_of(alice).get(path)
    assert (waiting.status_code, waiting.json()) == (206, body)
    too_early = api_of(alice).post("/api/v1/statuses", {"status": "x", "media_ids": [body["id"]]})
    assert too_early.json() == {
        "error": "Cannot attach files that have not finished processing. Try again in a moment!"
    }
    changed = api_of(alice).put(path, {"description": "a ramp that moves"})
    assert (changed.status_code, changed.json()["description"]) == (206, "a ramp that moves")
    work()
    ready = api_of(alice).get(path)
    assert ready.status_code == 200
    body = ready.json()
    check("MediaAttachment", body)
    assert body["url"].endswith(".mp4")
    assert (body["description"], body["meta"]["focus"]) == ("a ramp that moves", {"x": 0.5, "y": 0.5})
    assert api_of(alice).post("/api/v1/statuses", {"status": "x", "media_ids": [body["id"]]}).status_code == 200


def test_meta_describes_videos_and_audio_files(alice: Account) -> None:
    video = _upload(alice, "video/mp4").json()
    sound = _upload(alice, "audio/wav").json()
    work()
    meta = api_of(alice).get(f"/api/v1/media/{video['id']}").json()["meta"]
    assert meta["original"].keys() == {"width", "height", "frame_rate", "duration", "bitrate"}
    assert meta["small"] == {"width": 96, "height": 64, "size": "96x64", "aspect": 1.5}
    assert (meta["width"], meta["height"], meta["size"], meta["aspect"], meta["fps"]) == (96, 64, "96x64", 1.5, 10.0)
    assert (meta["audio_encode"], meta["audio_bitrate"], meta["audio_channels"]) == ("aac", "48000 Hz", "stereo")
    assert meta["length"].startswith("0:00:01.")
    assert 1 <= meta["duration"] < 1.1
    meta = api_of(alice).get(f"/api/v1/media/{sound['id']}").json()["meta"]
    assert meta["original"].keys() == {"duration", "bitrate"}
    assert (meta["audio_encode"], meta["audio_bitrate"], meta["audio_channels"]) == ("mp3", "8000 Hz", "mono")
    assert "small" not in meta


def test_an_animated_gif_and_a_silent_video_become_gifv(alice: Account) -> None:
    silent = SimpleUploadedFile("x.mp4", recording("mp4", "libx264"), "video/mp4")
    gif = SimpleUploadedFile("x.gif", moving_gif(), "image/gif")
    for file, extension in ((gif, ".png"), (silent, ".jpg")):
        answer = api_of(alice).upload("POST", "/api/v2/media", file=file)
        body = answer.json()
        assert (answer.status_code, body["type"], body["url"]) == (202, "gifv", None)
        assert body["preview_url"].endswith(extension)
        work()
        assert api_of(alice).get(f"/api/v1/media/{body['id']}").json()["url"].endswith(".mp4")


def test_seed_028_and_066_an_audio_file_may_have_a_thumbnail(alice: Account, media_root: Path) -> None:
    thumbnail = SimpleUploadedFile("x.png", picture(50, 50), "image/png")
    body = _upload(alice, "audio/wav", thumbnail=thumbnail).json()
    check("MediaAttachment", body)
    assert (body["type"], body["url"]) == ("audio", None)
    assert body["preview_url"].endswith(".png")
    assert body["meta"]["small"]["size"] == "50x50"
    assert body["meta"]["colors"]["background"] == "#7828c8"
    work()
    path = f"/api/v1/media/{body['id']}"
    before = api_of(alice).get(path).json()
    assert before["preview_url"] == body["preview_url"]
    assert before["url"].endswith(".mp3")
    wider = SimpleUploadedFile("x.jpg", picture(90, 30, "JPEG"), "image/jpeg")
    after = api_of(alice).upload("PUT", path, thumbnail=wider).json()
    assert after["meta"]["small"]["size"] == "90x30"
    assert after["preview_url"] != before["preview_url"]
    assert after["url"] == before["url"]


@pytest.mark.parametrize("content_type", ["text/plain", "audio/mpeg", "image/svg+xml"])
def test_a_thumbnail_that_is_no_picture_is_refused(alice: Account, content_type: str) -> None:
    data = {"text/plain": b"hello", "audio/mpeg": sample("audio/mpeg"), "image/svg+xml": b"<svg/>"}[content_type]
    wrong = SimpleUploadedFile("x.png", data, content_type)
    message = "Validation failed: Thumbnail content type is invalid, Thumbnail is invalid"
    refused = _upload(alice, "audio/wav", thumbnail=wrong)
    assert (refused.status_code, refused.json()) == (422, {"error": message})
    media = _upload(alice, "audio/wav").json()
    changed = api_of(alice).upload("PUT", f"/api/v1/media/{media['id']}", thumbnail=wrong)
    assert (changed.status_code, changed.json()) == (422, {"error": message})


def test_trap_17_the_first_api_version_responds_when_the_file_is_processed(
    alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("social.api.later.time", altered(time, sleep=lambda _seconds: work()))
    answer = _upload(alice, "audio/wav", version=1)
    assert (answer.status_code, answer.headers["Deprecation"]) == (200, "@1586044800")
    assert answer.json()["url"].endswith(".mp3")


def test_the_first_api_version_waits_at_most_a_minute(alice: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    # The clock is replaced in this module only, because the process's clock decides how long a circuit breaker stays open.
    time = SimpleNamespace(monotonic=lambda: clock[0], sleep=lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    monkeypatch.setattr("social.api.later.time", time)
    answer = _upload(alice, "audio/wav", version=1)
    assert (answer.status_code, answer.json()["url"]) == (202, None)
    assert 58 < clock[0] <= 60


@pytest.mark.django_db(transaction=True)
def test_a_request_that_waits_for_a_file_holds_no_database_connection(
    alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = []

    def sleep(seconds: float) -> None:
        held.append(connection.connection is not None)
        work()

    monkeypatch.setattr("social.api.later.time", altered(time, sleep=sleep))
    assert _upload(alice, "audio/wav", version=1).status_code == 200
    assert held == [False]


def test_a_file_that_cannot_be_processed_is_reported_as_failed(
    alice: Account, monkeypatch: pytest.MonkeyPatch, media_root: Path
) -> None:
    whole = recording("webm", "libvpx-vp9", "libopus", seconds=10, frames=100)
    file = SimpleUploadedFile("x.webm", whole[: len(whole) // 3], "video/webm")
    body = api_of(alice).upload("POST", "/api/v2/media", file=file).json()
    work()
    error = {"error": "Error processing thumbnail for uploaded media"}
    path = f"/api/v1/media/{body['id']}"
    for answer in (api_of(alice).get(path), api_of(alice).put(path, {"description": "x"})):
        assert (answer.status_code, answer.json()) == (422, error)
    monkeypatch.setattr("social.api.later.time", altered(time, sleep=lambda _seconds: work()))
    file.seek(0)
    first = api_of(alice).upload("POST", "/api/v1/media", file=file)
    assert (first.status_code, first.json()) == (422, error)
    assert not [path for path in media_root.rglob("*") if path.is_file()], "no file is stored"


def test_a_file_as_large_as_allowed_is_not_refused_for_its_size(alice: Account) -> None:
    limit = 99 * 1024 * 1024
    for size, error in (
        (limit, "Validation failed: File file size must be less than 99 MB"),
        (limit - 1, "File type of uploaded media could not be verified"),
    ):
        file = SimpleUploadedFile("x.mp4", b"\0\0\0\x18ftypmp42" + b"\0" * (size - 12), "video/mp4")
        answer = api_of(alice).upload("POST", "/api/v2/media", file=file)
        assert (answer.status_code, answer.json()) == (422, {"error": error})
