"""Everything a person reads exists in every language of the house."""

from __future__ import annotations

import re

import polib
import pytest

from tests.support import catalogs

_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w+\}")
TRANSLATED = [language for language in catalogs.LANGUAGES if language != "en"]


@pytest.mark.parametrize("language", catalogs.LANGUAGES)
def test_every_sentence_of_the_sources_is_in_the_catalogue(language: str) -> None:
    entries = {(entry.msgctxt, entry.msgid, entry.msgid_plural or None) for entry in catalogs.catalogue(language)}
    assert set(catalogs.sentences()) == entries, "run `make messages` and translate what is new"


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_sentence_is_translated(language: str) -> None:
    missing = [
        entry.msgid
        for entry in catalogs.catalogue(language)
        if "fuzzy" in entry.flags or (not all(entry.msgstr_plural.values()) if entry.msgid_plural else not entry.msgstr)
    ]
    assert missing == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_keep_the_placeholders(language: str) -> None:
    broken = []
    for entry in catalogs.catalogue(language):
        wanted = set(_PLACEHOLDER.findall(entry.msgid)) | set(_PLACEHOLDER.findall(entry.msgid_plural))
        for text in entry.msgstr_plural.values() if entry.msgid_plural else [entry.msgstr]:
            used = set(_PLACEHOLDER.findall(text))
            # A form for exactly one or two may say the number in words.
            if used - wanted or (not entry.msgid_plural and used != wanted):
                broken.append(entry.msgid)
    assert broken == []


@pytest.mark.parametrize("language", catalogs.LANGUAGES)
def test_the_compiled_catalogue_is_current(language: str) -> None:
    folder = catalogs.LOCALES / language / "LC_MESSAGES"
    compiled = polib.mofile(str(folder / "django.mo"))
    source = catalogs.catalogue(language)
    assert {(e.msgctxt, e.msgid): (e.msgstr, e.msgstr_plural) for e in compiled} == {
        (e.msgctxt, e.msgid): (e.msgstr, e.msgstr_plural) for e in source if e.translated()
    }
