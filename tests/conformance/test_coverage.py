"""Tests that docs/coverage.md names the right test for each numbered rule."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = {"Seed": 170, "Client traps": 54, "Security rows": 85}
_ROW = re.compile(r"\| (\d+) \| (.+) \|\Z")
_TEST = re.compile(r"`(test_\w+)`")
_WAITS = re.compile(r"waits for ([IR])\Z")
_DEFINED = re.compile(r"^(?: {4})?(?:async )?def (test_\w+)\(|^(test_\w+) = ", re.MULTILINE)
_NUMBERED = re.compile(r"test_(?:seed|traps?|rows?)_\d+")


@cache
def existing() -> frozenset[str]:
    """Return the names of all tests, including those in classes and those created by a factory."""
    return frozenset(
        first or second
        for path in (ROOT / "tests").rglob("test_*.py")
        for first, second in _DEFINED.findall(path.read_text())
    )


def rows(section: str) -> dict[int, str]:
    """Return the rows of a section's table, keyed by number."""
    _before, _title, rest = (ROOT / "docs" / "coverage.md").read_text().partition(f"## {section}\n")
    table = rest.partition("\n## ")[0]
    return {int(match[1]): match[2] for line in table.splitlines() if (match := _ROW.match(line))}


@pytest.mark.parametrize(("section", "last"), SECTIONS.items())
def test_every_row_names_a_test_or_the_missing_part(section: str, last: int) -> None:
    table = rows(section)
    assert list(table) == list(range(1, last + 1))
    for number, text in table.items():
        assert _TEST.search(text) or _WAITS.search(text), f"{section} {number}: {text}"
        assert "waits for" not in text or _WAITS.search(text), f"{section} {number}: {text}"


@pytest.mark.parametrize("section", SECTIONS)
def test_every_named_test_exists(section: str) -> None:
    named = {name for text in rows(section).values() for name in _TEST.findall(text)}
    assert named - existing() == set()


def test_every_test_with_a_number_in_its_name_is_listed() -> None:
    listed = set(_TEST.findall((ROOT / "docs" / "coverage.md").read_text()))
    assert {name for name in existing() if _NUMBERED.match(name)} - listed == set()
