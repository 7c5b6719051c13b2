"""Tests of the home page in the browser: the posts of the API's home timeline, with their buttons, without a script."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Block, Mute, User
from accounts.services.blocking import block_account, mute_account
from accounts.services.following import FollowChange, follow_account
from statuses.models import Bookmark, ConversationMute, Favourite, Pin, Status
from statuses.models.filter import Filter, FilterKeyword
from statuses.policies.polls import PollDraft
from tests.factories.accounts import make_account, make_token, make_user
from tests.factories.statuses import make_status
from tests.support.browser import shown_posts, text_of
from tests.support.client import Api
from tests.timelines.conftest import work

pytestmark = pytest.mark.django_db


def test_the_script_gets_a_response_without_a_page(browser: Client, ann: User, bea: User) -> None:
    post = make_status(bea.account, "hello")
    own = make_status(ann.account, "for me", visibility="direct")

    def answer(status: Status, act: str) -> Any:
        return browser.post(f"/statuses/{status.id}/act", {"act": act}, headers={"Prefer": "return=minimal"})

    for _twice in range(2):
        done = answer(post, "favourite")
        assert (done.status_code, done.content) == (204, b"")
    assert Favourite.objects.filter(account=ann.account, status=post).count() == 1
    refused = answer(own, "boost")
    assert refused.status_code in (403, 404, 422)
    # The form on the next page shows the reason, so no message repeats it.
    assert 'class="messages"' not in text_of(browser)
    browser.logout()
    assert answer(post, "unfavourite").status_code == 303


def press(browser: Client, post: Status, act: str, **values: Any) -> Any:
    return browser.post(f"/statuses/{post.id}/act", {"act": act, "next": "/?max_id=9", **values})


def test_home_shows_the_posts_of_the_api_in_pages_with_cursors(ann: User, bea: User, browser: Client) -> None:
    posts = [make_status(bea.account, f"post {number}") for number in range(45)]
    ids = [post.id for post in reversed(posts)]
    make_status(make_account("stranger"), "not followed")
    work()
    api = Api(make_token(ann))
    first = text_of(browser)
    assert shown_posts(first) == ids[:20] == [int(post["id"]) for post in api.get("/api/v1/timelines/home").json()]
    second = text_of(browser, f"/?max_id={ids[19]}")
    assert f'href="/?max_id={ids[19]}" rel="next"' in first
    assert shown_posts(second) == ids[20:40]
    assert shown_posts(text_of(browser, f"/?max_id={ids[39]}")) == ids[40:]
    assert f'href="/?min_id={ids[20]}" rel="prev"' in second
    newer = text_of(browser, f"/?min_id={ids[25]}")
    assert shown_posts(newer) == ids[5:25]
    assert f"/?min_id={ids[5]}" in newer
    assert "3 new posts" in text_of(browser, f"/?since={ids[3]}")
    assert "Nothing new yet" in text_of(browser, f"/?since={ids[0]}")
    assert "More than 20 new posts" in text_of(browser, f"/?since={ids[40]}")
    assert Client().get("/").headers["Cache-Control"].startswith("public"), "visitors get the front page"


def test_home_takes_two_queries_more_than_the_api_however_many_posts_there_are(
    ann: User, bea: User, browser: Client
) -> None:
    make_status(bea.account, "one")
    work()
    api = Api(make_token(ann))
    counts = []
    for _size in range(2):
        for warm in (True, False):
            with CaptureQueriesContext(connection) as by_api:
                api.get("/api/v1/timelines/home")
            with CaptureQueriesContext(connection) as by_page:
                text = text_of(browser)
            if not warm:
                counts.append((len(by_api), len(by_page)))
        for number in range(19):
            make_status(bea.account, f"more {number}")
        work()
    assert len(shown_posts(text)) == 20
    # Queries: the session, and the user with unread counts; the API finds the user of a token in Redis.
    assert all(page == api + 2 for api, page in counts), counts
    assert counts[0][1] == counts[1][1]
    assert len(text.encode()) < 60_000


def test_each_action_has_one_effect_returns_to_the_card_and_can_be_undone(
    ann: User, bea: User, browser: Client
) -> None:
    post = make_status(bea.account, "a garden")
    work()
    for act, rows in (
        ("favourite", Favourite.objects.filter(account=ann.account, status=post)),
        ("boost", Status.objects.filter(account=ann.account, reblog_of=post, deleted_at=None)),
        ("bookmark", Bookmark.objects.filter(account=ann.account, status=post)),
        ("mute", ConversationMute.objects.filter(account=ann.account)),
    ):
        for _time in range(2):
            answer = press(browser, post, act)
            assert (answer.status_code, answer["Location"]) == (303, f"/?max_id=9#post-{post.id}")
        assert rows.count() == 1
        undo = f'value="un{act}"'
        assert undo in text_of(browser)
        assert act == "mute" or re.search(rf'{undo} aria-pressed="true" aria-label="[^"]*@bea\b', text_of(browser))
        for _time in range(2):
            assert press(browser, post, f"un{act}").status_code == 303
        assert not rows.exists()
    assert press(browser, post, "favourite", next="//evil.example/")["Location"] == f"/#post-{post.id}"


def test_own_posts_can_be_pinned_and_after_confirmation_deleted(ann: User, bea: User, browser: Client) -> None:
    own, other = make_status(ann.account, "mine"), make_status(bea.account, "hers")
    work()
    assert '<button name="act" value="pin">' in text_of(browser)
    for _time in range(2):
        press(browser, own, "pin")
    assert Pin.objects.get().status_id == own.id
    assert "message" not in re.findall(r'<li class="error">', text_of(browser))
    for method in (browser.get, browser.post):
        assert method(f"/statuses/{other.id}/delete").status_code == 404
    question = text_of(browser, f"/statuses/{own.id}/delete?" + urlencode({"next": "/?max_id=9"}))
    assert 'value="/?max_id=9"' in question
    assert Status.objects.filter(id=own.id, deleted_at=None).exists(), "GET deletes nothing"
    assert browser.post(f"/statuses/{own.id}/delete", {"next": "/?max_id=9"})["Location"] == "/?max_id=9"
    assert not Status.objects.filter(id=own.id, deleted_at=None).exists()


def test_accounts_muted_or_blocked_on_a_card_disappear_from_home(ann: User, bea: User, browser: Client) -> None:
    cleo = make_user("cleo")
    follow_account(account=ann.account, target=cleo.account, change=FollowChange())
    posts = [make_status(user.account, "hello") for user in (bea, cleo)]
    work()
    press(browser, posts[0], "mute_author")
    press(browser, posts[1], "block_author")
    work()
    assert Mute.objects.get().target_id == bea.account_id
    assert Block.objects.get().target_id == cleo.account_id
    assert not shown_posts(text_of(browser))


def test_nobody_can_act_on_unreadable_posts_or_for_others(ann: User, bea: User, browser: Client) -> None:
    private = make_status(make_account("shy"), "secret", visibility="private")
    blocked = make_status(make_account("mean"), "hello")
    block_account(account=blocked.account, target=ann.account)
    for post in (private, blocked):
        for act in ("favourite", "boost", "bookmark", "mute", "mute_author", "block_author"):
            assert press(browser, post, act).status_code == 404
        assert browser.get(f"/write?reply_to={post.id}").status_code == 404
    assert browser.post("/statuses/1/act", {"act": "favourite"}).status_code == 404
    assert press(browser, make_status(bea.account, "hello"), "conquer").status_code == 404
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ann)
    assert press(strict, private, "favourite").status_code == 403
    assert press(Client(), private, "favourite")["Location"].startswith("/auth/sign_in?next=%2F%3Fmax_id%3D9")
    assert browser.get(f"/statuses/{private.id}/act").status_code == 405
    mute_account(account=ann.account, target=bea.account)
    assert not Favourite.objects.exists()


def test_the_page_applies_the_readers_filters_and_content_warning_preference(
    ann: User, bea: User, browser: Client
) -> None:
    words = {"warn": "spinach", "hide": "turnip", "blur": "<b>onion"}
    for action, word in words.items():
        kept = Filter.objects.create(account=ann.account, title=f"No {word}", context=["home"], action=action)
        FilterKeyword.objects.create(filter=kept, keyword=word.removeprefix("<b>"), whole_word=True)
    for word in ("spinach", "turnip", "onion"):
        make_status(bea.account, f"a {word} pie")
    own = make_status(ann.account, "my turnip")
    warned = make_status(bea.account, "the end", spoiler_text="film")
    work()
    text = text_of(browser)
    assert len(shown_posts(text)) == 4
    assert "Filtered: <bdi>No spinach</bdi>" in text
    assert "turnip pie" not in text
    assert own.id in shown_posts(text)
    assert '<details><summary dir="auto">film' in text
    User.objects.filter(id=ann.id).update(preferences={"expand_spoilers": True})
    assert '<details open><summary dir="auto">film' in text_of(browser)
    assert warned.id in shown_posts(text)


def test_a_user_can_vote_once_in_a_poll_on_its_card(ann: User, bea: User, browser: Client) -> None:
    post = make_status(bea.account, "Well?", poll=PollDraft(options=("<i>yes</i>", "no"), expires_in=3600))
    work()
    text = text_of(browser)
    assert '<input type="radio" name="choices" value="1">' in text
    assert "&lt;i&gt;yes&lt;/i&gt;" in text
    poll = re.findall(r'name="poll" value="(\d+)"', text)[0]
    press(browser, post, "vote", poll=poll)
    assert "Choose an answer first" in text_of(browser)
    for _time in range(2):
        assert press(browser, post, "vote", poll=poll, choices="1").status_code == 303
    after = text_of(browser)
    assert "your vote" in after
    assert 'name="choices"' not in after
    assert 'class="error"' not in after
    post.refresh_from_db()
    assert post.poll.tallies == [0, 1]


def test_texts_and_names_are_never_markup(ann: User, bea: User, browser: Client) -> None:
    bea.account.display_name = '<script>x</script>"><img src=x>'
    bea.account.save()
    make_status(bea.account, "<script>alert(1)</script>", spoiler_text='"><script>y</script>')
    work()
    text = text_of(browser)
    assert text.count("<script") == text.count('<script type="module" id="member-script"') == 1
    assert "<img src=x" not in text


def test_a_reply_form_has_the_mentions_and_at_most_the_visibility_of_the_parent(
    ann: User, bea: User, browser: Client
) -> None:
    post = make_status(bea.account, "what do you think?", visibility="unlisted")
    page = text_of(browser, f"/write?reply_to={post.id}")
    assert "@bea " in page
    assert "what do you think?" in page
    assert re.search(r'value="unlisted"[^>]*selected', page)
    values = {"reply_to": post.id, "text": "@bea much", "visibility": "unlisted", "key": "one", "next": "/"}
    for _time in range(2):
        assert browser.post("/write", values)["Location"] == f"/#post-{post.id}"
    assert Status.objects.get(account=ann.account).in_reply_to_id == post.id
    wrong = browser.post("/write", values | {"text": "x" * 10_000, "key": "two"})
    assert wrong.status_code == 422
    assert "x" * 10_000 in wrong.content.decode(), "the typed text stays"


@pytest.mark.parametrize(
    ("visibility", "mark"),
    [
        ("public", ""),
        ("unlisted", ""),
        ("private", "Only followers can read this."),
        ("direct", "Only people who are mentioned can read this."),
    ],
)
def test_the_card_of_a_restricted_post_shows_its_visibility(
    browser: Client, bea: User, visibility: str, mark: str
) -> None:
    make_status(bea.account, "@ann hello", visibility=visibility)
    found = re.findall('<p class="mark"[^>]*>([^<]*)</p>', text_of(browser))
    assert found == ([mark] if mark else [])
