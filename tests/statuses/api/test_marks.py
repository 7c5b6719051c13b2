"""Tests of bookmarks, favourites, pins and muted conversations over HTTP."""

from typing import Any

import pytest

from accounts.models import Account
from statuses.models import ConversationMute, Pin
from statuses.services.receiving import publish_remote_status
from statuses.services.storing import Composed
from tests.factories.accounts import make_remote
from tests.factories.statuses import (
    block,
    follow,
    make_bookmark,
    make_favourite,
    make_reblog,
    make_remote_status,
    make_status,
)
from tests.statuses.conftest import api_of

pytestmark = pytest.mark.django_db
STATUSES = "/api/v1/statuses"
LIMIT = "You have already pinned the maximum number of posts"


def _ids(response: Any) -> list[str]:
    assert response.status_code == 200, response.content
    return [item["id"] for item in response.json()]


@pytest.mark.parametrize(("make", "path"), [(make_bookmark, "bookmarks"), (make_favourite, "favourites")])
def test_favourites_and_bookmarks_of_unreadable_posts_are_not_listed(
    alice: Account, bob: Account, carol: Account, make: Any, path: str
) -> None:
    follow(bob, alice)
    deleted, private, of_blocker, kept = (
        make_status(alice),
        make_status(alice, visibility="private"),
        make_status(carol),
        make_status(alice),
    )
    for status in (kept, deleted, private, of_blocker):
        make(bob, status)
    assert len(_ids(api_of(bob).get(f"/api/v1/{path}"))) == 4
    api_of(alice).delete(f"{STATUSES}/{deleted.id}")
    block(carol, bob)
    api_of(bob).post(f"/api/v1/accounts/{alice.id}/unfollow")
    assert _ids(api_of(bob).get(f"/api/v1/{path}")) == [str(kept.id)]


def test_a_bookmark_on_a_boost_is_on_the_boosted_post(alice: Account, bob: Account) -> None:
    post = make_status(alice)
    boost = make_reblog(alice, post)
    answer = api_of(bob).post(f"{STATUSES}/{boost.id}/bookmark").json()
    assert (answer["id"], answer["bookmarked"], answer["reblog"]["bookmarked"]) == (str(boost.id), True, True)
    assert _ids(api_of(bob).get("/api/v1/bookmarks")) == [str(post.id)]
    # The bookmark belongs to the original post, so the id of the boost removes nothing.
    assert api_of(bob).post(f"{STATUSES}/{boost.id}/unbookmark").json()["bookmarked"] is True
    assert _ids(api_of(bob).get("/api/v1/bookmarks")) == [str(post.id)]


@pytest.mark.parametrize("act", ["bookmark", "mute", "pin", "unpin", "unmute", "unbookmark"])
def test_row_19_an_unreadable_post_is_like_a_missing_one(alice: Account, bob: Account, act: str) -> None:
    secret = make_status(alice, visibility="private")
    hidden = api_of(bob).post(f"{STATUSES}/{secret.id}/{act}")
    absent = api_of(bob).post(f"{STATUSES}/1/{act}")
    assert (hidden.status_code, hidden.content) == (404, absent.content)


def test_pins_are_listed_newest_first_for_their_readers_only(alice: Account, bob: Account) -> None:
    first, private, second = make_status(alice), make_status(alice, visibility="private"), make_status(alice)
    for status in (second, private, first):
        assert api_of(alice).post(f"{STATUSES}/{status.id}/pin").json()["pinned"] is True
    path = f"/api/v1/accounts/{alice.id}/statuses"
    assert _ids(api_of(bob).get(path, {"pinned": "true"})) == [str(first.id), str(second.id)]
    assert _ids(api_of(alice).get(path, {"pinned": "true"})) == [str(first.id), str(private.id), str(second.id)]
    api_of(alice).delete(f"{STATUSES}/{first.id}")
    assert _ids(api_of(bob).get(path, {"pinned": "true"})) == [str(second.id)]
    assert Pin.objects.count() == 2


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        ("foreign", "Validation failed: Someone else's post cannot be pinned"),
        ("boost", "Validation failed: A boost cannot be pinned"),
        ("direct", "Validation failed: Posts that are only visible to mentioned users cannot be pinned"),
        ("twice", "Duplicate record"),
    ],
)
def test_a_post_that_cannot_be_pinned_is_refused_with_the_reason(
    alice: Account, bob: Account, case: str, sentence: str
) -> None:
    own = make_status(alice)
    posts = {
        "foreign": lambda: make_status(bob),
        "boost": lambda: make_reblog(alice, own),
        "direct": lambda: make_status(alice, "@bob", visibility="direct"),
        "twice": lambda: own,
    }
    api_of(alice).post(f"{STATUSES}/{own.id}/pin")
    refused = api_of(alice).post(f"{STATUSES}/{posts[case]().id}/pin")
    assert (refused.status_code, refused.json()) == (422, {"error": sentence})


def test_a_sixth_pin_is_refused_until_another_is_removed(alice: Account) -> None:
    posts = [make_status(alice) for _number in range(6)]
    answers = [api_of(alice).post(f"{STATUSES}/{post.id}/pin") for post in posts]
    assert [answer.status_code for answer in answers] == [200] * 5 + [422]
    assert answers[5].json() == {"error": f"Validation failed: {LIMIT}"}
    assert api_of(alice).post(f"{STATUSES}/{posts[0].id}/pin").json() == {"error": f"Validation failed: {LIMIT}"}
    assert api_of(alice).post(f"{STATUSES}/{posts[0].id}/unpin").json()["pinned"] is False
    assert api_of(alice).post(f"{STATUSES}/{posts[5].id}/pin").status_code == 200


def test_users_cannot_unpin_posts_of_others(alice: Account, bob: Account) -> None:
    post = make_status(alice)
    api_of(alice).post(f"{STATUSES}/{post.id}/pin")
    assert "pinned" not in api_of(bob).post(f"{STATUSES}/{post.id}/unpin").json()
    assert api_of(alice).get(f"{STATUSES}/{post.id}").json()["pinned"] is True


def test_a_muted_thread_stays_muted_when_its_parent_arrives(alice: Account, bob: Account) -> None:
    author = make_remote("rita", "remote.example")
    answer = make_remote_status(author, in_reply_to_uri="https://remote.example/root")
    api_of(bob).post(f"{STATUSES}/{answer.id}/mute")
    root = publish_remote_status(new=Composed(author, "<p>root</p>", "public", uri="https://remote.example/root"))
    assert root is not None
    assert api_of(bob).get(f"{STATUSES}/{answer.id}").json()["muted"] is True
    assert api_of(bob).get(f"{STATUSES}/{root.id}").json()["muted"] is True
    assert [mute.thread_id for mute in ConversationMute.objects.all()] == [root.id]
