"""A backup is whole or none, and a restored server answers as the one it was taken of."""

from __future__ import annotations

import errno
import fcntl
import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
import requests
from django.db import OperationalError, connection
from PIL import Image

from accounts.copies.services import copying as remote_copies
from social.kernel.media import storage
from social.runtime import database
from social.runtime.backups import archive, restoring, saving, sql
from social.runtime.backups.archive import Manifest
from social.runtime.backups.restoring import Target, check
from social.runtime.failures import OperatorError
from social.runtime.unfinished import begin, end, find_mark, refuse_unfinished
from tests.factories.accounts import make_account
from tests.factories.statuses import make_favourite, make_status
from tests.runtime.processes import ROOT, clean_environment, free_ports, fresh_folder, manage, running
from tests.support.browser import submit
from tests.support.s3 import BUCKET, object_server

DOMAIN = "kept.localhost"
PASSWORD = "a password to keep"


def silent(_label: str, _total: int | None) -> Any:
    return nullcontext(lambda _amount: None)


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A small backup that is whole."""
    folder = tmp_path / "backup"
    (folder / "media").mkdir(parents=True)
    lines = []
    for name in (archive.DATABASE, archive.SECRETS, "media/a.png"):
        (folder / name).write_text(f"what is in {name}")
        lines.append(_line(folder, name))
    return _sealed(folder, lines)


def _line(folder: Path, name: str) -> str:
    return f"{archive.checksum(folder / name)}  {name}\n"


def _sealed(folder: Path, lines: list[str]) -> Path:
    (folder / archive.CHECKSUMS).write_text("".join(lines))
    sums = archive.checksum(folder / archive.CHECKSUMS)
    Manifest(1, DOMAIN, "2026-01-01", "0.1.0", 18, 1, "included", 3, 3, sums, []).write(folder)
    return folder


def test_a_whole_backup_is_accepted_also_of_a_release_that_notes_more(backup: Path) -> None:
    assert archive.verify(backup, silent).domain == DOMAIN
    noted = json.loads((backup / archive.MANIFEST).read_text())
    (backup / archive.MANIFEST).write_text(json.dumps(noted | {"added": 1}))
    assert archive.verify(backup, silent).domain == DOMAIN


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda folder: (folder / "media/a.png").write_text("what is IN media/a.png"), "a.png is not what was stored"),
        (lambda folder: (folder / "media/a.png").unlink(), "The backup is not whole"),
        (lambda folder: (folder / archive.CHECKSUMS).write_text(""), "is not the one of this backup"),
        (lambda folder: (folder / archive.MANIFEST).write_text("{"), "is damaged"),
        (lambda folder: (folder / archive.MANIFEST).write_text("[]"), "is damaged"),
        (lambda folder: (folder / archive.MANIFEST).write_text('{"format": 2}'), "a format that this release does not"),
        (lambda folder: (folder / archive.MANIFEST).unlink(), "is no backup"),
        (lambda folder: _sealed(folder, [f"{'0' * 64}  media/../../x\n"]), "is damaged"),
        (lambda folder: _sealed(folder, [f"{'0' * 64}  /etc/passwd\n"]), "is damaged"),
        (lambda folder: _sealed(folder, [f"{'0' * 64}  run/last.json\n"]), "does not belong"),
        (lambda folder: _sealed(folder, [f"{'0' * 64}  media/./a.png\n"]), "does not belong"),
        (lambda folder: _sealed(folder, [f"{'0' * 64}  media\n"]), "does not belong"),
        (lambda folder: _sealed(folder, []), "lacks database"),
        (lambda folder: _linked(folder / "media" / "a.png"), r"a\.png is a link"),
        (lambda folder: _linked(folder / "media"), r"a\.png is a link"),
        (lambda folder: _linked(folder / archive.DATABASE), "is a link"),
        (lambda folder: _linked(folder / archive.MANIFEST), "is a link"),
        (lambda folder: _linked(folder / archive.CHECKSUMS), "is a link"),
        (lambda folder: _piped(folder / archive.MANIFEST), "is a link, or no file"),
    ],
)
def test_a_backup_that_is_not_whole_is_refused(backup: Path, harm: Any, words: str) -> None:
    harm(backup)
    with pytest.raises(OperatorError, match=words):
        archive.verify(backup, silent)


def _piped(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def _linked(place: Path) -> None:
    elsewhere = place.with_name(f"{place.name}.moved")
    place.rename(elsewhere)
    place.symlink_to(elsewhere)


def test_a_backup_that_was_changed_whole_is_known_by_its_digest(backup: Path) -> None:  # security row 82
    digest = archive.digest_of(backup)
    archive.check_digest(backup, f"{digest.upper()}\n")
    (backup / "media/a.png").write_text("another")
    _sealed(backup, [_line(backup, name) for name in (archive.DATABASE, archive.SECRETS)])
    archive.verify(backup, silent)
    with pytest.raises(OperatorError, match="was changed since it was taken"):
        archive.check_digest(backup, digest)


@pytest.mark.parametrize("key", ["", "\\restrict abc\n"])
def test_a_dump_that_was_changed_runs_no_program_and_loads_nothing(tmp_path: Path, key: str) -> None:  # security row 82
    base = os.environ["DATABASE_URL"].rpartition("/")[0]
    url, ran = f"{base}/changed_dump", tmp_path / "ran"
    with psycopg.connect(f"{base}/postgres", autocommit=True) as server:
        server.execute("DROP DATABASE IF EXISTS changed_dump")
        server.execute("CREATE DATABASE changed_dump")
        with psycopg.connect(url, autocommit=True) as connected:
            connected.execute("CREATE TABLE kept (word text)")
            connected.execute(
                "INSERT INTO kept SELECT 'x\\! ' || repeat('word', number) FROM generate_series(1, 500) number"
            )
        whole = tmp_path / "whole.sql.gz"
        with sql.dump(url) as source:
            whole.write_bytes(source.read())
        text = gzip.decompress(whole.read_bytes()).decode()
        assert "\\restrict" in text
        harms = [
            f"\\! touch {ran}\n",
            f"\\o | touch {ran}\n",
            f"\\unrestrict abc\n\\! touch {ran}\n",
            f"\\unrestrict `touch {ran}`\n",
        ]
        for harm in harms:
            changed = tmp_path / "changed.sql.gz"
            changed.write_bytes(gzip.compress((key + harm + "CREATE TABLE evil ();\n" + text).encode()))
            with pytest.raises(OperatorError, match="nothing in it was changed"):
                sql.load(url, changed, lambda _bytes: None)
            changed.write_bytes(gzip.compress(f"{text}{harm}".encode()))
            with pytest.raises(OperatorError):
                sql.load(url, changed, lambda _bytes: None)
        assert not ran.exists()
        sql.load(url, whole, lambda _bytes: None)
        with psycopg.connect(url) as connected:
            assert connected.execute("SELECT count(*), to_regclass('evil') FROM kept").fetchone() == (500, None)
        server.execute("DROP DATABASE changed_dump WITH (FORCE)")


def test_a_server_newer_than_every_pg_dump_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    server = SimpleNamespace(info=SimpleNamespace(server_version=99_0001))
    monkeypatch.setattr(database, "connect", lambda _url: nullcontext(server))
    with pytest.raises(OperatorError, match=r"is PostgreSQL 99.*postgresql-client-99"), sql.dump("postgres://a/b"):
        pass


@pytest.mark.parametrize(
    "harm", [Path.unlink, *(lambda path, text=text: path.write_text(text) for text in ("{}x", "[]", "{}"))]
)
def test_damaged_secrets_of_a_backup_are_refused_before_anything_is_changed(
    backup: Path, harm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_DOMAIN", DOMAIN)
    harm(backup / archive.SECRETS)
    target = Target(tables=0, domain=None, secrets=False, interrupted=False)
    with pytest.raises(OperatorError, match=r"secrets\.json is damaged"):
        check(backup, archive.read_manifest(backup), target, replace=False)


def test_an_interrupted_backup_is_refused(backup: Path) -> None:
    unfinished = backup.rename(backup.with_name("backup.partial"))
    with pytest.raises(OperatorError, match="was not completed"):
        archive.verify(unfinished, silent)


def test_a_marked_data_directory_names_the_remedy(tmp_path: Path) -> None:
    refuse_unfinished(tmp_path)
    begin(tmp_path, what="The restore", remedy="manage.py restore x")
    assert find_mark(tmp_path) == "The restore"
    refuse_unfinished(tmp_path, but="The restore")
    with pytest.raises(OperatorError, match=r"Complete it: manage\.py restore x"):
        refuse_unfinished(tmp_path)
    end(tmp_path)
    refuse_unfinished(tmp_path)


class Server:
    """A server with somebody who has written and is signed in, and what is seen of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = clean_environment(DATA_DIR=str(folder), LOCAL_DOMAIN=DOMAIN, WEB_WORKERS="1", **free_ports())
        self.address = f"http://127.0.0.1:{self.environment['PORT']}"
        self.browser = requests.Session()
        self.browser.headers["Host"] = DOMAIN
        self.token = ""
        self.post = ""

    def run(self, log: Path) -> Any:
        return running([sys.executable, "manage.py", "run"], log, self.environment)

    def ask(self, method: str, path: str, **values: Any) -> requests.Response:
        headers = {"Host": DOMAIN, "Authorization": f"Bearer {self.token}"}
        answer = requests.request(method, self.address + path, headers=headers, timeout=60, **values)
        answer.raise_for_status()
        return answer

    def fill(self) -> None:
        command = ["create_account", "alice", "--email", "alice@example.com", "--password", PASSWORD, "--confirmed"]
        made = manage(*command, "--role", "Owner", "--token", "read write", environment=self.environment)
        self.token = json.loads(made.stdout)["access_token"]
        picture = io.BytesIO()
        Image.new("RGB", (40, 30), "teal").save(picture, "PNG")
        media = self.ask("POST", "/api/v2/media", files={"file": ("a.png", picture.getvalue(), "image/png")}).json()
        values = {"status": "A post to keep #kept", "media_ids[]": media["id"], "visibility": "private"}
        self.post = self.ask("POST", "/api/v1/statuses", data=values).json()["id"]
        page = self.browser.get(f"{self.address}/auth/sign_in", timeout=60)
        submit(self.browser, page, login="alice@example.com", password=PASSWORD)
        archives = self.folder / "private" / "archives" / "1"
        archives.mkdir(parents=True)
        (archives / "archive.zip").write_bytes(b"an archive that somebody has asked for")

    def seen(self) -> dict[str, Any]:
        """What a client, a reader, a signed-in person and another server see."""
        post = self.ask("GET", f"/api/v1/statuses/{self.post}").json()
        media = post["media_attachments"][0]["url"].partition(DOMAIN)[2].lstrip(":0123456789")
        actor = requests.get(
            f"{self.address}/users/alice", headers={"Host": DOMAIN, "Accept": "application/activity+json"}, timeout=60
        ).json()
        page = self.browser.get(f"{self.address}/settings/profile", allow_redirects=False, timeout=60)
        return {
            "post": post["content"],
            "picture": self.ask("GET", media).content,
            "home": [one["id"] for one in self.ask("GET", "/api/v1/timelines/home").json()],
            "account": self.ask("GET", "/api/v1/accounts/verify_credentials").json()["id"],
            "key": actor["publicKey"],
            "signed in": page.status_code,
            "vapid": self.ask("GET", "/api/v2/instance").json()["configuration"]["vapid"],
            "secrets": json.loads((self.folder / "secrets.json").read_text()),
            "archive": (self.folder / "private" / "archives" / "1" / "archive.zip").read_bytes(),
        }


@pytest.fixture(scope="module")
def saved() -> Iterator[tuple[Server, Path, dict[str, Any]]]:
    """A server that is gone, its backup, and what was seen of it."""
    server, kept = Server(fresh_folder()), fresh_folder()
    with server.run(kept / "log") as process:
        process.says("Social is ready")
        server.fill()
        seen = server.seen()
        done = manage("backup", "--output", str(kept / "backup"), "--json", environment=server.environment)
        assert done.returncode == 0, done.stderr
        process.end()
    assert json.loads(done.stdout)["domain"] == DOMAIN
    shutil.rmtree(server.folder)
    yield server, kept / "backup", seen
    shutil.rmtree(kept)


@pytest.fixture
def empty(saved: tuple[Server, Path, dict[str, Any]]) -> Iterator[Path]:
    """The data directory of the server, with nothing in it."""
    folder = saved[0].folder
    folder.mkdir()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.verify
@pytest.mark.timeout(900)
def test_a_wiped_server_is_restored_as_it_was(
    saved: tuple[Server, Path, dict[str, Any]], empty: Path, tmp_path: Path
) -> None:
    server, backup, seen = saved
    assert seen["signed in"] == 200
    done = manage("restore", str(backup), environment=server.environment)
    assert done.returncode == 0, done.stderr
    with server.run(tmp_path / "log") as process:
        process.says("Social is ready")
        assert server.seen() == seen
        refused = manage("restore", str(backup), "--force", "--yes", environment=server.environment)
        assert (refused.returncode, "is already run by process" in refused.stderr) == (1, True)
        tried = manage("restore", str(backup), "--force", "--dry-run", environment=server.environment)
        assert (tried.returncode, f"{DOMAIN} of" in tried.stdout) == (0, True), tried.stderr
        assert server.seen() == seen
        process.end()

    # A server that is there is replaced only when that is said, and keeps its domain.
    refused = manage("restore", str(backup), environment=server.environment)
    assert (refused.returncode, "say --force" in refused.stderr) == (1, True)
    other = server.environment | {"LOCAL_DOMAIN": "other.localhost"}
    refused = manage("restore", str(backup), "--force", "--yes", environment=other)
    assert (refused.returncode, f"a backup of {DOMAIN}" in refused.stderr) == (1, True)
    asked = manage("restore", str(backup), "--force", environment=server.environment)
    assert (asked.returncode, "Use --yes" in asked.stderr) == (1, True)
    manage("create_account", "later", "--email", "later@example.com", environment=server.environment)
    done = manage("restore", str(backup), "--force", "--yes", environment=server.environment)
    assert done.returncode == 0, done.stderr
    again = manage("create_account", "later", "--email", "later@example.com", environment=server.environment)
    assert "password" in json.loads(again.stdout), "who came after the backup is gone"


# Where the process is killed: before a function of `restoring` is called, within it, or when it has returned.
POINTS = [
    ("before", "_restore_files"),
    ("before", "load"),
    ("within", "load"),
    ("after", "load"),
    ("after", "_advance_sequences"),
    ("before", "_discard_old_caches"),
    ("after", "_discard_old_caches"),
]
_KILLED = """
import os, signal, sys
from social.runtime import manage
from social.runtime.backups import restoring, sql

def end(*_arguments):
    os.kill(os.getpid(), signal.SIGKILL)

when, name = sys.argv[1:3]
called = getattr(restoring, name)
if when == "before":
    setattr(restoring, name, end)
elif when == "within":
    sql._progress_of = lambda file, advance: end
    sql.CHUNK = 8192
else:
    def call(*arguments):
        called(*arguments)
        end()
    setattr(restoring, name, call)
sys.exit(manage.main(["manage.py", *sys.argv[3:]]))
"""


@pytest.mark.verify
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("when", "name"), POINTS)
def test_a_restore_that_was_killed_is_refused_until_it_is_done_again(
    saved: tuple[Server, Path, dict[str, Any]], empty: Path, tmp_path: Path, when: str, name: str
) -> None:
    server, backup, seen = saved
    command = [sys.executable, "-c", _KILLED, when, name, "restore", str(backup)]
    killed = subprocess.run(command, cwd=ROOT, env=server.environment, capture_output=True, text=True, timeout=300)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    for refused in (manage(word, environment=server.environment) for word in ("run", "setup", "doctor", "backup")):
        assert refused.returncode == 1
        assert f"restore {backup}" in refused.stderr
    done = manage("restore", str(backup), environment=server.environment)
    assert done.returncode == 0, done.stderr
    with server.run(tmp_path / "log") as process:
        process.says("Social is ready")
        assert server.seen() == seen
        process.end()


def test_files_of_an_object_storage_are_copied_only_when_asked(settings: Any, tmp_path: Path) -> None:
    with object_server() as server:
        settings.STORAGES = settings.STORAGES | {"default": server.entry()}
        kept = storage.store(b"a picture", folder="media", extension="png")
        storage.store(b"a copy", folder=remote_copies.FOLDER, extension="png")
        assert list(saving._media_files(False)) == []
        assert list(saving._media_files(True)) == [(kept, 9)]
        for path, source in saving._sources(True):
            (tmp_path / path).parent.mkdir(parents=True)
            (tmp_path / path).write_bytes(source.read())
        (tmp_path / archive.CHECKSUMS).write_text(_line(tmp_path, f"media/{kept}"))
        storage.remove(kept)
        for _time in range(2):
            restoring._restore_files(tmp_path, lambda _amount: None)
        assert server.client.get_object(Bucket=BUCKET, Key=kept)["Body"].read() == b"a picture"


@pytest.mark.django_db
def test_after_a_restore_no_number_is_used_again_that_other_servers_may_have_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://not.used/")
    monkeypatch.setattr(restoring.database, "connect", lambda _url: nullcontext(connection))
    alice = make_account()
    before = make_favourite(make_account(), make_status(alice))
    restoring._advance_sequences()
    assert make_favourite(make_account(), make_status(alice)).id > before.id + restoring.SKIPPED_NUMBERS


def test_older_backups_of_the_same_domain_are_found_and_nothing_else(tmp_path: Path) -> None:
    for name, domain, day in (("a", DOMAIN, 3), ("b", DOMAIN, 1), ("c", DOMAIN, 2), ("d", "other.example", 1)):
        (tmp_path / name).mkdir()
        Manifest(1, domain, f"2026-01-0{day}", "0.1.0", 18, 1, "included", 3, 3, "", []).write(tmp_path / name)
    (tmp_path / f"e{archive.PARTIAL}").mkdir()
    shutil.copy(tmp_path / "b" / archive.MANIFEST, tmp_path / f"e{archive.PARTIAL}")
    (tmp_path / "photographs").mkdir()
    assert [folder.name for folder in archive.find_older(tmp_path, DOMAIN, keep=1)] == ["c", "b"]
    assert archive.find_older(tmp_path, DOMAIN, keep=3) == []


def test_what_interrupted_backups_left_is_removed_and_not_what_is_being_taken(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR, settings.LOCAL_DOMAIN = tmp_path / "data", DOMAIN
    (tmp_path / "data" / "run").mkdir(parents=True)
    killed, taken, earlier = (tmp_path / f"{DOMAIN}-2026010{day}T000000Z{archive.PARTIAL}" for day in (1, 2, 3))
    foreign = [tmp_path / f"{name}{archive.PARTIAL}" for name in ("photographs", f"not.{DOMAIN}-20260101T000000Z")]
    for folder in (killed, taken, earlier, *foreign, tmp_path / f"{DOMAIN}-20260104T000000Z"):
        folder.mkdir()
    for folder in (killed, taken, *foreign):
        (folder / archive.CHECKSUMS).touch()
    with (taken / archive.CHECKSUMS).open() as lines:
        fcntl.flock(lines, fcntl.LOCK_EX)
        assert archive.find_interrupted(tmp_path, DOMAIN) == [killed, earlier]
        assert saving.remove_interrupted(tmp_path) == [killed, earlier]
    assert {folder.name for folder in tmp_path.iterdir()} == {
        "data", taken.name, f"{DOMAIN}-20260104T000000Z", *(folder.name for folder in foreign),
    }  # fmt: skip
    with saving._lock_for_backup(), pytest.raises(OperatorError, match="just now"):
        saving.remove_interrupted(tmp_path)


def test_a_backup_that_fails_is_removed_and_one_whose_time_cannot_be_stored_is_kept(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    (tmp_path / "data" / "run").mkdir(parents=True)
    manifest = Manifest(1, DOMAIN, "2026-01-01", "0.1.0", 18, 1, "included", 0, 0, "", [])
    full = OSError(errno.ENOSPC, "No space left on device")
    for failing, error, words in (
        ("_fill", full, "No space left on device. Check owner and free space"),
        ("write_setting", OperationalError("the server ended"), "is complete, but its time could not be stored"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(saving, "_fill", Mock(return_value=manifest))
            patch.setattr(saving, failing, Mock(side_effect=error))
            with pytest.raises(OperatorError, match=words):
                saving.save(saving.Plan(tmp_path / failing, True, 0, 0, 0), silent)
    assert {path.name for path in tmp_path.iterdir()} == {"data", "write_setting"}
