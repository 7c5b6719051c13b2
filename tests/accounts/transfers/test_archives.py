"""Tests of a user's archive: it is written in resumable steps, at most once a week, and deleted after a week."""

import gzip
import io
import json
import os
import tarfile
import time
import tracemalloc
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from accounts.models import Account, Follow, User
from accounts.services.erasing import delete_user
from accounts.transfers.models import Archive
from accounts.transfers.services import archive_files, archives
from accounts.transfers.services.archives import (
    ArchivePart,
    find_archive_file,
    forget_archives,
    next_archive_at,
    request_archive,
    write_archive,
)
from social.kernel import clock
from social.kernel.errors import Conflict, NotFound, Unavailable
from social.kernel.media import storage
from social.kernel.outbox import OutboxRow, drain
from statuses.models import MediaAttachment, Status
from statuses.services.interactions import favourite_status, reblog_status
from tests.factories.accounts import make_account, make_user
from tests.factories.statuses import make_media, make_status
from tests.support.federation_server import needs_federation
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.PRIVATE_ROOT = tmp_path / "private"
    return Path(settings.PRIVATE_ROOT)


@pytest.fixture
def ada() -> User:
    user = make_user("ada", display_name="Ada", avatar=default_storage.save("a.png", ContentFile(b"my face")))
    for name in ("bob", "eva"):
        Follow.objects.create(account=user.account, target=make_account(name))
    return user


def build(user: User) -> Archive:
    archive = request_archive(account=user.account)
    work()
    archive.refresh_from_db()
    assert archive.state == "ready"
    return archive


def unpack(user: User, archive: Archive) -> dict[str, bytes]:
    path = find_archive_file(account=user.account, archive_id=archive.id)
    assert path.stat().st_size == archive.size
    with tarfile.open(path) as tar:
        members = tar.getmembers()
        assert len({member.name for member in members}) == len(members)
        assert all(not member.name.startswith(("/", ".")) and member.isreg() for member in members)
        return {member.name: tar.extractfile(member).read() for member in members}


def test_an_archive_contains_lists_and_pictures(ada: User) -> None:
    found = unpack(ada, build(ada))
    assert found["avatar.png"] == b"my face"
    assert found["following_accounts.csv"].decode().splitlines() == [
        "Account address,Show boosts,Notify on new posts,Languages",
        "bob@social.localhost,true,false,",
        "eva@social.localhost,true,false,",
    ]
    assert {"blocked_accounts.csv", "muted_accounts.csv", "blocked_domains.csv"} <= set(found)


@needs_federation
def test_an_archive_contains_posts_files_and_favourites_as_activitypub_documents(ada: User) -> None:
    theirs = make_status(make_account("kim"), "theirs")
    secret = make_status(ada.account, "only for @bob", visibility="direct")
    post = make_status(ada.account, "hello #tag")
    file = make_media(ada.account, "a picture")
    MediaAttachment.objects.filter(id=file.id).update(status=post)
    gone = make_status(ada.account, "gone")
    Status.objects.filter(id=gone.id).update(deleted_at=clock.now())
    make_status(make_account("max"), "not mine")
    favourite_status(account_id=ada.account_id, status=theirs)
    reblog_status(account=ada.account, status=theirs)
    work()
    found = unpack(ada, build(ada))
    outbox, likes = json.loads(found["outbox.json"]), json.loads(found["likes.json"])
    assert (outbox["type"], outbox["totalItems"], outbox["id"]) == ("OrderedCollection", 3, "outbox.json")
    kinds = [item["type"] for item in outbox["orderedItems"]]
    assert kinds == ["Create", "Create", "Announce"]
    assert "only for" in outbox["orderedItems"][0]["object"]["content"]
    assert outbox["orderedItems"][0]["object"]["id"].endswith(str(secret.id))
    (attached,) = outbox["orderedItems"][1]["object"]["attachment"]
    assert found[attached["url"]].startswith(b"\x89PNG")
    uri = f"http://social.localhost/users/kim/statuses/{theirs.id}"
    assert (outbox["orderedItems"][2]["object"], likes["orderedItems"], likes["totalItems"]) == (uri, [uri], 1)
    actor = json.loads(found["actor.json"])
    assert (actor["id"], actor["outbox"], actor["icon"]["url"]) == (ada.account.uri, "outbox.json", "avatar.png")
    assert "sensitive" in outbox["@context"][1]


@needs_federation
def test_the_archive_of_an_empty_account_has_complete_documents() -> None:
    user = make_user()
    found = unpack(user, build(user))
    for name in ("outbox.json", "likes.json"):
        assert json.loads(found[name])["orderedItems"] == []
    assert json.loads(found["outbox.json"])["totalItems"] == 0


class _Stopped(BaseException):
    """An exception that simulates a kill of the process."""


@needs_federation
def test_an_archive_stopped_at_any_byte_is_continued_without_a_difference(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(7):
        MediaAttachment.objects.filter(id=make_media(ada.account).id).update(
            status=make_status(ada.account, f"post {number}")
        )
    reference = unpack(ada, build(ada))
    Archive.objects.all().delete()
    for module, name in (
        ("statuses.services.account_steps", "_FILES_PER_STEP"),
        ("federation.outbound.archiving", "_POSTS"),
    ):
        monkeypatch.setattr(f"{module}.{name}", 2)
    monkeypatch.setattr(archives, "TURN_SECONDS", 0.0)
    archive = request_archive(account=ada.account)
    save, number = archives._save, 0

    def killed(*arguments: Any, **values: Any) -> bool:
        nonlocal number
        number += 1
        if number % 2:
            # The file on the disk is complete, but its row does not record this yet.
            raise _Stopped
        return save(*arguments, **values)

    monkeypatch.setattr(archives, "_save", killed)
    turns = 0
    while Archive.objects.get(id=archive.id).state == "building":
        turns += 1
        try:
            write_archive(archive.id)
        except _Stopped:
            with (archive_files.folder_of(archive.id) / archive_files.ARCHIVE).open("ab") as file:
                file.write(b"half a block")
    assert turns > 20
    archive.refresh_from_db()
    assert unpack(ada, archive) == reference
    assert [path.name for path in archive_files.folder_of(archive.id).iterdir()] == [archive_files.ARCHIVE]


def test_an_archive_whose_files_are_missing_is_written_again(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "TURN_SECONDS", 0.0)
    archive = request_archive(account=ada.account)
    for _turn in range(4):
        write_archive(archive.id)
    archive_files.remove_folder(archive.id)
    work()
    archive.refresh_from_db()
    assert unpack(ada, archive)["avatar.png"] == b"my face"


def test_an_archive_is_written_by_one_process_at_a_time(ada: User) -> None:
    archive = request_archive(account=ada.account)
    with archive_files.locked(archive_files.folder_of(archive.id)), pytest.raises(Unavailable):
        write_archive(archive.id)
    write_archive(archive.id)


@pytest.mark.verify
def test_writing_an_archive_takes_constant_memory(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def large(account: Account, cursor: int, writer: archive_files.ArchiveWriter) -> int | None:
        writer.append("large.txt", bytes(1024 * 1024), items=1)
        writer.add_stored(f"media/{cursor}.bin", path)
        return cursor + 1 if cursor < 60 else None

    path = default_storage.save("large.bin", ContentFile(bytes(2 * 1024 * 1024)))
    monkeypatch.setattr(archives, "_parts", {"large": ArchivePart("large", large)})
    archive = request_archive(account=ada.account)
    tracemalloc.start()
    write_archive(archive.id)
    while Archive.objects.get(id=archive.id).state == "building":
        write_archive(archive.id)
    _now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * 1024 * 1024
    archive.refresh_from_db()
    with gzip.open(find_archive_file(account=ada.account, archive_id=archive.id)) as file:
        assert sum(len(block) for block in iter(lambda: file.read(1 << 20), b"")) > 180 * 1024 * 1024


def test_a_missing_file_is_left_out_of_the_archive(ada: User) -> None:
    media = make_media(ada.account)
    storage.remove(media.file)
    assert media.file not in unpack(ada, build(ada))


def test_row_47_an_archive_may_be_requested_once_a_week_and_its_mailed_link_expires(ada: User) -> None:
    archive = build(ada)
    (message,) = [sent for sent in mail.outbox if sent.to == [ada.email]]
    assert f"http://social.localhost/settings/export/archives/{archive.id}" in message.body
    assert next_archive_at(ada.account) == archive.created_at + archives.REQUEST_INTERVAL
    with pytest.raises(Conflict):
        request_archive(account=ada.account)
    assert archive.expires_at == archive.finished_at + timedelta(days=7)
    with time_machine.travel(clock.now() + timedelta(days=7, minutes=1)):
        with pytest.raises(NotFound):
            find_archive_file(account=ada.account, archive_id=archive.id)
        assert forget_archives() == 1
        assert request_archive(account=ada.account).id != archive.id


def test_a_folder_whose_archive_is_gone_is_removed_after_a_day(ada: User, folder: Path) -> None:
    kept = archive_files.folder_of(build(ada).id)
    strays = [archive_files.folder_of(number) for number in (1, 2)]
    for place in strays:
        place.mkdir()
        (place / archive_files.ARCHIVE).write_bytes(b"left")
    for place in (kept, strays[0]):
        os.utime(place, (time.time() - 90_000,) * 2)
    assert forget_archives() == 1
    assert [place.exists() for place in (kept, *strays)] == [True, False, True]


@pytest.mark.django_db(transaction=True)
def test_row_47_an_archives_files_are_removed_when_it_expires_is_replaced_or_its_owner_leaves(ada: User) -> None:
    first = build(ada)
    path = find_archive_file(account=ada.account, archive_id=first.id)
    with time_machine.travel(clock.now() + timedelta(days=8)):
        second = request_archive(account=ada.account)
        assert not path.parent.exists()
        work()
        path = find_archive_file(account=ada.account, archive_id=second.id)
        with time_machine.travel(clock.now() + timedelta(days=8)):
            forget_archives()
        assert not path.parent.exists()
        third = build(ada)
        path = find_archive_file(account=ada.account, archive_id=third.id)
        delete_user(user=ada)
        work()
        assert not path.parent.exists()


def test_row_47_only_its_owner_gets_an_archive_which_is_in_no_public_folder(ada: User, settings: Any) -> None:
    archive = build(ada)
    with pytest.raises(NotFound):
        find_archive_file(account=make_account(), archive_id=archive.id)
    path = find_archive_file(account=ada.account, archive_id=archive.id)
    assert not path.is_relative_to(settings.MEDIA_ROOT)
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_an_abandoned_archive_does_not_prevent_a_new_one(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(account: Account, cursor: int, writer: Any) -> int | None:
        raise OSError("no space left on device")

    monkeypatch.setattr(archives, "_parts", {"broken": ArchivePart("broken", broken)})
    archive = request_archive(account=ada.account)
    drain("transfers")
    assert OutboxRow.objects.get(event="ArchiveDue").attempts == 1
    assert next_archive_at(ada.account) is not None
    with time_machine.travel(clock.now() + timedelta(days=2, minutes=1)):
        assert next_archive_at(ada.account) is None
        assert request_archive(account=ada.account).id != archive.id
    assert not Archive.objects.filter(id=archive.id).exists()
    OutboxRow.objects.all().delete()


def test_a_list_of_any_length_is_written(ada: User) -> None:
    people = [make_account() for _ in range(3)]
    Follow.objects.bulk_create([Follow(account=ada.account, target=person) for person in people], batch_size=100)
    archives._LINES_PER_STEP, before = 2, archives._LINES_PER_STEP
    try:
        lines = unpack(ada, build(ada))["following_accounts.csv"].decode().splitlines()
    finally:
        archives._LINES_PER_STEP = before
    assert len(lines) == 6


def test_an_archive_is_one_valid_tar_file(ada: User) -> None:
    path = find_archive_file(account=ada.account, archive_id=build(ada).id)
    whole = gzip.decompress(path.read_bytes())
    assert len(whole) % 512 == 0
    assert whole.endswith(bytes(1024))
    with tarfile.open(fileobj=io.BytesIO(whole)) as tar:
        assert tar.getnames()
