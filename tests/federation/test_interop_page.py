"""Tests that `docs/interop.md` states what the tests verify for each recorded document; skipped without the records."""

import ast
from pathlib import Path

import pytest

from tests.federation.wire_effects import EFFECTS, READ
from tests.support.interop_page import PAGE, page
from tests.support.wire import DIFFERENCES, FILES

pytestmark = pytest.mark.skipif(not FILES, reason="the recorded documents are not here")
#: The tests that compare documents sent and served by this server with the records.
COMPARISONS = ("test_sent_*.py", "test_served_documents.py", "test_featured_collections.py", "test_feature_consent.py")


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `make documents`"


def test_every_record_has_a_sentence_and_is_compared_with_a_document_of_this_server() -> None:
    assert sorted([*EFFECTS, *READ]) == FILES
    sources = [path for pattern in COMPARISONS for path in Path(__file__).parent.glob(pattern)]
    texts = {
        node.value
        for path in sources
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    # Two tests build the names of these records from the kind of activity.
    texts |= {f"{one}_quote_request" for one in ("accept", "reject")}
    texts |= {f"{one}_featured_post" for one in ("add", "remove")}
    assert set(FILES) - texts == set()
    assert set(DIFFERENCES) <= set(FILES)
