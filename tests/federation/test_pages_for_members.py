"""Tests of the pages of local and remote threads and profiles for signed-in users."""

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Block, Follow, FollowRequest, Mute, User
from accounts.services.blocking import block_account
from accounts.services.following import FollowChange, follow_account
from statuses.queries.statuses import find_post_and_relations
from statuses.services.interactions import favourite_status
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import make_remote_status, make_status
from tests.support.browser import shown_posts, text_of
from tests.support.federation_server import needs_federation
from timelines.models import List, ListMember

pytestmark = [pytest.mark.django_db, needs_federation]
HTML = {"Accept": "text/html"}


def test_a_thread_is_a_tree_of_the_posts_that_the_reader_may_see(ann: User, browser: Client) -> None:
    bea, cleo = make_account("bea"), make_account("cleo")
    root = make_status(bea, "root")
    first = make_status(cleo, "first", reply_to=root)
    second = make_status(bea, "second", reply_to=root)
    below = make_status(bea, "below first", reply_to=first)
    private = make_status(cleo, "for followers", reply_to=root, visibility="private")
    assert private.id not in shown_posts(text_of(browser, f"/@bea/{root.id}"))
    follow_account(account=ann.account, target=cleo, change=FollowChange())
    text = text_of(browser, f"/@bea/{root.id}")
    assert sorted(shown_posts(text)) == sorted([root.id, first.id, below.id, second.id, private.id])
    assert re.search(rf'class="depth d2">\s*<article[^>]*id="post-{below.id}"', text)
    assert text.index(f'id="post-{first.id}"') < text.index(f'id="post-{below.id}"')
    with CaptureQueriesContext(connection) as few:
        text_of(browser, f"/@bea/{root.id}")
    chain = below
    for number in range(6):
        chain = make_status(cleo, f"deep {number}", reply_to=chain)
    text_of(browser, f"/@bea/{root.id}")
    with CaptureQueriesContext(connection) as many:
        text = text_of(browser, f"/@bea/{root.id}")
    assert len(few) == len(many) <= 16, [query["sql"] for query in many]
    assert chain.id not in shown_posts(text)
    assert "More replies" in text
    assert text_of(browser, f"/@cleo/{private.id}"), "followers of the author can open the page of the post"
    assert browser.get(f"/@bea/{private.id}", headers=HTML).status_code == 404
    assert Client().get(f"/@cleo/{private.id}", headers=HTML).status_code == 404
    post, relations = find_post_and_relations(root.id, ann.account_id)
    favourite_status(account_id=ann.account_id, status=post, relations=relations)
    assert f'href="/statuses/{root.id}/favourites"' in text_of(browser, f"/@bea/{root.id}")
    assert "@ann@social.localhost" in text_of(browser, f"/statuses/{root.id}/favourites").partition("<main")[2]
    block_account(account=bea, target=ann.account)
    for path in (f"/@bea/{root.id}", f"/statuses/{root.id}/favourites"):
        assert browser.get(path, headers=HTML).status_code == 404


def test_people_and_posts_of_other_servers_have_pages_here(ann: User, browser: Client) -> None:
    bea = make_remote("bea", display_name="<script>x</script>")
    post = make_remote_status(bea, "<p>A garden</p>")
    profile = text_of(browser, "/@bea@remote.example")
    assert shown_posts(profile) == [post.id]
    assert f'href="/@bea@remote.example/{post.id}"' in profile
    assert "<script>" not in profile
    assert "A garden" in text_of(browser, f"/@bea@remote.example/{post.id}")
    for wrong in ("/@nobody@remote.example", f"/@cleo@remote.example/{post.id}", f"/@bea@remote.example/{post.id + 1}"):
        assert browser.get(wrong, headers=HTML).status_code == 404
    assert browser.get("/@ann@social.localhost", headers=HTML)["Location"] == "/@ann"
    for path in ("/@bea@remote.example", f"/@bea@remote.example/{post.id}"):
        assert Client().get(path, headers=HTML)["Location"].startswith("/auth/sign_in")


def test_a_profile_shows_the_relation_and_buttons_to_change_it(ann: User, browser: Client) -> None:
    bea, shy = make_account("bea"), make_account("shy", locked=True)

    def press(target: Any, act: str, **values: Any) -> None:
        for _time in range(2):
            answer = browser.post(f"/people/{target.id}/act", {"act": act, "next": "/@bea", **values})
            assert (answer.status_code, answer["Location"]) == (303, "/@bea")

    press(bea, "follow")
    press(bea, "notify")
    press(shy, "follow")
    assert Follow.objects.get().notify
    assert FollowRequest.objects.get().target_id == shy.id
    assert 'value="unfollow"' in text_of(browser, "/@bea")
    assert "Cancel the request" in text_of(browser, "/@shy")
    press(bea, "note", comment="met in <b>Kyoto")
    assert "met in &lt;b&gt;Kyoto</textarea>" in text_of(browser, "/@bea")
    press(bea, "mute", comment="met in Nara")
    assert "met in Nara</textarea>" in text_of(browser, "/@bea"), "another button does not discard the note"
    press(shy, "block")
    assert (Mute.objects.count(), Block.objects.count(), FollowRequest.objects.count()) == (1, 1, 0)
    press(bea, "unmute")
    press(bea, "unfollow")
    press(shy, "unblock")
    assert [model.objects.exists() for model in (Mute, Block, Follow)] == [False] * 3
    assert 'class="relation"' not in text_of(browser, "/@ann"), "users have no relation to themselves"
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ann)
    assert strict.post(f"/people/{bea.id}/act", {"act": "follow"}).status_code == 403
    assert browser.post("/people/1/act", {"act": "follow"}).status_code == 404
    assert not Follow.objects.exists()


def test_accounts_are_added_to_lists_and_removed_on_their_profile(ann: User, browser: Client) -> None:
    bea, zoe = make_account("bea"), make_remote("zoe")
    assert 'id="lists"' not in text_of(browser, "/@bea"), "only followed accounts can be added to lists"
    follow_account(account=ann.account, target=bea, change=FollowChange())
    friends = List.objects.create(account=ann.account, title="Friends <3")
    others = List.objects.create(account=bea, title="Of bea")

    def press(target: Any, **values: Any) -> None:
        for _time in range(2):
            answer = browser.post(f"/people/{target.id}/lists", {"next": "/@bea", **values})
            place = urlsplit(answer["Location"])
            assert (answer.status_code, place.path, place.fragment) == (303, "/@bea", "lists")

    text = text_of(browser, "/@bea")
    assert "Friends &lt;3" in text
    assert f'name="add" value="{friends.id}"' in text
    press(bea, add=friends.id)
    assert [member.account_id for member in ListMember.objects.filter(list=friends)] == [bea.id]
    assert f'name="remove" value="{friends.id}" aria-pressed="true"' in text_of(browser, "/@bea")
    press(bea, remove=friends.id)
    press(bea, title="New")
    assert [(row.list.title, row.account_id) for row in ListMember.objects.all()] == [("New", bea.id)]
    press(zoe, add=friends.id)
    assert "follow" in text_of(browser, "/@bea").partition('role="status"')[2][:400], "the page shows the reason"
    press(bea, title="x" * 300)
    assert List.objects.filter(account=ann.account).count() == 2
    for values in ({"add": others.id}, {"remove": others.id}):
        assert browser.post(f"/people/{bea.id}/lists", values).status_code == 404
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ann)
    assert strict.post(f"/people/{bea.id}/lists", {"add": friends.id}).status_code == 403
    counts = []
    for size in (0, 4):
        for number in range(size):
            List.objects.create(account=ann.account, title=f"list {number}")
        with CaptureQueriesContext(connection) as queries:
            text_of(browser, "/@bea")
        counts.append(len(queries))
    assert counts[0] == counts[1]
