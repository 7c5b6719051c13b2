"""Names, comments and docstrings use the field's terms: some metaphors that were in the tree do not come back."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_comments import ROOT, SOURCES, texts

#: A word, and what it may mean.
REFUSED = {
    "told": "notified, sent, reported",
    "heard": "received, handled",
    "hears": "receives, handles",
    "news": "event, message, update",
    "gate": "access check, authentication, rate limit",
    "gates": "access checks",
    "door": "endpoint",
    "doors": "endpoints",
    "knock": "call, connect",
    "knocks": "calls, connects",
    "neighbour": "next, previous, of the same server",
    "neighbours": "next and previous, of the same server",
    "spared": "left out, hidden",
    "wish": "command, request, option",
    "deaf": "without a subscription",
    "twin": "the same rule in SQL",
}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: What has none of them at all, also inside of other words, need not be taken apart.
_ANY = re.compile("|".join(REFUSED), re.IGNORECASE)


def words(source: str) -> Iterator[tuple[int, str]]:
    """Words of identifiers, comments and docstrings, in lower case, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            yield from ((token.start[0], word.lower()) for word in _WORD.findall(token.string))
    for line, text in texts(source):
        yield from ((line, word.lower()) for word in _WORD.findall(text))


def refused(path: Path) -> Iterator[str]:
    """Where a file has refused words, each with the terms to choose from."""
    name, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
    if not _ANY.search(text):
        found: Iterator[tuple[int, str]] = iter(())
    elif path.suffix == ".py":
        found = words(text)
    else:
        lines = enumerate(text.splitlines(), start=1)
        found = ((number, word.lower()) for number, line in lines for word in _WORD.findall(line))
    yield from (f"{name}:{line}: {word} ({REFUSED[word]})" for line, word in found if word in REFUSED)
    if text.startswith('"""Knows'):
        yield f"{name}:1: a module knows nothing: say what it holds or does"


def test_names_comments_and_documents_use_the_terms_of_the_field() -> None:
    files = [path for package in SOURCES for path in sorted((ROOT / package).rglob("*.py"))]
    files += [ROOT / "README.md", ROOT / "Makefile", *sorted((ROOT / "docs").rglob("*.md"))]
    files.remove(Path(__file__))
    found = [line for path in files for line in refused(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("told_users = 1", "told"),
        ("class GateViewSet: ...", "gate"),
        ("x = 1  # nobody heard", "heard"),
        ('"""Older news."""', "news"),
    ],
)
def test_refused_words_are_found_in_names_comments_and_docstrings(source: str, found: str) -> None:
    assert found in {word for _line, word in words(source)}


@pytest.mark.parametrize("source", ["x = 'They are told so.'", "gateway = newsletter = aggregate = outdoors = 1"])
def test_sentences_for_people_and_longer_words_are_not_refused(source: str) -> None:
    assert not REFUSED.keys() & {word for _line, word in words(source)}
