"""Tests of the catalogs: translations fit their sentences, and no translation is missing in a release.

Before a release, a sentence without a translation is shown in English.
"""

import ast
import re
from functools import cache

import polib
import pytest

from tests.support import catalogs

_KEPT = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w+\}|<[^>]+>")
# The plural forms for exactly zero, one or two may write the number as a word.
_IN_WORDS = {"de": {0}, "ar": {0, 1, 2}}
TRANSLATED = [language for language in catalogs.LANGUAGES if language != "en"]


@cache
def sentences() -> set[catalogs.Key]:
    return set(catalogs.sentences())


def _kept(text: str) -> set[str]:
    return set(_KEPT.findall(text))


@pytest.mark.release
@pytest.mark.parametrize("language", catalogs.LANGUAGES)
def test_every_sentence_of_the_sources_is_in_the_catalogue(language: str) -> None:
    entries = {(entry.msgctxt, entry.msgid, entry.msgid_plural or None) for entry in catalogs.catalogue(language)}
    assert sentences() == entries, "run `make messages` and translate the new sentences"


def test_sentences_are_marked_by_names_that_the_collector_finds() -> None:
    found = []
    for package in catalogs.PACKAGES:
        for path in (catalogs.ROOT / package).rglob("*.py"):
            text = path.read_text()
            for node in ast.walk(ast.parse(text)) if "utils.translation" in text else ():
                if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation":
                    found += [f"{path}: {name.asname}" for name in node.names if name.asname not in (None, "_")]
    assert found == []


@pytest.mark.release
@pytest.mark.parametrize("language", TRANSLATED)
def test_every_sentence_is_translated(language: str) -> None:
    missing = [
        entry.msgid
        for entry in catalogs.catalogue(language)
        if "fuzzy" in entry.flags or (not all(entry.msgstr_plural.values()) if entry.msgid_plural else not entry.msgstr)
    ]
    assert missing == []


def test_the_at_sign_stays_in_front_of_addresses_in_right_to_left_text() -> None:
    """An isolate (U+2066) or markup must enclose the address; otherwise the surrounding text moves the at sign."""
    texts = [text for entry in catalogs.catalogue("ar") for text in (entry.msgstr, *entry.msgstr_plural.values())]
    closed = re.compile("(?:[^\u2066\u2068\u2069]|[\u2066\u2068][^\u2066\u2068\u2069]*\u2069)*")
    assert [text for text in texts if not closed.fullmatch(text)] == []
    assert [text for text in texts if re.search("(?<![\u2066\\w>)])(@%\\(|%\\(who\\))|[a-z]\u2066@", text)] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_keep_the_placeholders_and_the_markup(language: str) -> None:
    broken = []
    for entry in catalogs.catalogue(language):
        wanted = _kept(entry.msgid) | _kept(entry.msgid_plural)
        forms = entry.msgstr_plural if entry.msgid_plural else {0: entry.msgstr}
        for form, text in forms.items():
            if not text:
                continue
            used = _kept(text)
            in_words = bool(entry.msgid_plural) and form in _IN_WORDS[language]
            if used - wanted or (used != wanted and not in_words):
                broken.append(entry.msgid)
    assert broken == []


@pytest.mark.release
@pytest.mark.parametrize("language", catalogs.LANGUAGES)
def test_the_compiled_catalogue_is_current(language: str) -> None:
    folder = catalogs.LOCALES / language / "LC_MESSAGES"
    compiled = polib.mofile(str(folder / "django.mo"))
    source = catalogs.catalogue(language)
    assert {(e.msgctxt, e.msgid): (e.msgstr, e.msgstr_plural) for e in compiled} == {
        (e.msgctxt, e.msgid): (e.msgstr, e.msgstr_plural) for e in source if e.translated()
    }
