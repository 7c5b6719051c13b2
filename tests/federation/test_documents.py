"""Tests of documents for other servers, compared with stored files, and of their addresses (contract, sections 1 to 8)."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AccountStat
from federation.documents import activities, collections
from federation.documents.notes import load_notes
from social.kernel import clock
from statuses.models import Status
from statuses.queries.posts import load_posts
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import follow, make_favourite, make_media, make_reblog, make_remote_status, make_status
from tests.federation.remote_server import RemotePerson, pair
from tests.support.client import Api
from tests.support.terms import check_terms

pytestmark = pytest.mark.django_db
FOLDER = Path(__file__).parent / "documents"
DOCUMENT = {"Accept": 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"'}
HTML = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


def get(path: str, headers: dict[str, str] | None = None) -> Any:
    return Api().get(path, headers=DOCUMENT if headers is None else headers)


def same(name: str, document: Any) -> None:
    """Fail if the document differs from the file, or uses a term that its context does not define.

    Ids, keys, files and times are ignored. UPDATE_DOCUMENTS=1 writes the file.
    """
    check_terms(document)
    text = json.dumps(document, indent=2, ensure_ascii=False)
    text = re.sub(r"\b\d{15,19}\b", "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z", "MOMENT", text)
    text = re.sub(r"-----BEGIN.*?-----END PUBLIC KEY-----\\n", "KEY", text)
    text = re.sub(r"/system/[a-z_/]+/[0-9a-f]{2}/[0-9a-f/]+\.", "/system/FILE.", text)
    file = FOLDER / f"{name}.json"
    if os.environ.get("UPDATE_DOCUMENTS"):
        file.write_text(f"{text}\n")
    assert json.loads(text) == json.loads(file.read_text())


@pytest.fixture
def anna(db: None) -> Account:
    """An account with every field of the profile."""
    fields = [{"name": "Web", "value": "https://a.example", "html": "<a>a</a>", "verified_at": None}]
    return make_account(
        "anna",
        display_name="Anna",
        note="I like #Tea",
        note_html="<p>I like #Tea</p>",
        fields=fields,
        discoverable=True,
        avatar="accounts/avatars/ab/cd/ef.png",
        avatar_description="Me",
        also_known_as=["https://old.example/users/anna"],
        attribution_domains=["a.example"],
    )


def test_an_actor_is_served_as_the_recorded_document(anna: Account) -> None:
    answer = get("/users/anna")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/activity+json; charset=utf-8")
    same("actor", answer.json())


def test_the_document_of_a_temporarily_suspended_account_is_blank(anna: Account) -> None:
    Account.objects.filter(id=anna.id).update(suspended_at=clock.now())
    same("suspended_actor", get("/users/anna").json())
    assert get("/users/anna/outbox").status_code == 403


def test_posts_of_a_temporarily_suspended_account_do_not_look_deleted(anna: Account) -> None:
    public, private = make_status(anna, "hello"), make_status(anna, "psst", visibility="private")
    paths = [f"/users/anna/statuses/{status.id}" for status in (public, private)] + ["/users/anna/statuses/1"]
    paths += [f"{paths[0]}/{name}" for name in ("activity", "replies", "likes", "shares")] + [f"/@anna/{public.id}"]
    Account.objects.filter(id=anna.id).update(suspended_at=clock.now())
    assert {get(path).status_code for path in paths} == {403}
    Account.objects.filter(id=anna.id).update(erased_at=clock.now())
    assert {get(path).status_code for path in paths} == {410}


def test_the_instance_actor_has_a_document_and_an_empty_outbox(db: None) -> None:
    answer = get("/actor")
    assert answer["Cache-Control"] == "public, max-age=600"
    first = answer.json()
    same("instance_actor", first)
    assert first == get("/actor").json()
    assert get("/actor/outbox").json()["totalItems"] == 0


@pytest.fixture
def status(anna: Account, media_root: Path) -> Status:
    """A post with every kind of content."""
    make_account("bob")
    bob = Account.objects.get(username="bob")
    question = make_status(bob, "What?")
    media = make_media(anna, "A square")
    return make_status(
        anna,
        "Hi @bob, #Tea?",
        reply_to=question,
        media=[media],
        spoiler_text="Drinks",
        language="en",
    )


def test_a_post_is_served_as_the_recorded_note(anna: Account, status: Status) -> None:
    make_status(anna, "More", reply_to=status)
    make_favourite(make_account("fan"), status)
    same("note", get(f"/users/anna/statuses/{status.id}").json())


def test_a_post_has_a_document_of_its_create_activity(anna: Account, status: Status) -> None:
    same("create", get(f"/users/anna/statuses/{status.id}/activity").json())
    assert get(f"/users/anna/statuses/{status.id}/activity").json() == activities.create(
        load_notes(load_posts([status.id]))[status.id]
    )


def test_sent_activities_equal_the_recorded_documents(anna: Account, status: Status) -> None:
    boost, post = load_posts([make_reblog(make_account("carl"), status).id, status.id])
    uri = "https://b.example/users/zoe"
    same(
        "activities",
        [
            activities.announce(boost),
            activities.undo_announce(boost),
            activities.delete(post),
            activities.like(anna, 5, f"{uri}/statuses/1"),
            activities.undo_like(anna, 5, f"{uri}/statuses/1"),
            activities.follow(anna, uri, f"{anna.uri}#follows/3"),
            activities.undo_follow(anna, uri, f"{anna.uri}#follows/3"),
            activities.answer_follow(anna, uri, f"{uri}#follows/1", accepted=True, number=4),
            activities.answer_follow(anna, uri, f"{uri}#follows/1", accepted=False, number=4),
            activities.block(anna, f"{anna.uri}#blocks/6", uri),
            activities.undo_block(anna, f"{anna.uri}#blocks/6", uri),
            activities.delete_actor(anna),
        ],
    )


def test_the_followers_collection_is_paged_newest_first_and_counts_all_followers(anna: Account) -> None:
    followers = [make_account() for _number in range(14)]
    for follower in followers:
        follow(follower, anna)
    AccountStat.objects.create(account=anna, followers_count=14)
    collection = get("/users/anna/followers").json()
    assert (collection["type"], collection["totalItems"]) == ("OrderedCollection", 14)
    first = get(collection["first"].removeprefix("http://social.localhost")).json()
    second = get(first["next"].removeprefix("http://social.localhost")).json()
    people = first["orderedItems"] + second["orderedItems"]
    assert people == [follower.uri for follower in reversed(followers)]
    assert (len(first["orderedItems"]), "next" in second, "prev" in second) == (12, False, True)
    for name in ("featured", "tags"):
        assert get(f"/users/anna/collections/{name}").json()["totalItems"] == 0


def test_hidden_collections_show_only_their_counts(anna: Account) -> None:
    Account.objects.filter(id=anna.id).update(hide_collections=True)
    for name in ("followers", "following"):
        assert set(get(f"/users/anna/{name}").json()) == {"@context", "id", "type", "totalItems"}
        assert get(f"/users/anna/{name}?page=1").status_code == 403


def test_the_outbox_contains_posts_that_everybody_may_read(anna: Account) -> None:
    make_status(anna, "for followers", visibility="private")
    posts = [make_status(anna, f"number {number}") for number in range(22)]
    outbox = get("/users/anna/outbox").json()
    first = get(outbox["first"].removeprefix("http://social.localhost")).json()
    second = get(first["next"].removeprefix("http://social.localhost")).json()
    ids = [item["object"]["id"] for item in first["orderedItems"] + second["orderedItems"]]
    assert ids == [f"{anna.uri}/statuses/{status.id}" for status in reversed(posts)]
    last = get(outbox["last"].removeprefix("http://social.localhost")).json()
    assert last["orderedItems"][-1]["object"]["id"].endswith(str(posts[0].id))


def test_a_page_of_the_outbox_costs_the_same_however_full_it_is(anna: Account) -> None:
    costs = []
    for number in (2, 8):
        for _ in range(number):
            post = make_status(anna, "hello #tag @anna")
            for _ in range(7):
                make_status(anna, "and another thing", reply_to=post, visibility="unlisted")
        with CaptureQueriesContext(connection) as queries:
            page = get("/users/anna/outbox?page=true").json()
        costs.append(len(queries))
    assert costs[0] == costs[1]
    assert [len(item["object"]["replies"]["first"]["items"]) for item in page["orderedItems"]].count(5) == 2


def test_the_collection_of_replies_begins_with_the_authors_own(anna: Account) -> None:
    status = make_status(anna, "one")
    own = make_status(anna, "two", reply_to=status)
    other = make_status(make_account("bob"), "me too", reply_to=status)
    make_status(make_account("eve"), "psst", reply_to=status, visibility="private")
    page = get(f"/users/anna/statuses/{status.id}/replies?page=true").json()
    assert [item["id"] for item in page["items"]] == [f"{anna.uri}/statuses/{own.id}"]
    page = get(page["next"].removeprefix("http://social.localhost")).json()
    assert [item["id"] for item in page["items"]] == [f"http://social.localhost/users/bob/statuses/{other.id}"]
    assert "next" not in page


def test_a_hashtag_has_a_document_at_the_address_of_its_page(anna: Account) -> None:
    status = make_status(anna, "I like #Tea")
    (tag,) = get(f"/users/anna/statuses/{status.id}").json()["tag"]
    path = tag["href"].removeprefix("http://social.localhost")
    answer = get(path)
    assert answer.json() == {
        "@context": "https://www.w3.org/ns/activitystreams",
        "id": tag["href"],
        "type": "OrderedCollection",
    }
    assert answer["Cache-Control"] == "public, max-age=180"
    page = get(path, HTML)
    assert (page.status_code, b"I like" in page.content) == (200, True)
    assert {"Accept", "Cookie"} <= set(page["Vary"].replace(" ", "").split(","))
    assert get(path, {"Accept": "image/png"}).status_code == 406
    assert get("/tags/...").status_code == get("/tags/...", HTML).status_code == 404


def test_a_page_has_no_more_items_than_other_servers_read(anna: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    status = make_status(anna, "one")
    answers = [make_status(anna, f"{number} {'x' * 450}", reply_to=status) for number in range(6)]
    uris = [f"{anna.uri}/statuses/{each.id}" for each in answers]
    whole = get(f"/users/anna/statuses/{status.id}/replies?page=true")
    assert [item["id"] for item in whole.json()["items"]] == uris
    monkeypatch.setattr(collections, "ITEMS_BYTES", len(whole.content) // 2)
    half = get(f"/users/anna/statuses/{status.id}/replies?page=true")
    items = half.json()["items"]
    assert [item if isinstance(item, str) else item["id"] for item in items] == uris, "each reply is listed"
    assert isinstance(items[0], dict)
    assert isinstance(items[-1], str)
    assert len(half.content) < len(whole.content) * 2 / 3
    outbox = get("/users/anna/outbox?page=true").json()["orderedItems"]
    assert outbox[-1] == f"{anna.uri}/statuses/{status.id}/activity"


def test_a_post_links_to_the_page_of_replies_that_it_does_not_embed(anna: Account) -> None:
    status = make_status(anna, "one")
    first = get(f"/users/anna/statuses/{status.id}").json()["replies"]["first"]
    assert first["next"].endswith(f"{status.id}/replies?only_other_accounts=true&page=true")
    own = [make_status(anna, "more", reply_to=status) for _ in range(6)]
    first = get(f"/users/anna/statuses/{status.id}").json()["replies"]["first"]
    assert first["items"] == [f"{anna.uri}/statuses/{each.id}" for each in own[:5]]
    page = get(first["next"].removeprefix("http://social.localhost")).json()
    assert [item["id"] for item in page["items"]] == [f"{anna.uri}/statuses/{own[5].id}"]


def test_a_conversation_is_listed_page_by_page_for_whoever_may_read_it(
    anna: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("federation.views.posts.CONVERSATION_PER_PAGE", 2)
    bob, zoe = make_account("bob"), make_remote("zoe", "b.example")
    root = make_status(anna, "one")
    make_status(bob, "psst", reply_to=root, visibility="private")
    theirs = make_remote_status(zoe, parent=root, visibility="unlisted")
    last = make_status(bob, "three", reply_to=theirs)
    make_reblog(bob, root)
    uri = f"http://social.localhost/contexts/{anna.id}-{root.id}"
    for each in (root, last):
        note = get(f"/users/{each.account.username}/statuses/{each.id}").json()
        assert (note["conversation"], note["context"]) == (uri, uri)
    path = uri.removeprefix("http://social.localhost")
    found = get(path).json()
    following = f"{uri}?page=true&min_id={theirs.id}"
    items = [root.uri or f"{anna.uri}/statuses/{root.id}", theirs.uri]
    assert found == {
        "@context": "https://www.w3.org/ns/activitystreams",
        "id": uri,
        "type": "Collection",
        "attributedTo": anna.uri,
        "first": {"type": "CollectionPage", "partOf": uri, "next": following, "items": items},
    }
    page = get(following.removeprefix("http://social.localhost")).json()
    assert (page["items"], page["id"], "next" in page) == ([f"{bob.uri}/statuses/{last.id}"], following, False)
    hidden = make_status(bob, "only for followers", visibility="private")
    # The document does not mention a hidden parent, although anyone may read the reply itself (security row 76).
    make_status(bob, "to it", reply_to=hidden)
    for wrong in (f"/contexts/{bob.id}-{root.id}", f"/contexts/{anna.id}-1", f"/contexts/{bob.id}-{hidden.id}"):
        assert get(wrong).status_code == 404


def test_a_reply_keeps_the_conversation_id_of_another_server(anna: Account) -> None:
    zoe = make_remote("zoe", "b.example")
    tag, address = "tag:b.example,2026-01-01:objectId=1:objectType=Conversation", "https://b.example/contexts/1-2"
    for named, conversation, context in ((tag, tag, None), (address, address, address)):
        answer = make_status(anna, "yes", reply_to=make_remote_status(zoe, conversation_uri=named))
        note = get(f"/users/anna/statuses/{answer.id}").json()
        assert (note["conversation"], note.get("context")) == (conversation, context)
    asked = make_remote_status(zoe)
    note = get(f"/users/anna/statuses/{make_status(anna, 'yes', reply_to=asked).id}").json()
    assert note["context"] == f"http://social.localhost/contexts/{zoe.id}-{asked.id}"
    assert get(f"/contexts/{zoe.id}-{asked.id}").json()["attributedTo"] == zoe.uri


@pytest.mark.parametrize(
    ("accept", "document"),
    [
        ("application/activity+json", True),
        ("application/ld+json", True),
        ("application/json", True),
        ('application/ld+json; profile="https://www.w3.org/ns/activitystreams", text/html;q=0.1', True),
        (HTML["Accept"], False),
        ("text/html", False),
        ("*/*", False),
        ("text/html;q=0.1, application/activity+json", True),
        ("image/png", None),
    ],
)
def test_the_accept_header_decides_between_page_and_document(anna: Account, accept: str, document: bool | None) -> None:
    status = make_status(anna, "hello")
    for path, page in (("/users/anna", "/@anna"), (f"/users/anna/statuses/{status.id}", f"/@anna/{status.id}")):
        answer = get(path, {"Accept": accept})
        if document is None:
            assert answer.status_code == 406
        elif document:
            assert (answer.status_code, answer.json()["@context"] is not None) == (200, True)
        else:
            assert (answer.status_code, answer["Location"]) == (301, f"http://social.localhost{page}")
        assert {"Origin", "Accept"} <= set(answer["Vary"].split(", "))


def test_documents_of_unknown_accounts_and_posts_are_404(anna: Account) -> None:
    make_user("fresh", confirmed=False)
    for path in (
        "/users/nobody",
        "/users/fresh",
        "/users/anna/statuses/1",
        "/users/anna/statuses/99999999999999999999",
    ):
        assert get(path).status_code == 404, path
    assert get("/users/" + "x" * 300).status_code == 404


def test_a_deleted_post_leaves_a_tombstone(anna: Account) -> None:
    public, private = make_status(anna, "a"), make_status(anna, "b", visibility="private")
    for status in (public, private):
        delete_status(status_id=status.id)
    answer = get(f"/users/anna/statuses/{public.id}")
    assert (answer.status_code, answer.json()["type"]) == (410, "Tombstone")
    assert get(f"/users/anna/statuses/{private.id}").status_code == 404


def test_private_posts_are_served_only_to_signers_who_may_read_them(anna: Account, elsewhere: Any) -> None:
    """Security rows 19 and 39: others get the same 404 as for a missing post, and caches may store nothing."""
    from federation.remote.actors import fetch_actor

    zoe, yan = elsewhere.person("zoe"), elsewhere.person("yan", key=2)
    private = make_status(anna, "for followers", visibility="private")
    path = f"/users/anna/statuses/{private.id}"
    missing = get("/users/anna/statuses/1")
    for answer in (get(path), zoe.get(path)):
        assert (answer.status_code, answer.content) == (404, missing.content)
    follow(fetch_actor(zoe.uri), anna)
    answer = zoe.get(path)
    assert (answer.status_code, answer["Cache-Control"]) == (200, "private, no-store")
    assert "Signature" in answer["Vary"]
    answer = yan.get(path)
    assert (answer.status_code, answer.content) == (404, missing.content)
    assert get(path).status_code == 404
    forged = RemotePerson(elsewhere, "zoe")
    forged.private_key = pair(3)[0]
    assert forged.get(path).status_code == 404


def test_this_server_serves_no_activity_for_a_remote_post(anna: Account) -> None:
    status = make_remote_status(make_remote("zoe"))
    assert get(f"/users/zoe/statuses/{status.id}").status_code == 404
    assert get("/users/zoe").status_code == 404
