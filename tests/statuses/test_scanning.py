"""Tests of the operator's file scanner: files are hidden until they pass, and staff release or delete refused files."""

import hashlib
import io
import sys
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError

from accounts.copies.models import QuarantinedFile, QuarantineSource, RemoteCopy
from accounts.copies.services.quarantine import Origin, destroy_file, quarantine_file, release_file
from accounts.emojis.services.packs import Terms, import_emojis
from accounts.models import Account, AuditEntry
from accounts.policies.staff import OPERATOR, staff_of
from accounts.services.sanctions import hold_account
from moderation.services.documents import change_thumbnail
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden, Invalid, Unavailable
from social.kernel.media import scanning
from social.kernel.media.scanning import ScanResult
from social.kernel.outbox import OutboxRow
from statuses.models import MediaAttachment
from tests.factories.accounts import make_remote, make_user
from tests.factories.recordings import sample
from tests.factories.statuses import make_remote_media, make_remote_status, picture
from tests.federation.remote_server import Answer, RemoteServer
from tests.statuses.conftest import api_of
from tests.support.site import answering, listening
from tests.support.work import show, work

pytestmark = pytest.mark.django_db
BAD = picture() + b"forbidden"


class Scanner:
    """A scanner that refuses files containing a word; `answer` replaces its response."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.answer: tuple[int, bytes] | None = None
        self.private = Path()
        scanner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert hashlib.sha256(body).hexdigest() == self.headers["X-Content-SHA256"]
                scanner.asked.append((self.path, self.headers["Content-Type"]))
                verdict = (
                    {"verdict": "clean"} if b"forbidden" not in body else {"verdict": "quarantine", "reason": "Bad.1"}
                )
                status, answer = scanner.answer or (200, orjson.dumps(verdict))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = listening(Handler)


@pytest.fixture
def scanner(settings: Any, media_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scanner]:
    server = Scanner()
    settings.PRIVATE_ROOT = server.private = tmp_path_factory.mktemp("private")
    settings.MEDIA_SCANNER = f"http://127.0.0.1:{server.http.server_port}/scan"
    settings.MEDIA_SCANNER_LOOPBACK = True
    with answering(server.http):
        yield server


def upload(account: Account, data: bytes, name: str = "a.png", kind: str = "image/png", **more: Any) -> Any:
    return api_of(account).upload("POST", "/api/v2/media", file=SimpleUploadedFile(name, data, kind), **more)


def served(media_root: Path) -> list[Path]:
    return [path for path in media_root.rglob("*") if path.is_file()]


def test_an_upload_is_shown_and_can_be_posted_after_a_clean_scan(alice: Account, scanner: Scanner) -> None:
    for data, name, kind in ((picture(), "a.png", "image/png"), (sample("audio/wav"), "a.wav", "audio/wav")):
        answer = upload(alice, data, name, kind)
        assert answer.status_code == 202
        body = answer.json()
        assert (body["url"], body["preview_url"]) == (None, None)
        posted = api_of(alice).post("/api/v1/statuses", {"status": "x", "media_ids": [body["id"]]})
        assert posted.status_code == 422
        work()
        found = api_of(alice).get(f"/api/v1/media/{body['id']}")
        assert (found.status_code, bool(found.json()["url"])) == (200, True)
        posted = api_of(alice).post("/api/v1/statuses", {"status": "x", "media_ids": [body["id"]]})
        assert posted.status_code == 200
    assert scanner.asked[0] == ("/scan", "image/png")
    assert not MediaAttachment.objects.exclude(source="").exists(), "the uploaded data is removed"


def test_a_refused_file_stays_in_quarantine_until_staff_release_it(
    alice: Account, scanner: Scanner, media_root: Path
) -> None:
    media_id = upload(alice, BAD).json()["id"]
    work()
    assert api_of(alice).get(f"/api/v1/media/{media_id}").status_code == 422
    assert served(media_root) == []
    row = QuarantinedFile.objects.get()
    digest = hashlib.sha256(BAD).hexdigest()
    assert (row.sha256, row.account_id, row.reason, row.decision) == (digest, alice.id, "Bad.1", "")
    stored = scanner.private / "quarantine" / row.path
    assert stored.read_bytes() == BAD
    upload(alice, BAD)
    work()
    assert (QuarantinedFile.objects.count(), len(scanner.asked)) == (2, 1), "a known file is not scanned again"
    with pytest.raises(Forbidden):
        release_file(by=staff_of(make_user("nobody")), file=row)
    release_file(by=OPERATOR, file=row)
    work()
    found = api_of(alice).get(f"/api/v1/media/{media_id}")
    assert (found.status_code, found.json()["type"]) == (200, "image")
    assert api_of(alice).post("/api/v1/statuses", {"status": "x", "media_ids": [media_id]}).status_code == 200
    assert not stored.exists()
    third = upload(alice, BAD).json()["id"]
    work()
    assert api_of(alice).get(f"/api/v1/media/{third}").status_code == 200
    for act in (release_file, destroy_file):
        with pytest.raises(Conflict):
            act(by=OPERATOR, file=row)
    assert AuditEntry.objects.get(action="release").target_name == digest


def test_a_file_whose_row_was_not_stored_is_not_kept_either(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise IntegrityError

    monkeypatch.setattr(QuarantinedFile, "save", refuse)
    folder = Path(settings.PRIVATE_ROOT) / "quarantine" / "ee"
    with pytest.raises(IntegrityError):
        quarantine_file(
            BytesIO(b"bad"),
            sha256="ee" * 32,
            content_type="image/png",
            result=ScanResult(False, "bad"),
            origin=Origin(QuarantineSource.UPLOAD),
        )
    assert list(folder.glob("*")) == []


def test_a_destroyed_file_is_recognised_when_it_is_uploaded_again(
    alice: Account, scanner: Scanner, media_root: Path, django_capture_on_commit_callbacks: Any
) -> None:
    upload(alice, BAD)
    work()
    row = QuarantinedFile.objects.get()
    hold_account(by=OPERATOR, account=alice, reason="court")
    with pytest.raises(Conflict):
        destroy_file(by=OPERATOR, file=row)
    Account.objects.filter(id=alice.id).update(held_at=None)
    with django_capture_on_commit_callbacks(execute=True):
        destroy_file(by=OPERATOR, file=row)
    upload(alice, BAD)
    work()
    assert set(QuarantinedFile.objects.values_list("decision", "path")) == {("destroyed", "")}
    assert len(scanner.asked) == 1
    assert served(media_root) == served(scanner.private) == []


def test_while_the_scanner_does_not_answer_uploads_wait(alice: Account, scanner: Scanner) -> None:
    for answer in ((500, b""), (200, b"not json"), (200, b'{"verdict": "perhaps"}')):
        scanner.answer = answer
        media_id = upload(alice, picture()).json()["id"]
        work()
        assert api_of(alice).get(f"/api/v1/media/{media_id}").status_code == 206
    scanner.answer = None
    assert OutboxRow.objects.filter(event="MediaUploaded", attempts=0).count() == 3, (
        "the files wait and have not failed"
    )
    OutboxRow.objects.filter(event="MediaUploaded").update(due_at=clock.now() - timedelta(hours=1))
    work()
    assert set(MediaAttachment.objects.values_list("processing", "attempts")) == {("complete", 1)}


def test_a_change_of_a_profile_picture_waits_for_the_scanner(alice: Account, scanner: Scanner) -> None:
    def change(data: bytes) -> int:
        file = SimpleUploadedFile("a.png", data, "image/png")
        answer = api_of(alice).upload("PATCH", "/api/v1/accounts/update_credentials", avatar=file)
        return int(answer.status_code)

    assert change(BAD) == 422
    alice.refresh_from_db()
    assert (alice.avatar, QuarantinedFile.objects.get().source) == ("", "profile")
    scanner.answer = (503, b"")
    assert change(picture()) == 503
    scanner.answer = None
    assert change(picture()) == 200


def test_a_thumbnail_is_scanned_as_well(alice: Account, scanner: Scanner) -> None:
    thumbnail = SimpleUploadedFile("b.png", BAD, "image/png")
    media_id = upload(alice, sample("audio/wav"), "a.wav", "audio/wav").json()["id"]
    answer = api_of(alice).upload("PUT", f"/api/v1/media/{media_id}", thumbnail=thumbnail)
    assert answer.status_code == 422
    assert QuarantinedFile.objects.get().source == "thumbnail"


def test_copies_of_other_servers_files_are_scanned_before_they_are_shown(
    scanner: Scanner, settings: Any, media_root: Path
) -> None:
    settings.FEDERATION_LOOPBACK = True
    with RemoteServer().running() as server:
        server.pages["/a.png"], server.pages["/b.png"] = Answer(BAD, "image/png"), Answer(picture(), "image/png")
        bad, good = (
            make_remote_media(make_remote_status(make_remote()), f"{server.url}/{name}.png", copied=False)
            for name in "ab"
        )
        path = "http://social.localhost/media_proxy/%d/original"
        assert show(path % good.id).status_code < 400
        assert show(path % bad.id).status_code >= 400
        row = QuarantinedFile.objects.get()
        assert (row.source, row.url, row.account_id) == ("copy", f"{server.url}/a.png", None)
        RemoteCopy.objects.update(retry_at=clock.now())
        asked = len(server.asked)
        assert show(path % bad.id).status_code >= 400
        assert len(server.asked) == asked, "a quarantined file is not fetched again"
        release_file(by=OPERATOR, file=row)
        assert show(path % bad.id).status_code < 400


def test_the_scanner_may_be_a_program(settings: Any) -> None:
    def ask(program: str) -> scanning.ScanResult:
        settings.MEDIA_SCANNER = f"command:{sys.executable} -c '{program}'"
        return scanning.scan(BytesIO(b"forbidden"), "image/png", "x", seconds=10)

    refusing = 'import sys; sys.exit(print("Bad.2") or b"forbidden" in sys.stdin.buffer.read())'
    assert ask(refusing) == scanning.ScanResult(False, "Bad.2")
    assert ask("pass").clean, "the program need not read the file"
    assert ask('import os, sys; sys.exit("SECRET_KEY" in os.environ)').clean
    with pytest.raises(Unavailable):
        ask("import sys; sys.exit(2)")
    settings.MEDIA_SCANNER = "command:/nowhere/scanner"
    with pytest.raises(Unavailable):
        scanning.scan(BytesIO(b"x"), "", "x")


def test_the_scanner_is_on_this_machine_only_if_the_operator_says_so(scanner: Scanner, settings: Any) -> None:
    settings.MEDIA_SCANNER_LOOPBACK = False
    with pytest.raises(Unavailable):
        scanning.scan(BytesIO(b"x"), "", "x")
    assert scanner.asked == []


def test_pictures_of_staff_are_scanned_as_well(scanner: Scanner) -> None:
    files = [("rose.png", BAD), ("oak.png", picture())]
    outcomes = import_emojis(by=OPERATOR, files=files, terms=Terms())
    assert [outcome.result for outcome in outcomes] == ["refused", "added"]
    with pytest.raises(Invalid):
        change_thumbnail(by=OPERATOR, data=BAD)
    assert set(QuarantinedFile.objects.values_list("source", flat=True)) == {"staff"}


def test_a_large_file_is_sent_to_the_scanner_in_chunks(scanner: Scanner, tmp_path: Path, settings: Any) -> None:
    large = tmp_path / "large"
    large.write_bytes(bytes(24 << 20))

    class Watched(io.FileIO):
        largest = 0

        def read(self, size: int | None = -1, /) -> bytes | None:
            piece = super().read(size)
            Watched.largest = max(Watched.largest, len(piece or b""))
            return piece

    for command in (settings.MEDIA_SCANNER, "command:cat"):
        settings.MEDIA_SCANNER = command
        with Watched(large) as file:
            assert scanning.scan(file, "video/mp4", scanning.digest_of(file)).clean
    assert Watched.largest <= 1 << 20
