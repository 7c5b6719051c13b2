"""Migrations that have landed are never edited: servers that applied one never look at it again."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.architecture.test_comments import ROOT

#: A line for each migration: `sha256sum accounts/migrations/0001_initial.py`.
LIST = Path(__file__).parent / "landed_migrations.txt"


def faults(root: Path, lines: str) -> list[str]:
    """What is wrong with the migrations below `root`, as sentences."""
    landed = {name: digest for digest, name in (line.split() for line in lines.splitlines())}
    paths = (path for path in root.glob("*/migrations/[0-9]*.py") if not path.parts[-3].startswith("."))
    present = {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    found = []
    for name in sorted(landed.keys() | present.keys()):
        if name not in present:
            found.append(f"{name} has landed and is gone: bring it back, and undo what it did in a new migration.")
        elif name not in landed:
            found.append(f"{name} is new: add the line `{present[name]}  {name}` to {LIST.relative_to(ROOT)}.")
        elif landed[name] != present[name]:
            found.append(
                f"{name} has landed and was edited: servers that have applied it would never get the change. "
                "Restore it, and write a new migration."
            )
    return found


def test_no_landed_migration_was_edited() -> None:
    assert faults(ROOT, LIST.read_text()) == []


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "is new: add the line"),
        (f"{'0' * 64}  app/migrations/0001_a.py", "was edited"),
        (
            f"{hashlib.sha256(b'').hexdigest()}  app/migrations/0001_a.py\n{'0' * 64}  app/migrations/0002_b.py",
            "is gone",
        ),
    ],
)
def test_a_new_an_edited_and_a_missing_migration_are_found(tmp_path: Path, lines: str, words: str) -> None:
    (tmp_path / "app" / "migrations").mkdir(parents=True)
    (tmp_path / "app" / "migrations" / "0001_a.py").touch()
    (found,) = faults(tmp_path, lines)
    assert words in found
