"""Tests that lock files contain only versions and hashes, because every machine installs from the index configured on it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LOCKS = [*ROOT.glob("requirements/*.txt"), *ROOT.glob("tests/interop/*/package-lock.json")]


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_lock_file_names_no_address(path: Path) -> None:
    assert "://" not in path.read_text()
