"""Tests that names, comments and docstrings are plain: the field's terms, and docstrings that begin with a noun or a verb.

Nouns and verbs are open classes, so the tests refuse words of closed classes instead: pronouns, prepositions, conjunctions,
adverbs and determiners.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.architecture.test_comments import PACKAGES, ROOT, SOURCES, texts

#: Refused words, and the terms to use instead.
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
#: Words with which neither a docstring nor a constant may begin; the word after an article is not checked.
_CLOSED_CLASSES = """
    after again all already also although always among and another any anybody anyone anything as at back because before
    behind below beside between both but by during each either every everybody everyone everything few for from he her here
    his how if in into it its just many more most my neither never no nobody none nor not nothing of off often on once one
    one's only or other our out over per several she since so some somebody someone something still such than that their
    then there these they this those three through to too two under unless until up we what whatever when whenever where
    whether which while who whoever whom whose why with within without yet you your
    are been being can could did had is may might must should was were will would
"""
CLOSED_CLASSES = frozenset(_CLOSED_CLASSES.split())
#: Words that may stand before a noun in the name of a constant.
DETERMINERS = frozenset({"all", "any", "every", "everyone", "no", "one", "other", "out", "several", "too"})
#: Names of constants that mean nothing without a comment, and what to write instead.
REFUSED_CONSTANTS = {
    "AHEAD": "..._MARGIN",
    "ALONE": "what they are",
    "AT_ONCE": "..._LIMIT, BATCH_SIZE",
    "BARE": "what it is",
    "CARRIED": "what they are",
    "CONCERNED": "what they are",
    "FITS": "..._CONDITION",
    "FOREVER": "..._SECONDS",
    "FORGOTTEN": "what it is",
    "IDLE": "..._SECONDS",
    "GATHER": "..._WINDOW",
    "KEPT": "..._RETENTION",
    "KNOWN": "what they are",
    "LEFT": "what it is",
    "LONGEST_URL": "..._LIMIT",
    "LOST": "what it is",
    "MANY": "..._LIMIT",
    "MORE": "..._COUNT",
    "MOST": "..._LIMIT",
    "NEVER": "what it is",
    "OWN": "what they are",
    "PATIENCE": "..._SECONDS",
    "QUICK": "what it is",
    "QUIET": "..._SECONDS",
    "SECONDS": "..._SECONDS",
    "SILENCE": "..._SECONDS",
    "SPARE": "..._MARGIN",
    "STEP": "..._SECONDS",
    "TALKATIVE": "what they are",
    "TOGETHER": "..._LIMIT",
    "TOUCHED": "what they are",
    "UNSEEN": "what they are",
}
_FIRST_WORD = re.compile(r"[\"'(*]*([A-Za-z']*)(?![\w/.-])")
_SENTENCE = re.compile(r"[.!?:](?:\s|$)")
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]+")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: A text in which the pattern does not occur, even inside other words, need not be split into words.
_ANY = re.compile("|".join(REFUSED), re.IGNORECASE)


def words(source: str) -> Iterator[tuple[int, str]]:
    """Yield the words of identifiers, comments and docstrings in lower case, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            yield from ((token.start[0], word.lower()) for word in _WORD.findall(token.string))
    for line, text in texts(source):
        yield from ((line, word.lower()) for word in _WORD.findall(text))


def refused(path: Path) -> Iterator[str]:
    """Yield the places of refused words in a file, each with the terms to use instead."""
    name, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
    if not _ANY.search(text):
        found: Iterator[tuple[int, str]] = iter(())
    elif not REFUSED.keys() & {word.lower() for word in _WORD.findall(text)}:
        found = iter(())  # no whole word matches, so the tokens need not be read
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


def _notes(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the strings below a constant, a field or an attribute that document it."""
    body = getattr(node, "body", None)
    for above, below in pairwise(body if isinstance(body, list) else ()):
        if isinstance(above, ast.Assign | ast.AnnAssign) and isinstance(below, ast.Expr):
            text = ast.literal_eval(below.value) if isinstance(below.value, ast.Constant) else None
            if isinstance(text, str):
                yield below.lineno, text


def riddles(source: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings that do not begin with a sentence or begin with a word of a closed class, and constants that are not
    nouns.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            found = _FIRST_WORD.match(text) if text else None
            if found and found[1].lower() in CLOSED_CLASSES:
                yield node.body[0].lineno, f"a docstring begins with {found[1]!r}"
            if text and not _SENTENCE.search(text.split("\n\n")[0]):
                yield node.body[0].lineno, "a docstring begins without a sentence"
        for line, text in _notes(node):
            found = _FIRST_WORD.match(text)
            if found and found[1].lower() in CLOSED_CLASSES:
                yield line, f"what stands below a name begins with {found[1]!r}"
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for name in (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)):
                words = name.strip("_")
                if _CONSTANT.fullmatch(name) and words in REFUSED_CONSTANTS:
                    yield statement.lineno, f"{name} ({REFUSED_CONSTANTS[words]})"
                elif _CONSTANT.fullmatch(name) and words.split("_")[0].lower() in CLOSED_CLASSES - DETERMINERS:
                    yield statement.lineno, f"{name} is no noun"


def test_docstrings_begin_with_a_noun_or_a_verb_and_constants_are_nouns() -> None:
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    found = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in files
        if "migrations" not in path.parts
        for line, what in riddles(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('"""Whether it is one."""', ["a docstring begins with 'Whether'"]),
        ('def f():\n    """Of others nobody\'s."""', ["a docstring begins with 'Of'"]),
        (
            'class C:\n    """Something"""',
            ["a docstring begins with 'Something'", "a docstring begins without a sentence"],
        ),
        ('LIMIT = 3\n"""How many."""', ["what stands below a name begins with 'How'"]),
        ("_PATIENCE: Final = 3", ["_PATIENCE (..._SECONDS)"]),
        ("FOR_ANYBODY, LIMIT = (), 3", ["FOR_ANYBODY is no noun"]),
        ('"""The posts of a page.\n\nWhether more is said below does not matter."""', []),
        ('def f():\n    """`at` is a moment."""\nPATIENCE_SECONDS = NO_EXPIRY = 3', []),
    ],
)
def test_riddles_are_found_in_docstrings_and_names_of_constants(source: str, found: list[str]) -> None:
    assert [what for _line, what in riddles(source)] == found
