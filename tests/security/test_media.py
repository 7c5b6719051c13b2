"""Tests of files that attack their readers: each is refused or fails without effect on others, and leaves no file behind
(security rows 1 and 56).

No file makes the server connect to an address in it: the files name a port of this machine, which gets no connection.
"""

import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import Account
from statuses.models import MediaAttachment, Processing
from tests.factories.accounts import make_user
from tests.factories.recordings import drawn, recording, sample, saved
from tests.factories.statuses import picture
from tests.kernel.text.support import takes_at_most
from tests.security import hostile_files as hostile
from tests.statuses.conftest import api_of
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stays_inside")]


@pytest.fixture
def author(db: None) -> Account:
    return make_user("mallory").account


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """The port that the files name, to which nobody may connect."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.fixture
def address(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def stays_inside(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail if files are written outside the folders for media and temporary files, or remain in the latter."""
    for name in ("media", "temporary"):
        (tmp_path / name).mkdir()
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.DATA_DIR = tmp_path / "temporary"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    before = set(os.listdir(os.curdir))
    yield
    assert sorted(path.name for path in tmp_path.iterdir()) == ["media", "temporary"]
    assert not list((tmp_path / "temporary").iterdir())
    assert set(os.listdir(os.curdir)) == before


def _upload(author: Account, body: bytes, content_type: str) -> Any:
    file = SimpleUploadedFile("../../../../tmp/x.png", body, content_type)
    return api_of(author).upload("POST", "/api/v2/media", file=file)


def _stored(settings: Any) -> list[str]:
    return [str(path.relative_to(settings.MEDIA_ROOT)) for path in settings.MEDIA_ROOT.rglob("*") if path.is_file()]


REFUSED: dict[str, tuple[Callable[[str], bytes], str]] = {
    "playlist": (hostile.playlist, "video/mp4"),
    "playlist as a sound": (hostile.playlist, "audio/mpeg"),
    "playlist in a container": (lambda address: hostile.in_a_container(hostile.playlist(address)), "video/mp4"),
    "concatenation": (hostile.concatenation, "video/webm"),
    "concatenation in a container": (
        lambda address: hostile.in_a_container(hostile.concatenation(address)),
        "video/mp4",
    ),
    "svg": (hostile.vector, "image/svg+xml"),
    "svg called a picture": (hostile.vector, "image/png"),
    "postscript": (lambda _address: b"%!PS\n(/etc/passwd) (r) file\n", "image/jpeg"),
    "mvg": (lambda address: f"push graphic-context\nimage over 0,0 0,0 '{address}/x'\n".encode(), "image/png"),
    "bomb": (lambda _address: hostile.png(20_000, 20_000, rows=20_000), "image/png"),
    "bomb of a few bytes": (lambda _address: hostile.png(60_000, 60_000), "image/png"),
    "one pixel wide": (lambda _address: hostile.png(1, 33_177_600), "image/png"),
    "picture without any rows": (lambda _address: saved(drawn(400, 300, 1), "PNG")[:40], "image/png"),
    "cut video": (lambda _address: hostile.cut("video/mp4"), "video/mp4"),
    "frames of a gif": (lambda _address: hostile.gif_of(20_000, 900, 900), "image/gif"),
    "frames of a webp": (lambda _address: hostile.webp_of(20_000), "image/webp"),
    "wrong codec": (lambda _address: recording("mov", "mpeg2video", rate=25), "video/quicktime"),
    "video called a picture": (lambda _address: sample("video/mp4"), "image/png"),
    "picture called a video": (lambda _address: picture(), "video/mp4"),
    "page called a picture": (lambda _address: b"<!doctype html><script>alert(1)</script>", "image/jpeg"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_row_1_a_hostile_file_is_refused_and_leaves_nothing(
    name: str, author: Account, address: str, settings: Any
) -> None:
    make, content_type = REFUSED[name]
    answer = _upload(author, make(address), content_type)
    assert (answer.status_code, list(answer.json())) == (422, ["error"])
    assert (MediaAttachment.objects.count(), _stored(settings)) == (0, [])


@pytest.mark.parametrize(
    ("make", "content_type"),
    [(hostile.mp4_of_other_data, "video/mp4"), (hostile.mp3_with_linked_cover, "audio/mpeg")],
    ids=["data elsewhere", "linked cover"],
)
def test_row_1_addresses_inside_a_file_are_not_opened(
    make: Callable[[str], bytes], content_type: str, author: Account, address: str, settings: Any
) -> None:
    answer = _upload(author, make(address), content_type)
    assert answer.status_code in (202, 422)
    work()
    for media in MediaAttachment.objects.all():
        assert media.processing in (Processing.COMPLETE, Processing.FAILED)
        assert sorted(_stored(settings)) == sorted(media.paths)
        assert all(address.encode() not in (settings.MEDIA_ROOT / path).read_bytes() for path in media.paths)


def test_row_1_a_picture_with_a_large_hidden_text_costs_little(author: Account) -> None:
    """Only the processor time of this process is measured; another process decodes the picture."""
    file, answered = hostile.text_bomb(), set()
    assert takes_at_most(5000, lambda: answered.add(_upload(author, file, "image/png").status_code))
    assert answered <= {200, 422}


def test_row_1_a_truncated_video_fails_without_affecting_other_files(author: Account, settings: Any) -> None:
    whole = recording("webm", "libvpx-vp9", "libopus", seconds=10, frames=100)
    bad = _upload(author, whole[: len(whole) // 3], "video/webm").json()["id"]
    good = _upload(author, sample("audio/wav"), "audio/wav").json()["id"]
    work()
    states = dict(MediaAttachment.objects.values_list("id", "processing"))
    assert states == {int(bad): Processing.FAILED, int(good): Processing.COMPLETE}
    assert _stored(settings) == [MediaAttachment.objects.get(id=good).file]


@pytest.mark.verify
@pytest.mark.parametrize("frames", [20_000, 40_000])
def test_row_1_a_gif_with_very_many_frames_is_processed_in_limited_time(frames: int, author: Account) -> None:
    began = time.monotonic()
    answer = _upload(author, hostile.gif_of(frames, 16, 16), "image/gif")
    assert answer.status_code == (202 if frames == 20_000 else 422)
    work()
    assert set(MediaAttachment.objects.values_list("processing", flat=True)) <= {Processing.COMPLETE, Processing.FAILED}
    assert time.monotonic() - began < 120


@pytest.mark.verify
def test_row_56_a_video_of_huge_pictures_is_refused(author: Account, settings: Any) -> None:
    video = recording("mp4", "libx264", width=4100, height=2100, frames=2, options=(("preset", "ultrafast"),))
    answer = _upload(author, video, "video/mp4")
    assert (answer.status_code, answer.json()) == (422, {"error": "4100x2100 videos are not supported"})
    assert _stored(settings) == []
