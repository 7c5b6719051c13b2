"""Tests of the doctor's checks of folders, disks and the object storage."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from social.runtime import machine_checks
from social.settings import env
from tests.runtime.doctor.conftest import Examine
from tests.support.s3 import BUCKET, object_server
from tests.support.site import serving

pytestmark = pytest.mark.django_db


def usage(free: int) -> Any:
    """Return a replacement for `shutil` that reports this many free bytes."""
    return SimpleNamespace(disk_usage=lambda _path: SimpleNamespace(free=free))


def test_the_doctor_reports_secrets_that_others_can_read(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(env, "DATA_DIR", tmp_path)
    (tmp_path / "secrets.json").write_text("{}")
    (tmp_path / "secrets.json").chmod(0o644)
    check = examine()["secrets"]
    assert check.state == "failed"
    assert "chmod 600" in check.remedy


def test_the_doctor_reports_a_data_directory_that_cannot_be_written(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(env, "DATA_DIR", Path("/proc/social"))
    monkeypatch.setattr(machine_checks, "shutil", usage(1 << 40))
    assert examine()["storage"].state == "failed"


def test_the_doctor_reports_an_object_storage_that_does_not_answer(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    with object_server() as server:
        monkeypatch.setattr(env, "MEDIA_STORAGE", server.entry())
        settings.STORAGES = {**settings.STORAGES, "default": server.entry()}
        settings.MEDIA_URL = f"{server.endpoint}/{BUCKET}/"
        assert examine()["storage"].state == "ok"
        assert server.keys() == []
    check = examine()["storage"]
    assert check.state == "failed"
    assert "MEDIA_STORAGE" in check.remedy


def test_the_doctor_reports_a_bucket_that_is_missing(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    with object_server() as server:
        entry = server.entry()
        entry["OPTIONS"]["bucket_name"] = "missing"
        monkeypatch.setattr(env, "MEDIA_STORAGE", entry)
        settings.STORAGES = {**settings.STORAGES, "default": entry}
        check = examine()["storage"]
    assert check.state == "failed"
    assert "the bucket missing cannot be used" in check.detail
    assert "that it exists" in check.remedy


def test_the_doctor_reports_a_media_folder_that_cannot_be_written(examine: Examine, settings: Any) -> None:
    settings.MEDIA_ROOT, settings.MEDIA_URL = "/proc/social", "http://127.0.0.1:1/"
    check = examine()["storage"]
    assert check.state == "failed"
    assert "cannot be used" in check.detail
    assert "free space" in check.remedy


def test_a_storage_whose_files_cannot_be_fetched_is_reported(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    with object_server() as server, serving() as site:
        monkeypatch.setattr(env, "MEDIA_STORAGE", server.entry())
        settings.STORAGES = {**settings.STORAGES, "default": server.entry()}
        settings.MEDIA_URL = f"{site.address}/"
        site.instead = lambda handler: handler.send_error(403)
        check = examine()["storage"]
        assert "answers 403" in check.detail
        assert "acl=public-read" in check.remedy
        settings.MEDIA_URL = "http://127.0.0.1:1/"
        check = examine()["storage"]
        assert "http://127.0.0.1:1/ does not answer" in check.detail
        assert "MEDIA_BASE_URL" in check.remedy
        assert server.keys() == []


def test_the_doctor_reports_that_media_cannot_be_fetched_at_their_address(examine: Examine, settings: Any) -> None:
    settings.MEDIA_URL = "http://127.0.0.1:1/"
    found = [check for check in machine_checks.storage() if check.state == "failed"]
    assert [check.remedy for check in found] == ["Check MEDIA_BASE_URL."]


@pytest.mark.parametrize(("free", "state"), [(100 << 20, "failed"), (1 << 30, "warning"), (50 << 30, "ok")])
def test_the_doctor_reports_a_disk_that_is_nearly_full(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, free: int, state: str
) -> None:
    monkeypatch.setattr(machine_checks, "shutil", usage(free))
    check = examine()["disk"]
    assert check.state == state
    assert state == "ok" or ("backups" in check.remedy and "media remove" in check.remedy)


def test_the_doctor_changes_no_files(examine: Examine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(env, "DATA_DIR", tmp_path)
    for name in ("media", "mail", "run"):
        (tmp_path / name).mkdir()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path, *tmp_path.rglob("*"))}
    examine()
    assert {path: path.stat().st_mtime_ns for path in (tmp_path, *tmp_path.rglob("*"))} == before
    (tmp_path / "media").rmdir()
    assert examine()["storage"].detail.endswith("media is missing")
    assert not (tmp_path / "media").exists()
