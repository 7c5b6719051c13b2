"""Tests with public collections of documents from other software.

`make corpora` downloads them from funfedi.dev (`fediverse-pasture-inputs` and `funfedi-parsing-test-cases`); without them the
tests are skipped.
"""

import importlib
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from federation.documents.reading import kind_of, uri_of
from federation.documents.received_notes import TYPES, ReceivedNote, read_note, read_sent_note
from federation.reasons import Rejected
from social.kernel.text.sanitize import sanitize

FOLDER = Path(__file__).parents[2] / ".tools/corpora"
ACTOR = "http://pasture-one-actor/actor"
PUBLIC = "https://www.w3.org/ns/activitystreams#Public"

#: Documents that are refused as posts: without id, author or type, or with an unsupported type.
REFUSED = {("necessary_properties", number) for number in (1, 3, 4)} | {
    ("object_types", number) for number in (2, 7, 8, 9, 10, 13)
}
#: The expected attachments of the post made from each document, in order.
FILES = {
    "attachments": "image video audio audio unknown - unknown unknown - - image+image+image+image",
    "image_attachments": " ".join(["image"] * 4 + ["unknown"] * 2 + ["image", "unknown"] + ["image"] * 8 + ["-"]),
    "image_description": "image image image image",
    "recommended_attachments": "image video audio video",
    "content_warnings": "- - - image image image image",
}
HASHTAGS = "test nohash withdash_under withwhitespace withsubtag with123 - camelcase umlautß - - 牛 test"
LANGUAGES = "- de en en de de en en de"


@pytest.fixture(scope="module")
def corpora() -> Iterator[None]:
    """Append the folder of the two packages to the import path."""
    sys.path.append(str(FOLDER))
    # Newer versions use a member of the standard library that was added in Python 3.13.
    added = not hasattr(warnings, "deprecated")
    if added:
        warnings.deprecated = lambda *_arguments, **_options: lambda made: made  # type: ignore[attr-defined]  # Python has it since 3.13
    try:
        for name in ("fediverse_pasture_inputs", "funfedi_parsing_test_cases"):
            try:
                importlib.import_module(name)
            except ImportError as error:
                pytest.skip(f"`make corpora` downloads {name}: {error}")
        yield
    finally:
        sys.path.remove(str(FOLDER))
        if added:
            del warnings.deprecated  # type: ignore[attr-defined]  # set by the shim above


@pytest.fixture(scope="module")
def inputs(corpora: None) -> dict[tuple[str, int], dict[str, Any]]:
    """The documents of fediverse-pasture-inputs, keyed by the name of their table and their number in the table."""
    base = {
        "type": "Note",
        "id": f"{ACTOR}/1",
        "attributedTo": ACTOR,
        "to": [PUBLIC],
        "published": "2024-03-06T07:23:56Z",
    }
    available = importlib.import_module("fediverse_pasture_inputs").available
    return {
        (name, number): base | example
        for name, data in available.items()
        for number, example in enumerate(data.examples)
    }


def read(document: dict[str, Any], reader: Callable[[], ReceivedNote] | None = None) -> ReceivedNote | None:
    try:
        return reader() if reader is not None else read_note(document)
    except Rejected:
        return None


def of(inputs: dict[tuple[str, int], dict[str, Any]], table: str) -> list[ReceivedNote]:
    return [read_note(document) for (name, _number), document in inputs.items() if name == table]


def test_documents_of_post_types_are_read_and_others_are_not(inputs: dict[tuple[str, int], dict[str, Any]]) -> None:
    assert len(inputs) > 250
    assert {place for place, document in inputs.items() if read(document) is None} == REFUSED


def test_content_of_received_posts_is_sanitised(inputs: dict[tuple[str, int], dict[str, Any]]) -> None:
    for place, document in inputs.items():
        note = read(document)
        assert note is None or note.content == sanitize(note.content), place
        assert note is None or "<script" not in note.content, place


@pytest.mark.parametrize("table", FILES)
def test_files_are_read_with_the_right_media_types(inputs: dict[tuple[str, int], dict[str, Any]], table: str) -> None:
    assert " ".join("+".join(file.type for file in note.files) or "-" for note in of(inputs, table)) == FILES[table]


def test_hashtags_languages_and_mentions_are_read(
    inputs: dict[tuple[str, int], dict[str, Any]],
) -> None:
    assert " ".join(note.tags[0][0] if note.tags else "-" for note in of(inputs, "hashtags")) == HASHTAGS
    assert [len(note.tags) for note in of(inputs, "hashtag_jsonld")] == [1, 1, 0, 1, 1]
    assert " ".join(note.language or "-" for note in of(inputs, "language")) == LANGUAGES
    assert [len(note.mentioned) for note in of(inputs, "mentions")] == [1, 1, 1, 1, 1, 1, 1, 1, 0, 1]


def test_parents_and_quotes_are_found_in_every_form(inputs: dict[tuple[str, int], dict[str, Any]]) -> None:
    assert [note.in_reply_to is not None for note in of(inputs, "in_reply_to")] == [
        True,
        True,
        True,
        True,
        True,
        False,
        True,
    ]
    assert [note.quoted is not None for note in of(inputs, "quotes")] == [True] * 5


def test_a_summary_that_is_html_is_shown_as_html(inputs: dict[tuple[str, int], dict[str, Any]]) -> None:
    """HTML that is kept in a post's content is also kept in an article's summary, which becomes part of its content."""
    for note, article in zip(of(inputs, "html_tags"), of(inputs, "html_tags_article"), strict=True):
        assert note.content in article.content


@pytest.mark.parametrize("suite", ["activity_suite", "event_suite", "notes_suite", "poll_suite"])
def test_activities_of_the_corpus_are_accepted_or_refused_as_it_expects(corpora: None, suite: str) -> None:
    package = importlib.import_module("funfedi_parsing_test_cases")
    environment = package.Environment({"type": "Person", "id": "http://host.test/actor"}, "http://other.test/actor")
    cases = getattr(package, suite)
    for name, case_name in cases.names:
        case = cases.retrieve(name, case_name)
        activity, document = case.maker.activity_and_object(environment)
        sent = activity.get("object")
        sent = sent if isinstance(sent, dict) and kind_of(sent, TYPES) else document
        sender = uri_of(activity.get("actor")) or environment.sending_actor
        note = read(sent, partial(read_sent_note, sent, sender, activity))
        allowed = {"recommended": {True}, "should_fail": {False}}.get(case.status, {True, False})
        assert (note is not None and bool(note.to or note.cc)) in allowed, (name, case_name)
