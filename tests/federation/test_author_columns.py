"""Tests that every column that the author of a post sets keeps its value, however the post is created, edited, sent or
received.
"""

import json
from datetime import timedelta
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest

from accounts.emojis.models import CustomEmoji
from accounts.models import Account
from accounts.policies.staff import OPERATOR
from accounts.services.sanctions import hold_account
from accounts.spam.models import RuleSubject, SpamRule
from federation.documents.context import AUTHOR_MEMBERS, PUBLIC
from federation.documents.notes import load_notes, note_document
from federation.documents.received_notes import ReceivedNote, read_note
from federation.remote.posts import revise_note, store_note
from moderation.queries.dry_runs import try_rule
from moderation.services.evidence import export_evidence
from social.kernel import clock
from social.kernel.text.markup import plain
from statuses.admin import words_of
from statuses.models import ScheduledStatus, Status
from statuses.policies.posts import AUTHOR_COLUMNS, COLUMN_LIMITS, READ_COLUMNS, AuthorColumns
from statuses.policies.publishing import RAW_LIMIT
from statuses.queries.posts import load_posts
from statuses.queries.statuses import list_excerpts
from statuses.serializers.status import searched_text_of
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import make_filter, make_media, make_reblog
from tests.statuses.conftest import api_of
from tests.support.terms import check_terms

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
STATUSES = "/api/v1/statuses"
LEFT_OUT = AuthorColumns().author_columns
_PARAMETERS = {"text": "status"}


@pytest.fixture
def media_root(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path


def _send(author: Account, name: str, value: str | None, number: str = "", **more: Any) -> str:
    """Create a post with this value in a column, or set the value in the post with this number; return the post's id.

    A post with a file needs no text.
    """
    sent = {"media_ids": [str(make_media(author).id)]} if name == "text" else {"status": "still here"}
    body = sent | ({} if value is None else {_PARAMETERS.get(name, name): value}) | more
    answer = api_of(author).put(f"{STATUSES}/{number}", body) if number else api_of(author).post(STATUSES, body)
    assert answer.status_code == 200, answer.content
    return str(answer.json()["id"])


def _read(reader: Account, name: str, number: str) -> tuple[Any, Any]:
    """Return a column's stored value, and its value in the entity Status or StatusSource."""
    entity = api_of(reader).get(f"{STATUSES}/{number}").json()
    source = api_of(reader).get(f"{STATUSES}/{number}/source").json()
    return getattr(Status.objects.get(id=number), name), (entity | source)[name]


@pytest.mark.parametrize("name", AUTHOR_COLUMNS)
def test_a_column_can_be_posted_edited_and_cleared_and_is_shown_in_boosts(alice: Account, name: str) -> None:
    bob = make_account("bob")
    number = _send(alice, name, "one")
    assert _read(alice, name, number) == ("one", "one")
    _send(alice, name, "two", number)
    assert _read(bob, name, number) == ("two", "two")
    shown = api_of(bob).get(f"{STATUSES}/{make_reblog(bob, Status.objects.get(id=number)).id}").json()
    if name in shown:
        assert (shown[name], shown["reblog"][name]) == (LEFT_OUT[name], "two")
    _send(alice, name, None, number)
    assert _read(bob, name, number) == (LEFT_OUT[name], LEFT_OUT[name])
    # The edit history contains the HTML of the text, not its source.
    column = "content" if name == "text" else name
    versions = api_of(bob).get(f"{STATUSES}/{number}/history").json()
    assert [plain(version[column]) for version in versions] == ["one", "two", LEFT_OUT[name]]


@pytest.mark.parametrize("name", AUTHOR_COLUMNS)
def test_a_column_is_stored_with_a_scheduled_post_and_may_be_missing_in_an_older_one(alice: Account, name: str) -> None:
    number = _send(alice, name, "one", scheduled_at=(clock.now() + timedelta(days=1)).isoformat())
    assert api_of(alice).get(f"/api/v1/scheduled_statuses/{number}").json()["params"][name] == "one"
    scheduled = ScheduledStatus.objects.get(id=number)
    del scheduled.draft[name]
    scheduled.save()
    assert not api_of(alice).get(f"/api/v1/scheduled_statuses/{number}").json()["params"][name]


@pytest.mark.parametrize("name", AUTHOR_COLUMNS)
def test_a_column_is_sent_to_other_servers_and_received_from_them(alice: Account, name: str) -> None:
    """The source of the text is not sent: other servers get the HTML."""
    zoe = make_remote("zoe")
    theirs = {
        "id": "https://remote.example/1",
        "attributedTo": zoe.uri,
        "published": "2020-01-01T00:00:00Z",
        "attachment": [],
    }

    def received() -> ReceivedNote:
        (note,) = load_notes(load_posts([int(number)])).values()
        check_terms(note_document(note))
        return read_note(note | theirs)

    column = "content" if name == "text" else name
    number = _send(alice, name, "one")
    kept = store_note(received(), zoe)
    assert kept is not None
    assert getattr(kept, column) in ("one", "<p>one</p>")
    _send(alice, name, "two", number)
    revise_note(kept, received())
    kept.refresh_from_db()
    assert getattr(kept, column) in ("two", "<p>two</p>")


@pytest.mark.parametrize("name", AUTHOR_COLUMNS)
def test_a_column_that_is_too_long_is_refused_from_a_client_and_cut_from_another_server(
    alice: Account, name: str
) -> None:
    limit = COLUMN_LIMITS.get(name, RAW_LIMIT)
    answer = api_of(alice).post(STATUSES, {"status": "still here", _PARAMETERS.get(name, name): "x" * (limit + 1)})
    # Without a check in the API, the constraint of the table would refuse the value, with an error that does not name the
    # field.
    assert answer.status_code == 422
    assert "Record invalid" not in answer.json()["error"]
    if name in AUTHOR_MEMBERS:
        zoe = make_remote("zoe")
        note = {
            "id": "https://remote.example/1",
            "type": "Note",
            "attributedTo": zoe.uri,
            "to": [PUBLIC],
            "content": "long",
        }
        kept = store_note(read_note(note | {AUTHOR_MEMBERS[name]: "x" * (limit + 1)}), zoe)
        assert kept is not None
        assert getattr(kept, name) == "x" * limit


@pytest.mark.parametrize("name", READ_COLUMNS)
def test_every_text_column_reaches_filters_spam_rules_emojis_and_staff(alice: Account, name: str) -> None:
    bob = make_account("bob")
    make_filter(bob, "casino")
    CustomEmoji.objects.create(shortcode="blob", remote_url="https://cats.example/blob.png")
    number = _send(alice, name, "casino :blob:")
    shown = api_of(bob).get(f"{STATUSES}/{number}").json()
    assert (len(shown["filtered"]), [emoji["shortcode"] for emoji in shown["emojis"]]) == (1, ["blob"])
    (note,) = load_notes(load_posts([int(number)])).values()
    sent = note | {"id": "https://remote.example/1", "attributedTo": "https://remote.example/zoe"}
    assert [emoji.shortcode for emoji in read_note(sent).emojis] == ["blob"]
    assert try_rule(SpamRule(name="x", subject=RuleSubject.POSTS, words=["casino"])).met == 1
    status = Status.objects.get(id=number)
    (excerpt,) = list_excerpts([status.id], alice.id)
    assert "casino" in words_of(status)
    assert "casino" in excerpt.words


@pytest.mark.parametrize("name", READ_COLUMNS)
def test_filters_search_streamed_posts_of_a_release_without_the_column(alice: Account, name: str) -> None:
    entity = api_of(alice).get(f"{STATUSES}/{_send(alice, name, 'one')}").json()
    del entity[name]
    assert searched_text_of(entity) == "still here"


@pytest.mark.parametrize("name", AUTHOR_COLUMNS)
def test_evidence_contains_the_column_of_all_versions(alice: Account, name: str) -> None:
    number = _send(alice, name, "one")
    _send(alice, name, "two", number)
    hold_account(by=OPERATOR, account=alice, reason="court")
    file = BytesIO()
    export_evidence(by=OPERATOR, account=alice, reason="court", to=file)
    with ZipFile(file) as archive:
        (post,) = json.loads(archive.read(f"posts/{number}.json"))
    assert "two" in post.values()
    assert "one" in post["earlier"][0].values()
