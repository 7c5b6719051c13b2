"""Tests that names in comments, docstrings and documents exist: modules, their members, commands and files."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.core import management

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("social", "accounts", "statuses", "timelines", "moderation", "notifications", "federation")
SOURCES = (*PACKAGES, "tests", "benchmarks")
_DOTTED = re.compile(rf"(?<![\w./@-])(?:{'|'.join(SOURCES)})(?:\.[A-Za-z_]\w*)+(?![\w/-])")
_COMMAND = re.compile(r"manage\.py ([a-z_]+)")
_FILE = re.compile(r"`((?:docs|tests|requirements|social|accounts|statuses|federation)/[\w./-]*\w)`")
#: Domains in examples.
_DOMAINS = ("example", "localhost")


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments and docstrings, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def missing(text: str) -> Iterator[str]:
    """Yield the names in a text that do not exist."""
    for name in _DOTTED.findall(text):
        if not exists(name):
            yield name
    for command in _COMMAND.findall(text):
        if command not in commands():
            yield f"manage.py {command}"
    for path in _FILE.findall(text):
        if not (ROOT / path).exists() and not list(ROOT.glob(f"*/templates/{path}")):
            yield path


@cache
def commands() -> frozenset[str]:
    """Return the names of all management commands."""
    return frozenset((*management.get_commands(), "help"))


@cache
def exists(name: str) -> bool:
    """Return whether a dotted name is a module, a member of one, or a model named by its app's label."""
    first, *rest = name.split(".")
    if rest[0] in _DOMAINS:
        return True
    folder = ROOT / first
    for position, part in enumerate(rest):
        if (folder / part).is_dir():
            folder /= part
            continue
        files = [folder / f"{part}.py"] if (folder / f"{part}.py").exists() else []
        attributes = rest[position + 1 :] if files else rest[position:]
        if not attributes:
            return True
        files = files or [folder / "__init__.py", *folder.glob("models/*.py"), *folder.glob("*/models.py")]
        found = "\n".join(path.read_text() for path in files if path.exists())
        name = re.escape(attributes[0])
        return (
            re.search(rf"(?m)^\s*(?:async )?(?:def|class) {name}\b|^\s*{name}\b[^\n]*[:=,]|import .*\b{name}\b", found)
            is not None
        )
    return True


def test_names_in_comments_and_docstrings_exist() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for package in SOURCES
        for path in sorted((ROOT / package).rglob("*.py"))
        # Finding comments is slow, so a whole file is checked first, and its comments only if the file names something that
        # does not exist.
        if "migrations" not in path.parts and any(missing(path.read_text()))
        for line, text in texts(path.read_text())
        for name in missing(text)
    ]
    assert wrong == []


def test_names_in_documents_exist() -> None:
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    assert [f"{path.name}: {name}" for path in documents for name in missing(path.read_text())] == []


def test_the_check_itself_finds_missing_names() -> None:
    text = "`manage.py recount` calls social.kernel.nothing, accounts.identity.services.tokens.nothing and `docs/nothing.md`"
    assert list(missing(text)) == [
        "social.kernel.nothing",
        "accounts.identity.services.tokens.nothing",
        "manage.py recount",
        "docs/nothing.md",
    ]
    assert not list(
        missing("social.kernel.redis, accounts.identity.services.tokens.issue_token, `docs/adr`, manage.py run")
    )
