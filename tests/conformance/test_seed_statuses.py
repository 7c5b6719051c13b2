"""Tests of posts and of actions on them (contract, seed coverage; the numbers are in the names)."""

from dataclasses import replace
from typing import Any

import pytest

from accounts.viewsets.accounts import AccountsViewSet
from moderation.viewsets.reports import ReportsViewSet
from statuses.viewsets.statuses import StatusesViewSet
from tests.conformance.people import Person, here, links, walk
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_media, make_remote_status
from tests.support.client import Api
from tests.support.entities import check, check_all
from tests.support.work import work

pytestmark = pytest.mark.django_db


def test_seed_003_and_004_a_follow_notifies_and_a_block_ends_the_follow(alice: Person, bob: Person) -> None:
    assert alice.do(f"accounts/{bob.id}/follow")["following"] is True
    notified = bob.read("notifications")
    check_all("Notification", notified)
    assert [(item["type"], item["account"]["id"]) for item in notified] == [("follow", alice.id)]
    blocked = alice.do(f"accounts/{bob.id}/block")
    assert (blocked["blocking"], blocked["following"]) == (True, False)
    assert bob.read("notifications") == []


def test_seed_016_and_017_a_favourite_is_counted_and_a_boost_wraps_the_post(alice: Person, bob: Person) -> None:
    post = alice.post()
    liked = bob.do(f"statuses/{post['id']}/favourite")
    assert (liked["favourited"], liked["favourites_count"]) == (True, 1)
    boost = bob.do(f"statuses/{post['id']}/reblog")
    check("StatusOfUser", boost)
    assert boost["reblog"]["id"] == post["id"] != boost["id"]
    assert bob.do(f"statuses/{post['id']}/reblog")["id"] == boost["id"]


def test_seed_119_and_120_each_action_returns_the_post(alice: Person, bob: Person) -> None:
    post = alice.post("#cats")
    for act, mark in (
        ("favourite", "favourited"),
        ("reblog", "reblogged"),
        ("bookmark", "bookmarked"),
        ("mute", "muted"),
    ):
        done = bob.do(f"statuses/{post['id']}/{act}")
        undone = bob.do(f"statuses/{post['id']}/un{act}")
        check("StatusOfUser", done)
        check("StatusOfUser", undone)
        assert done[mark] is True
        assert (undone["id"], undone[mark], undone["reblog"]) == (post["id"], False, None)
    assert alice.do(f"statuses/{post['id']}/pin")["pinned"] is True
    assert alice.do(f"statuses/{post['id']}/unpin")["pinned"] is False
    deleted = alice.api.delete(f"/api/v1/statuses/{post['id']}")
    check("DeletedStatus", deleted.json())
    assert (deleted.json()["text"], deleted.json()["id"]) == ("#cats", post["id"])
    assert alice.api.get(f"/api/v1/statuses/{post['id']}").status_code == 404


def test_seed_015_a_pinned_post_is_listed_as_such(alice: Person, bob: Person) -> None:
    post = alice.post()
    alice.post("another")
    pinned = alice.do(f"statuses/{post['id']}/pin")
    check("StatusOfUser", pinned)
    assert pinned["pinned"] is True
    assert [item["id"] for item in bob.read(f"accounts/{alice.id}/statuses?pinned=true")] == [post["id"]]


def test_seed_018_and_131_a_bookmark_is_listed_and_can_always_be_undone(alice: Person, bob: Person) -> None:
    post = alice.post()
    marked = bob.do(f"statuses/{post['id']}/bookmark")
    check("StatusOfUser", marked)
    assert marked["bookmarked"] is True
    listed = bob.read("bookmarks")
    check_all("StatusOfUser", listed)
    assert [(item["id"], item["bookmarked"]) for item in listed] == [(post["id"], True)]
    alice.do(f"accounts/{bob.id}/block")
    assert bob.do(f"statuses/{post['id']}/unbookmark")["bookmarked"] is False
    assert bob.api.post(f"/api/v1/statuses/{post['id']}/unbookmark").status_code == 404


def test_seed_019_a_muted_conversation_brings_no_notifications(alice: Person, bob: Person) -> None:
    post = alice.post("@bob hello")
    assert [item["type"] for item in bob.read("notifications")] == ["mention"]
    answer = bob.post("an answer", in_reply_to_id=post["id"])
    assert bob.do(f"statuses/{post['id']}/mute")["muted"] is True
    assert bob.read(f"statuses/{answer['id']}")["muted"] is True
    alice.post("@bob more", in_reply_to_id=answer["id"])
    alice.do(f"statuses/{answer['id']}/favourite")
    alice.do(f"statuses/{answer['id']}/reblog")
    assert [item["type"] for item in bob.read("notifications")] == ["mention"]
    alice.post("@bob another conversation")
    bob.do(f"statuses/{post['id']}/unmute")
    alice.post("@bob still there?", in_reply_to_id=answer["id"])
    assert [item["type"] for item in bob.read("notifications")] == ["mention"] * 3


@pytest.mark.parametrize(("mark", "path"), [("bookmark", "bookmarks"), ("favourite", "favourites")])
def test_seed_113_and_114_marked_posts_are_walked_both_ways(alice: Person, bob: Person, mark: str, path: str) -> None:
    posts = [alice.post(f"post {number}")["id"] for number in range(5)]
    for post in posts[::-1]:
        bob.do(f"statuses/{post}/{mark}")
    # The latest favourite or bookmark comes first, whatever the age of the post; cursors are the ids of these rows.
    assert [item["id"] for item in walk(bob.api, f"/api/v1/{path}?limit=2")] == posts
    oldest = bob.api.get(f"/api/v1/{path}", {"limit": 2})
    while "next" in links(oldest):
        oldest = bob.api.get(here(links(oldest)["next"]))
    assert [item["id"] for item in oldest.json()] == posts[4:]
    newer = bob.api.get(here(links(oldest)["prev"]))
    assert [item["id"] for item in newer.json()] == posts[2:4]
    cursor = links(oldest)["prev"].rpartition("min_id=")[2]
    assert [item["id"] for item in bob.read(f"{path}?since_id={cursor}&limit=2")] == posts[:2]


def test_seed_022_a_post_is_in_every_timeline_it_belongs_to(alice: Person, bob: Person) -> None:
    bob.do(f"accounts/{alice.id}/follow")
    post = alice.post("hello #cats")
    for path in ("timelines/home", "timelines/public", "timelines/tag/cats", "timelines/tag/CATS"):
        shown = bob.read(path)
        check_all("StatusOfUser", shown)
        assert [item["id"] for item in shown] == [post["id"]], path


def test_seed_071_and_097_notifications_can_be_limited_to_one_sender(alice: Person, bob: Person) -> None:
    carol = Person("carol")
    for person in (bob, carol):
        person.post("hi @alice")
    notified = alice.read("notifications", account_id=bob.id)
    assert [item["account"]["id"] for item in notified] == [bob.id]
    assert alice.read("notifications", account_id="1") == []


def test_seed_072_and_073_notifications_can_be_dismissed_singly_or_all_together(alice: Person, bob: Person) -> None:
    for number in range(3):
        bob.post(f"{number} @alice")
    one, *others = alice.ids("notifications")
    assert alice.do(f"notifications/{one}/dismiss") == {}
    assert alice.api.get(f"/api/v1/notifications/{one}").status_code == 404
    assert alice.ids("notifications") == others
    assert alice.do("notifications/clear") == {}
    assert alice.read("notifications") == []


# clients.md, trap 11
def test_seed_118_the_accounts_that_favourited_or_boosted_come_in_pages(alice: Person, bob: Person) -> None:
    post = alice.post()
    people = [bob, Person("carol"), Person("dora")]
    for person in people:
        person.do(f"statuses/{post['id']}/favourite")
        person.do(f"statuses/{post['id']}/reblog")
    for name in ("favourited_by", "reblogged_by"):
        path = f"/api/v1/statuses/{post['id']}/{name}?limit=1"
        page = Api().get(path)
        check_all("Account", page.json())
        assert list(links(page)) == ["next", "prev"]
        assert "since_id=" in links(page)["prev"]
        assert [item["id"] for item in walk(Api(), path)] == [person.id for person in people[::-1]]


def test_seed_128_to_130_after_a_block_neither_sees_the_other_anywhere(alice: Person, bob: Person) -> None:
    alice.do(f"accounts/{bob.id}/follow")
    bob.do(f"accounts/{alice.id}/follow")
    carol = Person("carol")
    for person in (alice, bob):
        carol.do(f"accounts/{person.id}/follow")
    carols = carol.post("hello #x")
    for person in (alice, bob):
        person.do(f"statuses/{carols['id']}/favourite")
        person.do(f"statuses/{carols['id']}/reblog")
        person.post("@alice @bob see #x", in_reply_to_id=carols["id"])
    own = alice.post("#x")
    theirs = bob.post("#x")
    assert alice.read("notifications", account_id=bob.id)
    alice.do(f"accounts/{bob.id}/block")
    refused = bob.api.get(f"/api/v1/statuses/{own['id']}")
    assert (refused.status_code, refused.json()) == (404, bob.api.get("/api/v1/statuses/1").json())
    for path in ("context", "favourited_by", "reblogged_by"):
        assert bob.api.get(f"/api/v1/statuses/{own['id']}/{path}").status_code == 404
    assert bob.read(f"accounts/{alice.id}/statuses") == []
    for viewer, other in ((bob, alice), (alice, bob)):
        seen: list[dict[str, Any]] = []
        for path in ("timelines/home", "timelines/public", "timelines/tag/x", "notifications"):
            seen += viewer.read(path)
        for path in ("favourited_by", "reblogged_by"):
            assert other.id not in viewer.ids(f"statuses/{carols['id']}/{path}"), path
        context = viewer.read(f"statuses/{carols['id']}/context")
        seen += context["ancestors"] + context["descendants"]
        assert seen
        for item in seen:
            assert item["account"]["id"] != other.id, (viewer.username, item)
            assert (item.get("reblog") or item)["account"]["id"] != other.id
    assert alice.read(f"statuses/{theirs['id']}")["id"] == theirs["id"]


def test_seed_131_favourites_and_boosts_from_before_a_block_can_be_undone(alice: Person, bob: Person) -> None:
    post = alice.post()
    for act in ("favourite", "reblog"):
        bob.do(f"statuses/{post['id']}/{act}")
    alice.do(f"accounts/{bob.id}/block")
    for act in ("unfavourite", "unreblog"):
        assert bob.do(f"statuses/{post['id']}/{act}")["id"] == post["id"]
        assert bob.api.post(f"/api/v1/statuses/{post['id']}/{act}").status_code == 404
    counted = alice.read(f"statuses/{post['id']}")
    assert (counted["favourites_count"], counted["reblogs_count"]) == (0, 0)


def test_seed_132_undoing_what_was_never_done_reveals_nothing_of_a_private_post(alice: Person, bob: Person) -> None:
    private = alice.post("secret", visibility="private")
    for act in ("unfavourite", "unreblog"):
        answer = bob.api.post(f"/api/v1/statuses/{private['id']}/{act}")
        unknown = bob.api.post(f"/api/v1/statuses/1/{act}")
        assert (answer.status_code, answer.content) == (404, unknown.content)


def test_seed_134_the_public_timeline_can_be_limited_to_remote_posts(alice: Person) -> None:
    alice.post()
    there = make_remote_status(make_remote("zoe"))
    work()
    assert Api().get("/api/v1/timelines/public?remote=true").json()[0]["id"] == str(there.id)
    assert len(Api().get("/api/v1/timelines/public?remote=true").json()) == 1


def test_seed_144_each_interaction_makes_one_notification(alice: Person, bob: Person) -> None:
    post = alice.post()
    for path in (f"accounts/{alice.id}/follow", f"statuses/{post['id']}/favourite", f"statuses/{post['id']}/reblog"):
        for _twice in range(2):
            bob.do(path)
    bob.post("@alice @Alice @alice@social.localhost")
    notified = alice.read("notifications")
    check_all("Notification", notified)
    assert sorted(item["type"] for item in notified) == ["favourite", "follow", "mention", "reblog"]
    assert {item["account"]["id"] for item in notified} == {bob.id}
    assert all(item.get("status") for item in notified if item["type"] != "follow")


def test_seed_145_a_mute_stops_notifications_only_if_it_includes_them(alice: Person, bob: Person) -> None:
    alice.do(f"accounts/{bob.id}/mute")
    bob.post("one @alice")
    assert alice.read("notifications") == []
    alice.do(f"accounts/{bob.id}/mute", {"notifications": False})
    bob.post("two @alice")
    assert [item["type"] for item in alice.read("notifications")] == ["mention"]


def test_seed_086_a_file_is_attached_to_one_post(alice: Person, settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    media = str(make_media(alice.account, "alt").id)
    post = alice.post("", media_ids=[media])
    assert [(item["id"], item["description"]) for item in post["media_attachments"]] == [(media, "alt")]
    assert alice.api.put(f"/api/v1/media/{media}", {"description": "new"}).status_code == 404
    again = alice.api.post("/api/v1/statuses", {"status": "x", "media_ids": [media]})
    assert again.status_code == 422
    assert "error" in again.json()


def test_seed_157_posting_following_and_reporting_have_separate_limits(
    alice: Person, bob: Person, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = True
    acts = [
        (StatusesViewSet, "create", "statuses", (300, 10800), {"status": "hello"}),
        (AccountsViewSet, "follow", f"accounts/{bob.id}/follow", (400, 86400), {}),
        (ReportsViewSet, "create", "reports", (400, 86400), {"account_id": str(bob.id)}),
    ]
    for viewset, action, path, agreed, data in acts:
        declared = viewset.endpoints[action]
        (rule,) = declared.throttles
        assert (rule.limit, rule.period) == agreed
        low = {action: replace(declared, throttles=(replace(rule, limit=3),))}
        monkeypatch.setattr(viewset, "endpoints", {**viewset.endpoints, **low})
        answers = [alice.api.post(f"/api/v1/{path}", data) for _time in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429], path
        assert answers[3].json() == {"error": "Too many requests"}
        assert [answer["X-RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"], path
        assert [answer["X-RateLimit-Limit"] for answer in answers] == ["3"] * 4
    assert bob.api.post("/api/v1/statuses", {"status": "hello"}).status_code == 200
