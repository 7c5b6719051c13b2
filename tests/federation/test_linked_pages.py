"""Tests of a Link in a post's attachments: the post is shown with a preview of the linked page (FEP-8967)."""

from typing import Any

import pytest

from accounts.models import Account
from federation.documents.received_notes import ReceivedNote, read_note
from statuses.models import MediaAttachment, Status, StatusCard
from tests.federation.activities import deal, introduced
from tests.federation.remote_server import RemotePerson

HOME, STORY = "https://far.example", "https://news.example/story?a=1&b=2"
OWN_LINK = f'<p><a href="{HOME}/notes/1" rel="nofollow noopener" target="_blank">{HOME}/notes/1</a></p>'
STORY_LINK = (
    '<p><a href="https://news.example/story?a=1&amp;b=2" rel="nofollow noopener" target="_blank">'
    "https://news.example/story?a=1&amp;b=2</a></p>"
)


def _read(kind: str, attachment: Any, **members: Any) -> ReceivedNote:
    named = {"id": f"{HOME}/notes/1", "type": kind, "attributedTo": f"{HOME}/users/ann", "attachment": attachment}
    return read_note(named | members)


@pytest.mark.django_db
@pytest.mark.parametrize("kind", [{}, {"mediaType": "text/html; charset=utf-8"}])
def test_a_post_of_mastodon_with_a_link_has_its_preview_and_no_file(
    zoe: RemotePerson, alice: Account, kind: dict[str, str]
) -> None:
    introduced(zoe, alice)
    named = {"type": "Link", "href": STORY} | kind
    content = f'<p>Read <a href="{STORY.replace("&", "&amp;")}">this</a></p>'
    assert deal(zoe, zoe.activity("Create", zoe.note(content, attachment=[named]))) == "done"
    status = Status.objects.get()
    assert "this</a>" in status.content
    assert status.content.count("news.example") == 1, "the text has the link already"
    assert not MediaAttachment.objects.exists()
    assert StatusCard.objects.get(status=status).url == STORY


@pytest.mark.parametrize("attachment", [{"type": "Link", "href": STORY}, [{"type": ["Link"], "href": STORY}] * 2])
def test_the_page_linked_by_a_community_post_becomes_the_first_link_of_its_text(attachment: Any) -> None:
    note = _read("Page", attachment, name="News", content='<p>So <a href="https://b.example/">it</a> is</p>')
    assert not note.files
    assert note.content.startswith(f"<p><strong>News</strong></p>{STORY_LINK}<p>So ")
    assert note.content.endswith(OWN_LINK)


def test_a_page_that_the_text_links_to_is_not_linked_twice() -> None:
    note = _read("Page", {"type": "Link", "href": STORY}, content=STORY_LINK)
    assert note.content == STORY_LINK + OWN_LINK


def test_a_link_that_the_text_lacks_is_added_to_the_text() -> None:
    assert _read("Note", {"type": "Link", "href": STORY}, content="<p>look</p>").content == f"<p>look</p>{STORY_LINK}"
    other = '<p><a href="https://b.example/" rel="nofollow noopener" target="_blank">it</a></p>'
    assert _read("Note", {"type": "Link", "href": STORY}, content=other).content == other


@pytest.mark.parametrize("page", ["http://social.localhost/@alice/1", STORY])
def test_a_link_in_the_text_to_a_page_without_a_preview_is_not_repeated(page: str) -> None:
    """Links to this server, and links inside quotes, get no preview on this server, but the post's own server shows one."""
    html = page.replace("&", "&amp;")
    inline = f'<p class="quote-inline">RE: <a href="{html}" rel="nofollow noopener" target="_blank">{html}</a></p>'
    assert _read("Note", {"type": "Link", "href": page}, content=inline).content == inline
    own = {"type": "Link", "href": "http://social.localhost/@alice/1"}
    assert _read("Note", own, content="<p>a</p>").content == "<p>a</p>"
    assert '"http://social.localhost/@alice/1"' in _read("Page", own, content="<p>a</p>").content


@pytest.mark.parametrize("href", ["payto://iban/DE7551", None, f"{HOME}/notes/1"])
def test_an_invalid_link_or_a_link_to_the_post_itself_is_ignored(href: str | None) -> None:
    assert _read("Article", {"type": "Link", "href": href}, content="<p>a</p>").content == f"<p>a</p>{OWN_LINK}"


@pytest.mark.parametrize("kinds", [["Note", "Question"], ["Question", "Note"]])
def test_a_document_of_the_types_note_and_question_has_its_poll(kinds: list[str]) -> None:
    note = _read("Note", [], content="<p>?</p>", type=kinds, oneOf=[{"name": "a"}, {"name": "b"}])
    assert note.poll is not None
    assert note.poll.options == ["a", "b"]
