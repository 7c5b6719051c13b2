"""Tests of processing videos and sounds."""

import io
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Account
from social.kernel.media import storage
from social.kernel.media.decoder import Decoder
from social.kernel.outbox import OutboxRow
from statuses.events import MediaUploaded
from statuses.models import MediaAttachment, Processing
from statuses.services import processing
from statuses.services.media import MediaUpload, SentFile, delete_media, upload_media
from statuses.services.processing import ATTEMPTS, process_media
from tests.factories.recordings import sample
from tests.factories.statuses import make_media
from tests.support.s3 import object_server
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]


def _upload(account: Account, content_type: str = "audio/wav") -> MediaAttachment:
    sent = SentFile(io.BytesIO(sample(content_type)), content_type)
    return upload_media(account_id=account.id, upload=MediaUpload(sent))


def _process(media: MediaAttachment) -> MediaAttachment:
    process_media([MediaUploaded(media_id=media.id)])
    media.refresh_from_db()
    return media


def _files(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


def test_conversion_waits_in_a_queue_of_its_own(alice: Account) -> None:
    media = _upload(alice)
    assert OutboxRow.objects.get(event="MediaUploaded").queue == "media"
    work()
    media.refresh_from_db()
    assert media.processing == Processing.COMPLETE


def test_an_upload_is_stored_until_it_is_processed_and_never_served(
    alice: Account, media_root: Path, client: Any
) -> None:
    media = _upload(alice)
    assert (media_root / media.source).read_bytes() == sample("audio/wav")
    assert client.get(f"/system/{media.source}").status_code == 404
    media = _process(media)
    assert _files(media_root) == [media.file]
    assert media.source == ""
    assert (media_root / media.file).stat().st_size == media.file_size


def test_a_conversion_begun_by_a_killed_process_is_repeated_by_another(alice: Account) -> None:
    media = _upload(alice)
    assert processing._begin(media.id) is not None, "the process is killed here"
    media = _process(media)
    assert (media.processing, media.attempts) == (Processing.COMPLETE, 2)


def test_a_file_that_kills_every_process_is_marked_as_failed(alice: Account, media_root: Path) -> None:
    media, other = _upload(alice), _upload(alice)
    for _attempt in range(ATTEMPTS):
        assert processing._begin(media.id) is not None
    assert _process(media).processing == Processing.FAILED
    assert _process(other).processing == Processing.COMPLETE
    assert _files(media_root) == [other.file]


def test_security_1_a_crash_of_the_decoder_fails_that_file_alone(
    alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    media, other = _upload(alice), _upload(alice)
    crashing = Decoder("tests.kernel.media.crashing_decoding")
    with monkeypatch.context() as patched:
        patched.setattr("social.kernel.media.images.decoder", crashing)
        assert _process(media).processing == Processing.FAILED
    crashing.close()
    assert _process(other).processing == Processing.COMPLETE


def test_a_full_disk_loses_no_file(alice: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    media = _upload(alice)

    def full(*_values: Any, **_named: Any) -> str:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(storage, "store", full)
        for _attempt in range(ATTEMPTS + 1):
            with pytest.raises(OSError, match="No space"):
                process_media([MediaUploaded(media_id=media.id)])
    assert _process(media).processing == Processing.COMPLETE


def test_a_file_that_was_deleted_meanwhile_leaves_nothing_behind(
    alice: Account, media_root: Path, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    media = _upload(alice)
    store = storage.store

    def delete_first(*values: Any, **named: Any) -> str:
        with django_capture_on_commit_callbacks(execute=True):
            delete_media(account_id=alice.id, media_id=media.id)
        return store(*values, **named)

    monkeypatch.setattr(storage, "store", delete_first)
    process_media([MediaUploaded(media_id=media.id)])
    assert not MediaAttachment.objects.exists()
    assert not _files(media_root)


def test_processing_a_ready_or_deleted_file_changes_nothing(alice: Account) -> None:
    media = _process(_upload(alice))
    before = MediaAttachment.objects.values().get()
    process_media([MediaUploaded(media_id=media.id), MediaUploaded(media_id=1)])
    assert MediaAttachment.objects.values().get() == before


def test_a_file_whose_source_is_lost_is_marked_as_failed(alice: Account, media_root: Path) -> None:
    media = _upload(alice)
    (media_root / media.source).unlink()
    assert _process(media).processing == Processing.FAILED


def test_uploads_are_processed_in_object_storage_as_in_a_folder(
    alice: Account, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    with object_server() as server:
        settings.STORAGES = {**settings.STORAGES, "default": server.entry()}
        media = _upload(alice, "video/webm")
        assert server.keys() == sorted(media.paths)
        media = _process(media)
        assert (media.processing, media.file[-4:]) == (Processing.COMPLETE, ".mp4")
        assert server.keys() == sorted([media.file, media.preview])
        picture = make_media(alice)
        assert len(server.keys()) == 4
        with django_capture_on_commit_callbacks(execute=True):
            delete_media(account_id=alice.id, media_id=media.id)
        assert server.keys() == sorted(picture.paths)
