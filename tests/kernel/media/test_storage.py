"""Tests of stored files."""

import errno
import os
import re
from pathlib import Path
from typing import Any

import pytest

from social.kernel import descriptors
from social.kernel.media import storage
from tests.support.altered import altered


@pytest.fixture(autouse=True)
def _root(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


def test_a_stored_file_is_found_under_its_name(tmp_path: Path) -> None:
    path = storage.store(b"abc", folder="things", extension="png")
    assert (tmp_path / path).read_bytes() == b"abc"
    assert storage.url(path) == f"http://social.localhost/system/{path}"


def test_names_cannot_be_guessed() -> None:
    names = {storage.store(b"", folder="things", extension="png") for _number in range(50)}
    assert len(names) == 50
    assert all(re.fullmatch(r"things/[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{28}\.png", name) for name in names)


def test_removing_a_missing_file_is_no_error(tmp_path: Path) -> None:
    path = storage.store(b"abc", folder="things", extension="png")
    storage.remove(path, "", "things/none.png")
    storage.remove(path)
    assert not (tmp_path / path).exists()


def test_a_file_and_its_new_folders_are_synced_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    for module in (storage, descriptors):
        monkeypatch.setattr(module, "os", altered(os, fsync=fsync))
    path = tmp_path / storage.store(b"abc", folder="things", extension="png")
    assert synced[0] == f"{path}.part"
    assert set(synced[1:]) == {str(folder) for folder in (*path.parents,) if folder.is_relative_to(tmp_path)}


def test_a_full_disk_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for module in (storage, descriptors):
        monkeypatch.setattr(module, "os", altered(os, fsync=fsync))
    with pytest.raises(OSError, match="No space"):
        storage.store(b"abc", folder="things", extension="png")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
