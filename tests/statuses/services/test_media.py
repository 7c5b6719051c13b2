"""Tests of files that have not been attached to a post yet."""

import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Account
from social.kernel import clock
from social.kernel.errors import Invalid, NotFound
from statuses.events import MediaUploaded
from statuses.models import MediaAttachment, MediaType, Processing
from statuses.policies.media import SUPPORTED_TYPES, read_focus
from statuses.queries.media import find_media
from statuses.services.media import (
    MediaChange,
    MediaUpload,
    SentFile,
    delete_media,
    remove_unattached,
    update_media,
    upload_media,
)
from statuses.services.processing import process_media
from tests.factories.recordings import moving_gif, sample
from tests.factories.statuses import make_media, make_status, picture

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]


def _sent(data: bytes, content_type: str = "") -> SentFile:
    return SentFile(io.BytesIO(data), content_type)


def _upload(account: Account, data: bytes, content_type: str = "", **values: Any) -> MediaAttachment:
    upload = MediaUpload(_sent(data, content_type), **values)
    return upload_media(account_id=account.id, upload=upload)


def test_a_picture_is_stored_with_its_preview_sizes_and_blurhash(alice: Account, media_root: Path) -> None:
    media = _upload(alice, picture(1600, 1200, "JPEG"), description=" a cat ", focus="0.5,-0.25")
    stored = MediaAttachment.objects.get(id=media.id)
    assert (stored.type, stored.processing, stored.description) == (MediaType.IMAGE, Processing.COMPLETE, "a cat")
    assert stored.meta["original"]["size"] == "1600x1200"
    assert (stored.meta["small"]["width"], stored.meta["small"]["height"]) == (554, 416)
    assert stored.meta["focus"] == {"x": 0.5, "y": -0.25}
    assert stored.blurhash is not None
    assert len(stored.blurhash) == 36
    assert (media_root / stored.file).stat().st_size == stored.file_size
    assert (media_root / stored.preview).exists()


WRONG_TYPE = "Validation failed: File content type is invalid, File is invalid"
UNIDENTIFIED = "File type of uploaded media could not be verified"
SPOOFED = "Validation failed: File has contents that are not what they are reported to be"


@pytest.mark.parametrize(
    ("data", "content_type", "message"),
    [
        (b"", "image/png", WRONG_TYPE),
        (b"ID3\x04 music", "audio/mpeg", UNIDENTIFIED),
        (b"\0\0\0\x18ftypmp42", "video/mp4", UNIDENTIFIED),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/png", WRONG_TYPE),
        (b"hello", "text/plain", WRONG_TYPE),
        (b"hello", "image/png", SPOOFED),
        (b"\x89PNG\r\n\x1a\n", "image/png", UNIDENTIFIED),
        (
            b"GIF89a" + b"\0" * 16 * 1024 * 1024,
            "image/gif",
            "Validation failed: File file size must be less than 16 MB",
        ),
    ],
)
def test_a_file_that_is_no_picture_is_refused_with_the_message_of_the_contract(
    alice: Account, media_root: Path, data: bytes, content_type: str, message: str
) -> None:
    with pytest.raises(Invalid) as refused:
        _upload(alice, data, content_type=content_type)
    assert refused.value.message == message
    assert not MediaAttachment.objects.exists()
    assert not list(media_root.rglob("*.*"))


def test_the_content_type_sent_does_not_decide_what_a_file_is(alice: Account) -> None:
    assert _upload(alice, picture(), content_type="application/x-evil").content_type == "image/png"


@pytest.mark.parametrize("content_type", SUPPORTED_TYPES)
def test_every_supported_type_is_accepted_and_processed(alice: Account, content_type: str) -> None:
    media = _upload(alice, sample(content_type), content_type)
    if content_type.startswith("image/"):
        assert (media.type, media.processing) == (MediaType.IMAGE, Processing.COMPLETE)
        return
    assert (media.processing, media.file) == (Processing.QUEUED, "")
    process_media([MediaUploaded(media_id=media.id)])
    media.refresh_from_db()
    assert media.processing == Processing.COMPLETE
    assert media.content_type == ("audio/mpeg" if media.type == MediaType.AUDIO else "video/mp4")


def test_seed_028_pictures_have_no_thumbnail_of_their_own(alice: Account) -> None:
    for data in (picture(), moving_gif()):
        with pytest.raises(Invalid, match="Validation failed: Thumbnail must be blank"):
            _upload(alice, data, thumbnail=_sent(picture()))


def test_descriptions_of_ten_thousand_characters_are_the_longest(alice: Account) -> None:
    assert _upload(alice, picture(), description="x" * 10_000).description == "x" * 10_000
    with pytest.raises(Invalid, match="Validation failed: Description is too long"):
        _upload(alice, picture(), description="x" * 10_001)


@pytest.mark.parametrize(
    ("written", "point"),
    [
        ("0,0", {"x": 0.0, "y": 0.0}),
        ("-1.0, 0.5", {"x": -1.0, "y": 0.5}),
        ("7,-7", {"x": 7.0, "y": -7.0}),
        ("", None),
        (None, None),
        ("0.5", {"x": 0.5, "y": None}),
        ("a,b", {"x": 0.0, "y": 0.0}),
        ("middle", {"x": 0.0, "y": None}),
        ("nan,0", {"x": 0.0, "y": 0.0}),
        ("1,inf", {"x": 1.0, "y": 0.0}),
        ("1e999,0", {"x": 0.0, "y": 0.0}),
        ("1,2,3", {"x": 1.0, "y": 2.0}),
    ],
)
def test_a_focus_is_parsed_leniently(written: str | None, point: dict[str, float | None] | None) -> None:
    assert read_focus(written) == point


def test_a_failed_write_leaves_no_files(alice: Account, media_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(media: MediaAttachment) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(MediaAttachment, "save", full)
    with pytest.raises(OSError, match="No space left"):
        _upload(alice, picture())
    assert not list(media_root.rglob("*.*"))


def test_seed_064_an_unattached_file_can_be_described_anew(alice: Account) -> None:
    media = make_media(alice, description="old")
    changed = update_media(account_id=alice.id, media_id=media.id, change=MediaChange(description="new", focus="1,0"))
    assert (changed.description, changed.meta["focus"]) == ("new", {"x": 1.0, "y": 0.0})
    kept = update_media(account_id=alice.id, media_id=str(media.id), change=MediaChange())
    assert (kept.description, kept.meta) == ("new", changed.meta)
    assert update_media(account_id=alice.id, media_id=media.id, change=MediaChange(description="")).description == ""
    with pytest.raises(Invalid):
        update_media(account_id=alice.id, media_id=media.id, change=MediaChange(description="x" * 10_001))
    with pytest.raises(Invalid):
        update_media(account_id=alice.id, media_id=media.id, change=MediaChange(thumbnail=_sent(picture())))


def test_only_the_accounts_own_unattached_files_are_found(alice: Account, bob: Account) -> None:
    foreign, used = make_media(bob), make_media(alice)
    make_status(alice, media=[used])
    for wrong in (foreign.id, used.id, 1, "abc", None):
        with pytest.raises(NotFound):
            find_media(wrong, alice.id)
        with pytest.raises(NotFound):
            update_media(account_id=alice.id, media_id=wrong, change=MediaChange(description="x"))
    foreign.refresh_from_db()
    assert foreign.description is None


def test_deleting_a_file_removes_its_row_and_after_the_commit_the_stored_files(
    alice: Account, media_root: Path, django_capture_on_commit_callbacks: Any
) -> None:
    media = make_media(alice)
    with django_capture_on_commit_callbacks(execute=True):
        delete_media(account_id=alice.id, media_id=media.id)
    assert not MediaAttachment.objects.exists()
    assert not [path for path in media_root.rglob("*") if path.is_file()]


def test_attached_and_foreign_files_are_not_deleted(alice: Account, bob: Account) -> None:
    foreign, used = make_media(bob), make_media(alice)
    make_status(alice, media=[used])
    with pytest.raises(Invalid, match="Media attachment is currently used by a status"):
        delete_media(account_id=alice.id, media_id=used.id)
    for wrong in (foreign.id, 1, "abc"):
        with pytest.raises(NotFound):
            delete_media(account_id=alice.id, media_id=wrong)
    assert MediaAttachment.objects.count() == 2


def test_files_that_nobody_attached_for_a_day_are_removed(
    alice: Account, media_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("statuses.services.media._BATCH_SIZE", 2)
    old = [make_media(alice) for _number in range(3)]
    used, fresh = make_media(alice), make_media(alice)
    make_status(alice, media=[used])
    MediaAttachment.objects.exclude(id=fresh.id).update(unattached_at=clock.now() - timedelta(hours=25))
    assert remove_unattached() == 3
    assert set(MediaAttachment.objects.all()) == {used, fresh}
    assert not any((media_root / media.file).exists() for media in old)
    assert all((media_root / media.file).exists() for media in (used, fresh))
