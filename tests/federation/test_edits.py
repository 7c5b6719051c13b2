"""Tests of edits of remote posts: an edit is accepted from the author only, counts once, and never widens the audience."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account
from federation.documents.notes import load_notes, note_document
from federation.documents.reading import moment_of
from federation.reasons import Rejected
from federation.remote.actors import fetch_actor
from federation.remote.posts import fetch_again
from notifications.models import Notification
from social.kernel import clock
from statuses.models import MediaAttachment, Poll, Quote, Status, StatusEdit
from statuses.queries.posts import load_posts
from statuses.services.deleting import delete_status
from statuses.services.interactions import unfavourite_status
from tests.factories.accounts import make_account
from tests.factories.statuses import counts, edit, follow, make_favourite, make_reblog, make_status
from tests.federation.activities import PUBLIC, deal
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def _known(zoe: RemotePerson, alice: Account, **note: Any) -> tuple[dict[str, Any], Status]:
    """Return the document and the row of a post by Zoe, whom Alice follows."""
    follow(alice, fetch_actor(zoe.uri))
    document = zoe.note(published=(clock.now() - timedelta(hours=1)).isoformat(), **note)
    assert deal(zoe, zoe.activity("Create", document)) == "done"
    return document, Status.objects.get(uri=document["id"])


def _edit(document: dict[str, Any], minutes: int = 30, **changes: Any) -> dict[str, Any]:
    return document | {"updated": (clock.now() - timedelta(minutes=minutes)).isoformat()} | changes


def _file(name: str, words: str) -> dict[str, Any]:
    return {"type": "Document", "mediaType": "image/png", "url": f"https://files.example/{name}", "name": words}


def test_an_edit_by_the_author_is_stored_with_the_previous_version(zoe: RemotePerson, alice: Account) -> None:
    bob = make_account("bob")
    document, status = _known(zoe, alice, content="<p>one</p>", attachment=[_file("a", "a"), _file("b", "b")])
    make_reblog(alice, status)
    tags = [
        {"type": "Mention", "href": bob.uri, "name": "@bob"},
        {"type": "Hashtag", "href": "https://elsewhere.example/tags/new", "name": "#new"},
    ]
    changed = _edit(
        document,
        content="<p>two<script>alert(1)</script></p>",
        summary="w",
        tag=tags,
        cc=[bob.uri],
        attachment=[_file("b", "other words"), _file("c", "c")],
    )
    assert deal(zoe, zoe.activity("Update", changed)) == "done"
    status.refresh_from_db()
    assert (status.content, status.spoiler_text, status.sensitive) == ("<p>two</p>", "w", True)
    assert status.edited_at is not None
    versions = Api().get(f"/api/v1/statuses/{status.id}/history").json()
    assert [version["content"] for version in versions] == ["<p>one</p>", "<p>two</p>"]
    words = [[file["description"] for file in version["media_attachments"]] for version in versions]
    assert words == [["a", "b"], ["other words", "c"]]
    assert MediaAttachment.objects.count() == 3
    assert list(status.status_tags.values_list("tag__name", flat=True)) == ["new"]
    found = set(Notification.objects.values_list("account__username", "type"))
    assert found == {("bob", "mention"), ("alice", "update")}
    # A repeated edit, and an older one that arrives late, change nothing.
    assert deal(zoe, zoe.activity("Update", changed)) == "done"
    assert deal(zoe, zoe.activity("Update", _edit(document, minutes=40, content="<p>late</p>"))) == "done"
    assert deal(zoe, zoe.activity("Update", document | {"content": "<p>no time</p>"})) == "done"
    status.refresh_from_db()
    assert (status.content, StatusEdit.objects.count()) == ("<p>two</p>", 1)


def test_row_08_only_the_author_can_edit_a_post_and_never_its_visibility(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    document, status = _known(zoe, alice, content="<p>mine</p>", to=[f"{zoe.uri}/followers"], cc=[])
    yan = elsewhere.person("yan")
    forged = _edit(document, content="<p>forged</p>")
    assert deal(yan, yan.activity("Update", forged)).startswith("rejected")
    assert deal(yan, yan.activity("Update", forged | {"attributedTo": yan.uri})).startswith("rejected")
    local = make_status(alice, "of this server")
    own = forged | {"id": local.account.uri + f"/statuses/{local.id}", "attributedTo": alice.uri}
    assert deal(zoe, zoe.activity("Update", own)).startswith("rejected")
    before = status.visibility
    assert deal(zoe, zoe.activity("Update", _edit(document, content="<p>for all</p>", to=[PUBLIC]))) == "done"
    status.refresh_from_db()
    assert (status.content, status.visibility) == ("<p>for all</p>", before)
    local.refresh_from_db()
    assert local.text == "of this server"


def test_an_edit_of_an_unknown_post_stores_it_if_it_is_recent_and_was_not_deleted(
    zoe: RemotePerson, alice: Account
) -> None:
    follow(alice, fetch_actor(zoe.uri))
    recent, old = zoe.note(), zoe.note(number=2, published=(clock.now() - timedelta(days=2)).isoformat())
    assert deal(zoe, zoe.activity("Update", _edit(recent))) == "done"
    assert deal(zoe, zoe.activity("Update", _edit(old))).startswith("rejected")
    status = Status.objects.get()
    delete_status(status_id=status.id)
    assert deal(zoe, zoe.activity("Update", _edit(recent, minutes=0))).startswith("rejected")
    assert not StatusEdit.objects.exists()


def test_row_36_an_edit_that_quotes_another_post_needs_a_new_consent(zoe: RemotePerson, alice: Account) -> None:
    document, status = _known(zoe, alice)
    other = zoe.note(content="<p>another</p>", number=2)
    assert deal(zoe, zoe.activity("Create", other)) == "done"
    quoted = Status.objects.get(uri=other["id"])
    assert deal(zoe, zoe.activity("Update", _edit(document, quote=other["id"]))) == "done"
    # The author's own posts can be quoted without approval.
    assert (Quote.objects.get(status=status).state, quoted.stat.quotes_count) == ("accepted", 1)
    base = make_status(alice, "base")
    uri = f"{alice.uri}/statuses/{base.id}"
    stamp = f"{alice.uri}/quote_authorizations/1"
    changed = _edit(document, minutes=20, quote=uri, quoteAuthorization=stamp)
    assert deal(zoe, zoe.activity("Update", changed)) == "done"
    quote = Quote.objects.get(status=status)
    assert (quote.state, quote.quoted_status_id) == ("pending", base.id)
    quoted.stat.refresh_from_db()
    assert quoted.stat.quotes_count == 0
    shown = Api().get(f"/api/v1/statuses/{status.id}").json()["quote"]
    assert shown == {"state": "pending", "quoted_status": None}
    assert deal(zoe, zoe.activity("Update", _edit(document, minutes=10))) == "done"
    assert not Quote.objects.exists()
    assert counts(status) == (0, 0, 0)


def test_favourites_and_boosts_are_shown_as_the_server_of_the_post_counts_them(
    zoe: RemotePerson, alice: Account
) -> None:
    def counted(likes: Any, shares: Any) -> dict[str, Any]:
        return {"likes": {"type": "Collection", "totalItems": likes}, "shares": {"totalItems": shares}}

    def shown(status: Status) -> tuple[int, int]:
        entity = Api().get(f"/api/v1/statuses/{status.id}").json()
        return entity["favourites_count"], entity["reblogs_count"]

    document, status = _known(zoe, alice, **counted(12, 3))
    assert shown(status) == (12, 3)
    make_favourite(alice, status)
    assert shown(status) == (13, 3), "a local favourite is counted immediately"
    unfavourite_status(account_id=alice.id, status_id=status.id)
    assert shown(status) == (12, 3)
    make_favourite(alice, status)
    assert deal(zoe, zoe.activity("Update", document | counted(20, 0))) == "done"
    assert shown(status) == (20, 0), "changed counts are not an edit"
    assert deal(zoe, zoe.activity("Update", _edit(document | counted("many", -1), content="<p>new</p>"))) == "done"
    assert shown(status) == (20, 0)
    assert deal(zoe, zoe.activity("Update", document | counted(0, 10**12))) == "done"
    assert shown(status) == (1, 10**6), "the local counts are the minimum"
    assert counts(status) == (0, 0, 1), "rules use only the local counts"


def test_an_edit_with_the_same_date_as_the_post_is_accepted(zoe: RemotePerson, alice: Account) -> None:
    document, status = _known(zoe, alice, content="<p>one</p>")
    for content in ("<p>one</p>", "<p>two</p>", "<p>two</p>"):
        edited = document | {"content": content, "updated": document["published"]}
        assert deal(zoe, zoe.activity("Update", edited)) == "done"
        assert Status.objects.get(id=status.id).content == content
    assert StatusEdit.objects.filter(status=status).count() == 1


def test_the_quote_policy_of_a_remote_post_changes_without_an_edit(zoe: RemotePerson, alice: Account) -> None:
    def allowed(*approved: str) -> dict[str, Any]:
        return {"interactionPolicy": {"canQuote": {"automaticApproval": list(approved)}}}

    def shown() -> list[str]:
        groups: list[str] = Api().get(f"/api/v1/statuses/{status.id}").json()["quote_approval"]["automatic"]
        return groups

    document, status = _known(zoe, alice, **allowed(PUBLIC))
    assert shown() == ["public"]
    assert deal(zoe, zoe.activity("Update", document | allowed(zoe.uri))) == "done"
    assert shown() == []
    edited = _edit(document | allowed(zoe.uri), content="<p>new</p>")
    assert deal(zoe, zoe.activity("Update", edited)) == "done"
    assert deal(zoe, zoe.activity("Update", document | allowed(PUBLIC))) == "done"
    assert shown() == [], "an edit that is older than the latest one is ignored"
    assert deal(zoe, zoe.activity("Update", edited | allowed(PUBLIC))) == "done"
    assert shown() == ["public"]
    assert StatusEdit.objects.filter(status=status).count() == 1, "changed policies are not edits"


def test_the_document_of_an_edited_post_has_the_time_and_the_current_mentions(alice: Account) -> None:
    bob, carol = make_account("bob"), make_account("carol")
    post = make_status(alice, "@bob one")
    document = note_document(load_notes(load_posts([post.id]))[post.id])
    assert "updated" not in document
    edit(post, "@carol two")
    document = note_document(load_notes(load_posts([post.id]))[post.id])
    assert moment_of(document["updated"]) >= moment_of(document["published"])
    assert [tag["href"] for tag in document["tag"]] == [carol.uri]
    # Accounts that were mentioned before the edit may still read the post.
    assert {bob.uri, carol.uri} <= {*document["to"], *document["cc"]}


def test_the_later_of_two_edits_in_one_second_is_stored(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    document, status = _known(zoe, alice, content="<p>one</p>", attachment=[_file("a", "a")])
    second = (clock.now() - timedelta(minutes=30)).replace(microsecond=0).isoformat()
    first = document | {"updated": second, "content": "<p>two</p>"}
    quoted = zoe.note(number=2)
    assert deal(zoe, zoe.activity("Create", quoted)) == "done"
    edits = [
        first,
        first | {"content": "<p>three</p>"},
        first | {"content": "<p>three</p>", "attachment": [_file("a", "other words")]},
        first | {"content": "<p>three</p>", "attachment": [_file("a", "other words")], "quote": quoted["id"]},
    ]
    for number, edited in enumerate(edits, 1):
        # Each edit is sent twice, because a repetition must not count as another edit.
        for _time in range(2):
            assert deal(zoe, zoe.activity("Update", edited)) == "done"
        assert Status.objects.get(id=status.id).content == edited["content"]
        assert StatusEdit.objects.filter(status=status).count() == number
    assert Quote.objects.filter(status=status).exists()
    # A forwarded edit is fetched, perhaps from an outdated cache, so it counts only if its date is later.
    elsewhere.serve(first)
    fetch_again(document["id"])
    assert Status.objects.get(id=status.id).content == "<p>three</p>"
    elsewhere.serve(_edit(document, minutes=20, content="<p>four</p>"))
    fetch_again(document["id"])
    assert Status.objects.get(id=status.id).content == "<p>four</p>"


def test_row_08_a_fetched_post_cannot_change_its_author(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    document, status = _known(zoe, alice)
    yan = elsewhere.person("yan")
    elsewhere.serve(_edit(document, content="<p>of yan</p>", attributedTo=yan.uri))
    with pytest.raises(Rejected):
        fetch_again(document["id"])
    assert "of yan" not in Status.objects.get(id=status.id).content


def test_votes_of_an_edited_poll_are_updated_although_the_date_stays_the_same(
    zoe: RemotePerson, alice: Account
) -> None:
    def options(*counts: int) -> list[dict[str, Any]]:
        return [
            {"type": "Note", "name": name, "replies": {"type": "Collection", "totalItems": count}}
            for name, count in zip("ab", counts, strict=True)
        ]

    document, status = _known(zoe, alice, type="Question", oneOf=options(0, 0))
    edited = _edit(document, content="<p>two</p>")
    assert deal(zoe, zoe.activity("Update", edited)) == "done"
    assert deal(zoe, zoe.activity("Update", edited | {"oneOf": options(3, 1)})) == "done"
    assert Poll.objects.get(status=status).tallies == [3, 1]
    assert StatusEdit.objects.filter(status=status).count() == 1
    other = options(0, 0)
    other[1]["name"] = "c"
    assert deal(zoe, zoe.activity("Update", edited | {"oneOf": other})) == "done"
    assert Poll.objects.get(status=status).options == ["a", "c"]
