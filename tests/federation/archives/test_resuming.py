"""Tests that an import that was stopped at any point resumes there and imports nothing twice."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db.models.functions import Now

from accounts.events import PastImportDue
from accounts.models import AccountStat, User
from accounts.transfers.services.archive_files import locked
from accounts.transfers.services.past import drop_past, forget_past_imports, start_past
from federation.archives import importing, scanning, undoing, working
from federation.archives.working import process_import, work_off_past_imports
from social.kernel.outbox import OutboxRow
from statuses.models import ImportedPost, Status
from tests.factories.statuses import picture
from tests.federation.archives.conftest import read
from tests.support.altered import altered
from tests.support.past import OLD, mastodon, note, tarred, zipped

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """An exception that simulates a kill of the process."""


def killing(target: Callable[..., Any], call: int, *, after: bool) -> Callable[..., Any]:
    """Wrap `target` so that the call with this number (from 0) raises Killed, before or after `target` runs."""
    calls = iter(range(1_000_000))

    def killer(*args: Any, **kwargs: Any) -> Any:
        fatal = next(calls) == call
        if fatal and not after:
            raise Killed
        result = target(*args, **kwargs)
        if fatal:
            raise Killed
        return result

    return killer


def archive() -> dict[str, bytes]:
    file = [{"type": "Document", "mediaType": "image/png", "url": "media_attachments/a.png"}]
    posts = [
        note(number, published=f"2019-04-0{number}T00:00:00Z", attachment=file if number < 3 else [])
        for number in range(1, 6)
    ]
    posts[3]["inReplyTo"] = f"{OLD}/statuses/3"
    return mastodon(*posts, files={"media_attachments/a.png": picture()})


# The function, the number of the call, and whether the process is killed after the function's work.
POINTS = [
    (scanning, "recognise", 0, True),
    (scanning, "read_past_note", 3, False),
    (scanning._Scan, "_store", 0, False),
    (importing, "upload_media", 0, False),
    (importing, "upload_media", 1, True),
    (importing, "store_status", 0, False),
    (importing, "store_status", 2, True),
    (importing._Post, "_advance", 1, True),
    (importing._Post, "_advance", 4, False),
    (importing._Post, "handle", 3, True),
    (importing, "_finish", 0, False),
    (importing, "remove_files", 0, False),
]


@pytest.mark.parametrize("packed", [zipped, tarred])
def test_an_import_killed_at_any_point_is_completed(ada: User, monkeypatch: Any, packed: Any) -> None:
    killed = 0
    made = None
    for place, name, call, after in POINTS:
        with monkeypatch.context() as patched:
            patched.setattr(place, name, killing(getattr(place, name), call, after=after))
            if made is None or made.state == "finished":
                Status.objects.all().delete()
                AccountStat.objects.all().delete()
                try:
                    made = read(ada, packed(archive()))
                except Killed:
                    killed += 1
                    made = ada.account.past_imports.latest("id")
            try:
                while made.state == "reading":
                    process_import(made.id)
                    made.refresh_from_db()
                start_past(account=ada.account, import_id=made.id)
                while process_import(made.id):
                    pass
            except Killed:
                killed += 1
        while made.state == "reading":
            process_import(made.id)
            made.refresh_from_db()
        start_past(account=ada.account, import_id=made.id)
        while process_import(made.id):
            pass
        made.refresh_from_db()
        assert (made.state, made.done, made.left_out) == ("finished", 5, 0), (place, name, call)
        assert sorted(ImportedPost.objects.values_list("uri", flat=True)) == [
            f"{OLD}/statuses/{n}" for n in range(1, 6)
        ]
        assert Status.objects.filter(media__isnull=False).distinct().count() == 2
        assert AccountStat.objects.get(account=ada.account).statuses_count == 5
    assert killed == len(POINTS)


def test_an_undo_killed_between_two_steps_is_completed(ada: User, monkeypatch: Any) -> None:
    from accounts.transfers.services.past import undo_past
    from tests.federation.archives.conftest import bring

    made = bring(ada, zipped(archive()))
    undo_past(account=ada.account, import_id=made.id)
    monkeypatch.setattr(undoing, "_BATCH", 2)
    with monkeypatch.context() as patched:
        patched.setattr(undoing, "_remove", killing(undoing._remove, 1, after=False))
        with pytest.raises(Killed):
            process_import(made.id, seconds=60)
    assert Status.objects.count() == 3
    assert not process_import(made.id, seconds=60)
    assert not Status.objects.exists()
    assert not AccountStat.objects.get(account=ada.account).statuses_count


def test_a_stopped_import_keeps_the_imported_posts(ada: User) -> None:
    made = read(ada, zipped(archive()))
    start_past(account=ada.account, import_id=made.id)
    assert process_import(made.id, seconds=0)
    drop_past(account=ada.account, import_id=made.id)
    assert not process_import(made.id, seconds=60)
    made.refresh_from_db()
    assert (made.state, made.done, Status.objects.count()) == ("finished", 1, 1)


def test_the_next_step_of_an_import_begins_right_after_the_pause(monkeypatch: Any) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(working, "process_import", lambda _import_id: True)
    monkeypatch.setattr(working, "time", altered(time, sleep=pauses.append))
    work_off_past_imports([PastImportDue(import_id=1)])
    assert pauses == [working.PAUSE_SECONDS]
    assert OutboxRow.objects.filter(event="PastImportDue", due_at__lte=Now()).count() == 1


def test_files_left_by_a_killed_process_are_removed_after_a_day_but_not_files_in_use(ada: User, tmp_path: Path) -> None:
    made = read(ada, zipped(archive()))
    root = tmp_path / "private" / "past"
    for name in ("1", "2", "3"):
        (root / name / "unpacked" / "aa").mkdir(parents=True)
        (root / name / "archive").write_bytes(b"left")
    for name in (str(made.id), "1", "2"):
        os.utime(root / name, (time.time() - 90_000,) * 2)
    with locked(root / "2"):
        os.utime(root / "2", (time.time() - 90_000,) * 2)
        assert forget_past_imports() == 1
    assert {folder.name for folder in root.iterdir()} == {"2", "3", str(made.id)}
    start_past(account=ada.account, import_id=made.id)
    while process_import(made.id):
        pass
    assert Status.objects.count() == 5
    (root / str(made.id)).mkdir(exist_ok=True)
    os.utime(root / str(made.id), (time.time() - 90_000,) * 2)
    assert forget_past_imports() == 2, "an import that ended needs no files, and nobody holds the lock any more"
    assert {folder.name for folder in root.iterdir()} == {"3"}
