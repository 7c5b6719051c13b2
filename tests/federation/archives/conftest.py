"""Fixtures and helpers for the tests of importing old posts."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from accounts.transfers.models import PastImport
from accounts.transfers.services.past import start_past, take_archive
from federation.archives.working import process_import
from tests.factories.accounts import make_user

Importer = Callable[..., PastImport]


@pytest.fixture(autouse=True)
def private_folder(settings: Any, tmp_path: Path) -> None:
    settings.PRIVATE_ROOT = tmp_path / "private"


@pytest.fixture
def ada() -> User:
    return make_user("ada")


def read(user: User, data: bytes) -> PastImport:
    """Upload an archive and read it."""
    made = take_archive(account=user.account, file=io.BytesIO(data), file_name="archive.zip")
    assert not process_import(made.id)
    made.refresh_from_db()
    return made


def bring(user: User, data: bytes, visibility: str = "") -> PastImport:
    """Import an archive completely."""
    made = read(user, data)
    assert made.state == "ready", made.problem
    start_past(account=user.account, import_id=made.id, visibility=visibility)
    while process_import(made.id, seconds=60):
        pass
    made.refresh_from_db()
    assert made.state == "finished"
    return made
