"""Tests of the pages for members: bookmarks, favourites, lists, conversations, followed hashtags, requests, mutes, blocks."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, Block, Follow, FollowRequest, Mute, TagFollow, User
from accounts.services.blocking import block_account, block_domain, mute_account
from accounts.services.following import FollowChange, follow_account
from tests.factories.accounts import make_account, make_token, make_user
from tests.factories.statuses import make_status
from tests.support.browser import shown_posts, text_of
from tests.support.client import Api
from tests.support.work import work
from timelines.models import Conversation, List, ListMember

pytestmark = pytest.mark.django_db


def press(browser: Client, path: str, **values: Any) -> None:
    answer = browser.post(path, {"next": path, **values})
    assert answer.status_code == 303
    assert answer["Location"].startswith(path.rpartition("/")[0])


@pytest.mark.parametrize("name", ["bookmarks", "favourites"])
def test_marked_posts_are_listed_in_the_order_of_the_api(ann: User, bea: User, browser: Client, name: str) -> None:
    api, act, counts = Api(make_token(ann)), name.removesuffix("s"), []
    posts = [make_status(bea.account, f"post {number}") for number in range(22)]
    text_of(browser, f"/{name}")
    for number, post in enumerate(posts):
        api.post(f"/api/v1/statuses/{post.id}/{act}")
        if number in (1, 20):
            with CaptureQueriesContext(connection) as queries:
                text_of(browser, f"/{name}")
            counts.append(len(queries))
    text = text_of(browser, f"/{name}")
    assert shown_posts(text) == [int(post["id"]) for post in api.get(f"/api/v1/{name}").json()]
    assert counts[0] == counts[1]
    (older,) = re.findall(rf'href="(/{name}\?max_id=\d+)"', text)
    assert shown_posts(text_of(browser, older)) == [posts[1].id, posts[0].id]
    block_account(account=bea.account, target=ann.account)
    assert shown_posts(text_of(browser, f"/{name}")) == []


def test_lists_can_be_created_read_changed_and_deleted(ann: User, bea: User, browser: Client) -> None:
    post = make_status(bea.account, "of bea")
    refused = browser.post("/lists", {"title": "", "replies_policy": "list"})
    assert refused.status_code == 422
    assert List.objects.count() == 0
    made = browser.post("/lists", {"title": "My <b>list</b>", "replies_policy": "list"})
    found = List.objects.get()
    assert made["Location"] == f"/lists/{found.id}"
    Api(make_token(ann)).post(f"/api/v1/lists/{found.id}/accounts", {"account_ids": [str(bea.account_id)]})
    work()
    text = text_of(browser, f"/lists/{found.id}")
    assert shown_posts(text) == [post.id]
    assert "My &lt;b&gt;list" in text
    assert "@bea@" in text_of(browser, f"/lists/{found.id}/edit")
    press(browser, f"/lists/{found.id}/edit", remove=str(bea.account_id))
    assert not ListMember.objects.exists()
    browser.post(f"/lists/{found.id}/edit", {"title": "Friends", "replies_policy": "none", "exclusive": "on"})
    found.refresh_from_db()
    assert (found.title, found.replies_policy, found.exclusive) == ("Friends", "none", True)
    stranger = Client()
    stranger.force_login(bea)
    for path in ("", "/edit", "/delete"):
        assert stranger.get(f"/lists/{found.id}{path}").status_code == 404
    assert browser.post(f"/lists/{found.id}/delete")["Location"] == "/lists"
    assert not List.objects.exists()


def test_conversations_can_be_marked_as_read_and_removed(ann: User, bea: User, browser: Client) -> None:
    Api(make_token(bea)).post("/api/v1/statuses", {"status": "@ann secret", "visibility": "direct"})
    work()
    found = Conversation.objects.get(account=ann.account)
    text = text_of(browser, "/conversations")
    assert "secret" in text
    assert 'class="notice new"' in text
    press(browser, f"/conversations/{found.id}", act="read")
    assert 'class="notice new"' not in text_of(browser, "/conversations")
    stranger = Client()
    stranger.force_login(make_user("cem"))
    assert stranger.post(f"/conversations/{found.id}", {"act": "remove"}).status_code == 404
    assert "secret" not in text_of(stranger, "/conversations")
    press(browser, f"/conversations/{found.id}", act="remove")
    assert "secret" not in text_of(browser, "/conversations")


def test_hashtags_can_be_followed_and_unfollowed(ann: User, browser: Client) -> None:
    for name in ("#Cats", "cats", "no tag", "💥"):
        press(browser, "/followed_tags", follow=name)
    assert "#Cats" in text_of(browser, "/followed_tags")
    assert TagFollow.objects.count() == 1
    for _number in range(2):
        press(browser, "/followed_tags", unfollow="cats")
    assert not TagFollow.objects.exists()


def test_follow_requests_can_be_accepted_and_rejected(browser: Client, ann: User) -> None:
    Account.objects.filter(id=ann.account_id).update(locked=True)
    ann.account.refresh_from_db()
    people = [make_account(name) for name in ("cem", "dan")]
    for account in people:
        follow_account(account=account, target=ann.account, change=FollowChange())
    assert {"@cem@", "@dan@"} <= set(re.findall("@[a-z]+@", text_of(browser, "/follow_requests")))
    for _number in range(2):
        press(browser, "/follow_requests", act="authorize", id=str(people[0].id))
        press(browser, "/follow_requests", act="reject", id=str(people[1].id))
    assert not FollowRequest.objects.exists()
    assert [row.account_id for row in Follow.objects.filter(target=ann.account)] == [people[0].id]


def test_mutes_and_blocks_can_be_ended(ann: User, browser: Client) -> None:
    other, third = make_account("cem"), make_account("dan", domain="far.example")
    mute_account(account=ann.account, target=other)
    block_account(account=ann.account, target=third)
    block_domain(account=ann.account, domain="bad.example")
    assert "@cem@" in text_of(browser, "/mutes")
    assert "@dan@far.example" in text_of(browser, "/blocks")
    for _number in range(2):
        press(browser, "/mutes", act="unmute", id=str(other.id))
        press(browser, "/blocks", act="unblock", id=str(third.id))
    assert not Mute.objects.exists()
    assert not Block.objects.exists()
    press(browser, "/domain_blocks", block="Worse.example")
    refused = browser.post("/domain_blocks", {"block": "no domain", "next": "/domain_blocks"})["Location"]
    text = text_of(browser, refused)
    assert text.count("Domain is invalid") == 1, "each sentence is shown once"
    assert 'value="no domain"' in text, "the typed text stays"
    assert re.findall(r'<bdi dir="ltr">(\w+\.example)', text_of(browser, "/domain_blocks")) == [
        "worse.example",
        "bad.example",
    ]
    press(browser, "/domain_blocks", unblock="bad.example")
    assert "bad.example" not in text_of(browser, "/domain_blocks")


def test_these_pages_require_signing_in_and_their_forms_are_protected(ann: User) -> None:
    paths = ("bookmarks", "favourites", "lists", "conversations", "followed_tags", "follow_requests", "mutes", "blocks")
    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(ann)
    for path in (*paths, "domain_blocks"):
        assert Client().get(f"/{path}")["Location"].startswith("/auth/sign_in")
        if path not in ("bookmarks", "favourites", "conversations"):
            assert guarded.post(f"/{path}", {"act": "unmute", "id": "1"}).status_code == 403
    assert guarded.get("/lists/99").status_code == 404
