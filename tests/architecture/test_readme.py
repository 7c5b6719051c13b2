"""README is short, and what it names is there; the version stands in one place."""

from __future__ import annotations

import re
import tomllib

import social
from social.settings import declared
from tests.architecture.test_comments import ROOT

README = (ROOT / "README.md").read_text()


def test_no_paragraph_is_above_four_lines() -> None:
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    paragraphs = [part for part in prose.split("\n\n") if not part.lstrip().startswith(("|", "#"))]
    assert [part for part in paragraphs if part.strip().count("\n") >= 4] == []


def test_the_settings_that_most_people_need_are_ten_and_declared() -> None:
    table = README.partition("\n## Settings\n")[2].partition("\n## ")[0]
    rows = [re.findall(r"`([A-Z_]+)`", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == 10
    assert {name for names in rows for name in names} <= set(declared.SETTINGS)


def test_pictures_and_documents_are_there() -> None:
    for path in re.findall(r"\]\(([^)#]+)", README):
        assert (ROOT / path).exists(), path
    assert "```mermaid" in README


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "social.__version__"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", social.__version__)
