"""Tests of explore, public timelines and hashtags for members: the API's content with buttons, marks and filters."""

import re
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AccountStat, FeaturedTag, Tag, TagFollow, User
from accounts.services.audit import write_setting
from accounts.services.blocking import mute_account
from social.kernel import clock
from statuses.models.filter import Filter, FilterKeyword
from tests.factories.accounts import make_account, make_remote, make_token
from tests.factories.statuses import make_favourite, make_remote_status, make_status
from tests.support.browser import shown_posts, text_of
from tests.support.client import Api
from timelines.models import Trend, TrendKind, TrendReview
from timelines.queries import public

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_access(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Every two seconds one more query reloads the setting, so the number of queries would depend on the clock.
    monkeypatch.setattr(public, "_ACCESS_SECONDS", 1e9)
    public.forget_access()
    yield
    public.forget_access()


def test_public_timelines_and_hashtags_equal_the_api_with_buttons_marks_and_filters(ann: User, browser: Client) -> None:
    bea, cleo = make_account("bea"), make_account("cleo")
    posts = [make_status(bea, f"number {number} #garden") for number in range(22)]
    far = make_remote_status(make_remote("zoe"), "<p>far</p>", tags=[("garden", "garden")])
    make_status(cleo, "muted #garden")
    mute_account(account=ann.account, target=cleo)
    make_favourite(ann.account, posts[21])
    filters = Filter.objects.create(account=ann.account, title="No twenty", context=["public"], action="hide")
    FilterKeyword.objects.create(filter=filters, keyword="number 20", whole_word=True)
    api = Api(make_token(ann))
    for path, of_api in (
        ("/public", "/api/v1/timelines/public"),
        ("/public/local", "/api/v1/timelines/public?local=true"),
        ("/public/remote", "/api/v1/timelines/public?remote=true"),
        ("/tags/garden", "/api/v1/timelines/tag/garden"),
    ):
        text = text_of(browser, path)
        by_api = [int(post["id"]) for post in api.get(of_api).json()]
        assert shown_posts(text) == [number for number in by_api if number != posts[20].id], path
        assert (far.id in shown_posts(text)) == (path != "/public/local")
        if path != "/public/remote":
            assert re.search(rf'action="/statuses/{posts[21].id}/act".*?value="unfavourite"', text, re.DOTALL)
            (older,) = re.findall(r'href="([^"]*max_id=\d+)" rel="next"', text)
            assert posts[0].id in shown_posts(text_of(browser, older))
    counts = []
    for path in ("/public", "/tags/garden"):
        for size in (0, 15):
            for number in range(size):
                make_status(make_account(f"p{number}{path[1]}"), f"more {number} #garden")
            text_of(browser, path)
            with CaptureQueriesContext(connection) as queries:
                text_of(browser, path)
            counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[2] == counts[3]
    text = Client().get("/public").content.decode()
    assert "/act" not in text, "visitors get no buttons"


def test_a_hashtag_can_be_followed_and_featured_on_its_page(ann: User, browser: Client) -> None:
    for act, model, rows in (
        ("follow", TagFollow, 1),
        ("feature", FeaturedTag, 1),
        ("unfollow", TagFollow, 0),
        ("unfeature", FeaturedTag, 0),
    ):
        assert f'value="{act}"' in text_of(browser, "/tags/Gärten")
        for _time in range(2):
            answer = browser.post("/tags/Gärten/act", {"act": act, "next": "/tags/garten"})
            assert (answer.status_code, answer["Location"]) == (303, "/tags/garten")
        assert model.objects.filter(account=ann.account).count() == rows
    assert browser.post("/tags/garten/act", {"act": "eat"}).status_code == 404
    assert browser.post("/tags/1234/act", {"act": "follow"}).status_code == 404
    assert Client().post("/tags/garten/act", {"act": "follow"})["Location"].startswith("/auth/sign_in")
    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(ann)
    assert guarded.post("/tags/garten/act", {"act": "follow"}).status_code == 403
    assert 'value="follow"' not in Client().get("/tags/garten").content.decode()


def test_members_can_read_timelines_closed_to_visitors(browser: Client) -> None:
    post = make_status(make_account("bea"), "for members #garden")
    closed = {"local": "authenticated", "remote": "authenticated"}
    write_setting("timelines_access", {"live_feeds": closed, "hashtag_feeds": closed})
    public.forget_access()
    for path in ("/public", "/public/local", "/tags/garden"):
        assert shown_posts(text_of(browser, path)) == [post.id]
    assert 'href="/public"' in text_of(browser, "/explore")
    assert Client().get("/public").status_code == 404
    write_setting("timelines_access", {"hashtag_feeds": {"local": "disabled", "remote": "disabled"}})
    public.forget_access()
    text = text_of(browser, "/tags/garden")
    assert shown_posts(text) == []
    assert "does not show posts by hashtag" in text


def test_explore_shows_members_visible_posts_and_accounts_to_follow(ann: User, browser: Client) -> None:
    counts: dict[str, list[int]] = {}
    muted = make_account("muted", discoverable=True)
    mute_account(account=ann.account, target=muted)
    for size in (1, 4):
        for number in range(size):
            account = make_account(f"someone{size}{number}", discoverable=True)
            post = make_status(account, f"#tag{size}{number}x")
            AccountStat.objects.update_or_create(account=account, defaults={"statuses_count": 1})
            Trend.objects.create(kind=TrendKind.STATUS, object_id=post.id, score=1, peak=1, peak_at=clock.now())
            TrendReview.objects.create(
                kind=TrendKind.STATUS, object_id=post.id, trendable=True, reviewed_at=clock.now()
            )
            tag = Tag.objects.get(name=f"tag{size}{number}x")
            Trend.objects.create(kind=TrendKind.TAG, object_id=tag.id, score=1, peak=1, peak_at=clock.now())
        Tag.objects.update(trendable=True)
        for path in ("/explore", "/explore/tags", "/explore/links", "/explore/people"):
            text_of(browser, path)
            with CaptureQueriesContext(connection) as queries:
                text_of(browser, path)
            counts.setdefault(path, []).append(len(queries))
    assert all(few == many for few, many in counts.values()), counts
    api = Api(make_token(ann))
    ids = [int(post["id"]) for post in api.get("/api/v1/trends/statuses").json()]
    text = text_of(browser, "/explore")
    assert shown_posts(text) == ids
    assert f'action="/statuses/{ids[0]}/act"' in text
    text = text_of(browser, "/explore/people")
    found = [int(number) for number in re.findall(r'id="person-(\d+)"', text)]
    assert found == [int(each["id"]) for each in api.get("/api/v1/directory").json()]
    assert found
    assert f'action="/people/{found[0]}/act"' in text
    assert muted.id not in found
    assert 'href="/tags/tag10x"' in text_of(browser, "/explore/tags")
