"""Tests of reading draft posts that were stored by another release."""

from statuses.services.composing import Draft
from statuses.services.kept_drafts import read_draft


def test_a_stored_draft_without_later_fields_and_with_those_of_a_newer_release_is_read() -> None:
    assert read_draft({"text": "Hello", "added_later": 1}) == Draft(text="Hello")
