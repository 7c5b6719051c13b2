"""Tests that README is short and names only existing things, and that the version is written in one place."""

import re
import tomllib

import social
from social.settings import declared
from tests.architecture.test_comments import ROOT

README = (ROOT / "README.md").read_text()


def test_no_paragraph_has_more_than_four_lines() -> None:
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    paragraphs = [part for part in prose.split("\n\n") if not part.lstrip().startswith(("|", "#"))]
    assert [part for part in paragraphs if part.strip().count("\n") >= 4] == []


def test_the_readme_lists_ten_declared_settings() -> None:
    table = README.partition("\n## Settings\n")[2].partition("\n## ")[0]
    rows = [re.findall(r"`([A-Z_]+)`", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == 10
    assert {name for names in rows for name in names} <= set(declared.SETTINGS)


def test_linked_pictures_and_documents_exist() -> None:
    for path in re.findall(r"\]\(([^)#]+)", README):
        assert (ROOT / path).exists(), path
    assert "```mermaid" in README


def test_each_line_of_a_shell_example_is_one_command() -> None:
    for block in re.findall(r"^```sh\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            assert len(re.findall(r"(?:^|\s)(?:\./manage\.py|make)\b", line.partition("#")[0])) == 1, line


def test_links_between_documents_lead_to_a_heading() -> None:
    lost = []
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for path, anchor in re.findall(r"\]\(([\w./-]+\.md)#([\w-]+)\)", page.read_text()):
            headings = re.findall(r"^#+ (.+)$", (page.parent / path).read_text(), flags=re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            lost += [f"{page.name}: {path}#{anchor}"] if anchor not in anchors else []
    assert lost == []


def test_the_version_is_written_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "social.__version__"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", social.__version__)
