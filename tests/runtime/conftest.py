"""Fixtures of the tests of processes."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtime.processes import fresh_folder


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """An empty data directory, which is removed afterwards."""
    folder = fresh_folder()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
