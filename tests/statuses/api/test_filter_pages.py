"""Tests of the pages for filters, which have every option that applications offer."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from accounts.services.following import FollowChange, follow_account
from social.kernel import clock
from statuses.models import Filter, FilterKeyword, FilterStatus
from statuses.pages import filters as pages
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import make_status
from tests.support.client import Api, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db


def page(browser: Client, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def sent(**changed: Any) -> dict[str, Any]:
    return {"title": "Sport <b>", "action": "warn", "in_home": "on", "keyword_new_1": "football"} | changed


def test_filters_made_changed_and_deleted_on_pages_are_seen_by_clients(ann: User, browser: Client) -> None:
    api = Api(make_token(ann))
    assert browser.post("/filters/new", sent(title="", in_home="")).status_code == 422
    assert '<option value="" selected>Until you delete it</option>' in page(browser, "/filters/new")
    refused = browser.post("/filters/new", sent(title=" "))
    assert 'value="football"' in refused.content.decode(), "the typed text stays"
    assert not Filter.objects.exists()
    values = sent(in_thread="on", expires_in="3600", whole_new_1="on", keyword_new_2="goal&")
    made = browser.post("/filters/new", values)
    assert (made.status_code, made["Location"]) == (303, "/filters")
    (entity,) = api.get("/api/v2/filters").json()
    assert (entity["title"], {*entity["context"]}, entity["filter_action"]) == ("Sport <b>", {"home", "thread"}, "warn")
    assert [(word["keyword"], word["whole_word"]) for word in entity["keywords"]] == [
        ("football", True),
        ("goal&", False),
    ]
    assert entity["expires_at"] is not None
    text = page(browser, "/filters")
    assert "Sport &lt;b&gt;" in text
    assert "goal&amp;" in text
    number, (football, goal) = entity["id"], [word["id"] for word in entity["keywords"]]
    form = page(browser, f"/filters/{number}")
    assert f'name="keyword_{football}" value="football"' in form
    FilterKeyword.objects.create(filter_id=number, keyword="added meanwhile")
    changed = sent(
        title="Games", action="hide", in_home="", in_account="on", expires_in="keep", keyword_new_1="",
        **{f"keyword_{football}": "", f"keyword_{goal}": "match", f"whole_{goal}": "on"},
    )  # fmt: skip
    assert browser.post(f"/filters/{number}", changed).status_code == 303
    (after,) = api.get("/api/v2/filters").json()
    assert (after["title"], after["context"], after["filter_action"]) == ("Games", ["account"], "hide")
    assert [(word["keyword"], word["whole_word"]) for word in after["keywords"]] == [
        ("match", True),
        ("added meanwhile", True),
    ]
    assert after["expires_at"] == entity["expires_at"]
    browser.post(f"/filters/{number}", changed | {"expires_in": ""})
    assert api.get(f"/api/v2/filters/{number}").json()["expires_at"] is None
    Filter.objects.update(expires_at=clock.now() - timedelta(hours=1))
    assert "It has ended." in page(browser, "/filters")
    stranger = signed_in(make_user("bea"))
    for path in ("", "/posts", "/delete"):
        assert stranger.get(f"/filters/{number}{path}").status_code == 404
        assert stranger.post(f"/filters/{number}{path}", changed).status_code == 404
    assert "Games" not in page(stranger, "/filters")
    assert browser.post(f"/filters/{number}/delete")["Location"] == "/filters"
    assert not Filter.objects.exists()


def test_a_post_is_added_to_a_filter_and_removed(ann: User, browser: Client) -> None:
    bea = make_user("bea")
    follow_account(account=ann.account, target=bea.account, change=FollowChange())
    post, hidden = make_status(bea.account, "of bea"), make_status(bea.account, "to nobody", visibility="direct")
    work()
    assert f'href="/statuses/{post.id}/filter' in page(browser, "/")
    assert f"/filters/new?post={post.id}" in page(browser, f"/statuses/{post.id}/filter?next=/")
    made = browser.post("/filters/new", sent(keyword_new_1="", post=post.id, next="/explore"))
    assert made["Location"] == f"/explore#post-{post.id}"
    found = Filter.objects.get()
    assert "of bea" in page(browser, f"/filters/{found.id}/posts")
    assert 'class="covered"' in page(browser, "/") or "Sport &lt;b&gt;" in page(browser, "/")
    assert "The post is in this filter." in page(browser, f"/statuses/{post.id}/filter")
    for _number in range(2):
        assert browser.post(f"/statuses/{post.id}/filter", {"filter": found.id, "next": "/"}).status_code == 303
    (entry,) = FilterStatus.objects.all()
    for wrong in (hidden.id, 1):
        assert browser.get(f"/statuses/{wrong}/filter").status_code == 404
        assert browser.post("/filters/new", sent(post=wrong)).status_code == 404
    stranger = signed_in(bea)
    assert stranger.post(f"/statuses/{post.id}/filter", {"filter": found.id}).status_code == 404
    for _number in range(2):
        answer = browser.post(f"/filters/{found.id}/posts", {"remove": entry.id, "next": f"/filters/{found.id}/posts"})
        assert answer["Location"] == f"/filters/{found.id}/posts"
    assert not FilterStatus.objects.exists()


def test_pages_of_filters_take_as_many_queries_for_many_filters_as_for_few(
    ann: User, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "_KEYWORDS_PER_PAGE", 3)
    counts = []
    for _round in range(3):
        for number in range(2):
            found = Filter.objects.create(account=ann.account, title=f"filter {number}", context=["home"])
            FilterKeyword.objects.bulk_create(FilterKeyword(filter=found, keyword=f"word {each}") for each in range(5))
            for each in range(3):
                FilterStatus.objects.create(filter=found, status=make_status(ann.account, f"post {each}"))
        spent = []
        for path in ("/filters", f"/filters/{found.id}", f"/filters/{found.id}/posts"):
            with CaptureQueriesContext(connection) as queries:
                page(browser, path)
            spent.append(len(queries))
        counts.append(spent)
    assert counts[1] == counts[2]
    text = page(browser, f"/filters/{found.id}")
    (more,) = re.findall(r'href="(\?after=\d+)"', text)
    shown = re.findall(r'value="(word \d)"', text + page(browser, f"/filters/{found.id}{more}"))
    assert shown == [f"word {each}" for each in range(5)]
