"""Tests of the command that manages the media storage."""

import io
import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.copies.models import RemoteCopy
from accounts.models import Account, AuditEntry
from accounts.policies.staff import staff_of
from accounts.services.profile_pictures import PictureUpload
from accounts.services.profiles import ProfileChange, update_profile
from social.kernel import clock
from social.kernel.errors import Forbidden
from social.kernel.media import storage
from statuses.models import MediaAttachment
from statuses.services import media_upkeep
from statuses.services.media import remove_unattached
from statuses.services.media_upkeep import prune_media
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_media, make_remote_media, make_remote_status, make_status, picture
from tests.statuses.conftest import api_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("media", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def _copies(*days: int) -> list[MediaAttachment]:
    """Create cached files from remote servers, last viewed this many days ago."""
    status = make_remote_status(make_remote())
    files = [make_remote_media(status, f"https://files.example/{number}.png") for number in range(len(days))]
    for copy, age in zip(RemoteCopy.objects.order_by("id"), days, strict=True):
        RemoteCopy.objects.filter(id=copy.id).update(
            served_at=clock.now() - timedelta(days=age), requested_at=clock.now() - timedelta(days=age)
        )
    return files


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_copies_that_nobody_has_viewed_are_removed(media_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _copies(1, 8, 9, 30)
    RemoteCopy.objects.filter(url__endswith="3.png").update(host="other.example")
    size = 2 * len(picture())
    assert run("remove", "--dry-run").startswith("3 copies")
    assert (RemoteCopy.objects.count(), AuditEntry.objects.count()) == (4, 0), "a dry run changes nothing"
    assert run("remove", "--host", "FILES.example").startswith("2 copies")
    assert [copy.url[-5] for copy in RemoteCopy.objects.order_by("id")] == ["0", "3"]
    assert len(_files(media_root)) == 4
    [entry] = AuditEntry.objects.all()
    assert (entry.account_name, entry.action, entry.target_name) == ("operator", "remove", "FILES.example")
    assert entry.details == {"files": 2, "bytes": 2 * size, "days": 7}
    with pytest.raises(CommandError):
        run("remove", "--days", "-1")


def test_prune_removes_only_files_to_which_no_row_refers(
    alice: Account, media_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(media_upkeep, "_BATCH_SIZE", 2)
    update_profile(user=alice.user, change=ProfileChange(avatar=PictureUpload(picture())))
    make_status(alice, media=[make_media(alice)])
    _copies(0)
    kept = _files(media_root)
    orphans = [
        storage.store(b"x" * 10, folder=folder, extension="png") for folder in ("cache/cover", "accounts/avatars") * 2
    ]
    elsewhere = storage.store(b"x", folder="of_another_release", extension="png")
    young = storage.store(b"x", folder="cache/cover", extension="png")
    day_ago = (clock.now() - timedelta(days=2)).timestamp()
    for path in (*kept, *orphans, elsewhere):
        os.utime(media_root / path, (day_ago, day_ago))
    assert run("prune", "--dry-run").startswith("4 files that nothing names")
    assert _files(media_root) == kept | {*orphans, elsewhere, young}
    assert run("prune").startswith("4 files that nothing names")
    assert _files(media_root) == kept | {elsewhere, young}
    [entry] = AuditEntry.objects.all()
    assert (entry.action, entry.details["files"], entry.details["bytes"]) == ("prune", 4, 40)


def test_files_that_only_an_earlier_version_of_a_post_shows_stay(alice: Account, media_root: Path) -> None:
    media = make_media(alice)
    post = make_status(alice, "One", media=[media])
    api_of(alice).put(f"/api/v1/statuses/{post.id}", {"status": "None"})
    MediaAttachment.objects.update(unattached_at=clock.now() - timedelta(days=9))
    kept = _files(media_root)
    for path in kept:
        os.utime(media_root / path, ((clock.now() - timedelta(days=9)).timestamp(),) * 2)
    assert remove_unattached() == 0
    assert run("prune").startswith("0 files that nothing names, 0.0 MB; 0 unattached; 0 copies")
    assert _files(media_root) == kept
    shown = [
        [file["url"] for file in version["media_attachments"]]
        for version in api_of(alice).get(f"/api/v1/statuses/{post.id}/history").json()
    ]
    assert shown == [[storage.url(media.file)], []]


def test_lost_remote_files_are_fetched_again_and_lost_local_files_reported(alice: Account, media_root: Path) -> None:
    media = make_media(alice)
    make_status(alice, media=[media])
    MediaAttachment.objects.update(created_at=clock.now() - timedelta(days=2))
    _copies(2, 2)
    for path in (media.file, RemoteCopy.objects.order_by("id")[0].file):
        (media_root / path).unlink()
    said = run("prune")
    assert "1 copies without their file" in said
    assert f"attachment {media.id}: its file is lost" in said
    assert [copy.url[-5] for copy in RemoteCopy.objects.all()] == ["1"]
    assert MediaAttachment.objects.filter(id=media.id).exists()


def test_the_used_space_is_shown_by_kind_of_file(alice: Account) -> None:
    make_media(alice)
    _copies(1, 2)
    said = run("usage", "--storage")
    assert "attachments image: 1" in said
    assert "copies attachment ready: 2" in said
    assert "of 10240.0 MB" in said
    assert "stored cache: 4" in said


def test_pruning_the_storage_requires_the_permission(alice: Account) -> None:
    with pytest.raises(Forbidden):
        prune_media(by=staff_of(alice.user))
