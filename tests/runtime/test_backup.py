"""Tests of backups: each is complete or does not exist, and a restored server gives the same responses as the original."""

import errno
import fcntl
import gzip
import io
import json
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

import pytest
import requests
from django.db import OperationalError, connection
from PIL import Image

from accounts.copies.services import copying as remote_copies
from social.kernel.media import storage
from social.runtime import database
from social.runtime.backups import archive, restoring, saving, sql
from social.runtime.backups.archive import Manifest
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


def test_a_server_newer_than_every_pg_dump_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    server = SimpleNamespace(info=SimpleNamespace(server_version=99_0001))
    monkeypatch.setattr(database, "connect", lambda _url: nullcontext(server))
    with pytest.raises(OperatorError, match=r"is PostgreSQL 99.*postgresql-client-99"), sql.dump("postgres://a/b"):
        pass


def test_a_marked_data_directory_names_the_remedy(tmp_path: Path) -> None:
    refuse_unfinished(tmp_path)
    begin(tmp_path, what="The restore", remedy="manage.py restore x")
    assert find_mark(tmp_path) == "The restore"
    refuse_unfinished(tmp_path, but="The restore")
    with pytest.raises(OperatorError, match=r"Complete it: manage\.py restore x"):
        refuse_unfinished(tmp_path)
    end(tmp_path)
    refuse_unfinished(tmp_path)


#: A program that restores as `manage.py restore` does, but creates the tables only once for all tests, because this takes 15 s.
_RESTORE = """
import os, pickle, signal, sys
from pathlib import Path
from social.runtime import manage
from social.runtime.backups import restoring, sql

make_schema = restoring.make_schema

def make_once(applied):
    kept = Path(sys.argv[1]) / "schema"
    if not kept.exists():
        kept.write_bytes(pickle.dumps(make_schema(applied)))
    return pickle.loads(kept.read_bytes())

restoring.make_schema = make_once
%s
sys.exit(manage.main(["manage.py", "restore", *sys.argv[2:]]))
"""


class Server:
    """A server with a user who has posted and has signed in, and methods that read its responses."""

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

    def restore(self, *arguments: str, kept: Path, before: str = "") -> subprocess.CompletedProcess[str]:
        """Restore a backup; the folder `kept` caches the tables for further calls, and the code `before` runs first."""
        command = [sys.executable, "-c", _RESTORE % before, str(kept), *arguments]
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=300)

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
        """Return the responses to a client, a visitor, a signed-in user and another server."""
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
    """A server that was removed, its backup, and its earlier responses."""
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
    """A new, empty data directory for the removed server."""
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
    done = manage("restore", str(backup), environment=server.environment, seconds=600)
    assert done.returncode == 0, done.stderr
    with server.run(tmp_path / "log") as process:
        process.says("Social is ready")
        assert server.seen() == seen
        refused = manage("restore", str(backup), "--force", "--yes", environment=server.environment)
        assert (refused.returncode, "is already run by process" in refused.stderr) == (1, True)
        tried = server.restore(str(backup), "--force", "--dry-run", kept=backup.parent)
        assert (tried.returncode, f"{DOMAIN} of" in tried.stdout) == (0, True), tried.stderr
        assert server.seen() == seen
        process.end()

    # An existing server is replaced only if an option explicitly says so, and keeps its domain.
    refused = manage("restore", str(backup), environment=server.environment)
    assert (refused.returncode, "say --force" in refused.stderr) == (1, True)
    other = server.environment | {"LOCAL_DOMAIN": "other.localhost"}
    refused = manage("restore", str(backup), "--force", "--yes", environment=other)
    assert (refused.returncode, f"a backup of {DOMAIN}" in refused.stderr) == (1, True)
    asked = server.restore(str(backup), "--force", kept=backup.parent)
    assert (asked.returncode, "Use --yes" in asked.stderr) == (1, True)
    manage("create_account", "later", "--email", "later@example.com", environment=server.environment)
    done = server.restore(str(backup), "--force", "--yes", kept=backup.parent)
    assert done.returncode == 0, done.stderr
    again = manage("create_account", "later", "--email", "later@example.com", environment=server.environment)
    assert "password" in json.loads(again.stdout), "the user created after the backup does not exist"


@pytest.mark.verify
@pytest.mark.timeout(900)
def test_a_changed_backup_is_refused_and_nothing_is_changed(
    saved: tuple[Server, Path, dict[str, Any]], empty: Path, tmp_path: Path
) -> None:  # security row 82
    server, backup, seen = saved
    ran, changed = tmp_path / "ran", tmp_path / "changed"
    tmp_path.chmod(0o777)
    whole = gzip.decompress((backup / archive.DATABASE).read_bytes()).decode()
    harms = [
        f"CREATE TABLE e (x text);\nCOPY e FROM PROGRAM 'touch {ran}';\n",
        f"DO $$ BEGIN COPY (SELECT 1) TO PROGRAM 'touch {ran}'; END $$;\n",
        f"COMMIT;\nCOPY (SELECT 1) TO PROGRAM 'touch {ran}';\n",
        "CREATE FUNCTION public.lower(text) RETURNS text LANGUAGE sql AS $$ SELECT '' $$;\n",
    ]

    def refused(*options: str) -> bool:
        for harm in harms:
            shutil.rmtree(changed, ignore_errors=True)
            shutil.copytree(backup, changed)
            (changed / archive.DATABASE).write_bytes(gzip.compress(f"{whole}{harm}".encode()))
            lines = [f"{archive.checksum(changed / path)}  {path}\n" for path, _digest in archive.entries(changed)]
            (changed / archive.CHECKSUMS).write_text("".join(lines))
            noted = json.loads((changed / archive.MANIFEST).read_text())
            noted["checksums"] = archive.checksum(changed / archive.CHECKSUMS)
            (changed / archive.MANIFEST).write_text(json.dumps(noted))
            done = server.restore(str(changed), *options, kept=backup.parent)
            assert (done.returncode, "holds what no backup of this software has" in done.stderr) == (1, True), (
                done.stderr
            )
            assert (len(done.stderr.splitlines()), ran.exists()) == (1, False), done.stderr
        return True

    assert refused()
    assert not (empty / "secrets.json").exists()
    assert not list((empty / "media").rglob("*.*"))
    # Files that a killed attempt has left behind.
    (empty / "run" / "schema" / "postgres" / "data").mkdir(parents=True)
    done = manage("restore", str(backup), environment=server.environment, seconds=600)
    assert done.returncode == 0, done.stderr
    assert not (empty / "run" / "schema").exists()
    assert refused("--force", "--yes")
    with server.run(tmp_path / "log") as process:
        process.says("Social is ready")
        assert server.seen() == seen
        process.end()


# The point at which the process is killed: before a function of `restoring`, inside it, or after it.
POINTS = [
    ("before", "_restore_files"),
    ("before", "load"),
    ("within", "load"),
    ("after", "load"),
    ("after", "_advance_sequences"),
    ("before", "_discard_old_caches"),
    ("after", "_discard_old_caches"),
]
_END = """
def end(*_arguments):
    os.kill(os.getpid(), signal.SIGKILL)

when, name = {when!r}, {name!r}
called = getattr(restoring, name)
if when == "before":
    setattr(restoring, name, end)
elif when == "within":
    def call(*arguments):
        sql.progress_of, sql.CHUNK = lambda file, advance: end, 8192
        called(*arguments)
    setattr(restoring, name, call)
else:
    def call(*arguments):
        called(*arguments)
        end()
    setattr(restoring, name, call)
"""


@pytest.mark.verify
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("when", "name"), POINTS)
def test_after_a_killed_restore_every_command_is_refused_until_the_restore_is_repeated(
    saved: tuple[Server, Path, dict[str, Any]], empty: Path, tmp_path: Path, when: str, name: str
) -> None:
    server, backup, seen = saved
    killed = server.restore(str(backup), kept=backup.parent, before=_END.format(when=when, name=name))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    for refused in (manage(word, environment=server.environment) for word in ("run", "setup", "doctor", "backup")):
        assert refused.returncode == 1
        assert f"restore {backup}" in refused.stderr
    done = server.restore(str(backup), kept=backup.parent)
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
        assert list(saving._files(False)) == []
        assert list(saving._files(True)) == [(f"media/{kept}", 9)]
        path = tmp_path / "media" / kept
        path.parent.mkdir(parents=True)
        with saving._open(f"media/{kept}") as source:
            path.write_bytes(source.read())
        (tmp_path / archive.CHECKSUMS).write_text(f"{archive.checksum(tmp_path / 'media' / kept)}  media/{kept}\n")
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


def test_remains_of_interrupted_backups_are_removed_and_a_running_backup_is_not(settings: Any, tmp_path: Path) -> None:
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
