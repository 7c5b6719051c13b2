"""Tests of the search page: the same results as the API's, with buttons."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from accounts.models import Follow
from social.kernel import links
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import make_status
from tests.support.browser import shown_posts
from tests.support.client import Api
from tests.timelines.searching import index, search

pytestmark = pytest.mark.django_db


def page(browser: Client, status: int = 200, **query: str) -> str:
    answer = browser.get("/search", query)
    assert (answer.status_code, answer["Cache-Control"]) == (status, "private, no-store")
    return answer.content.decode()


def people(text: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="person-(\d+)"', text)]


def test_members_get_the_results_of_the_api_with_buttons() -> None:
    ann, bea = make_user("ann"), make_user("bea", indexable=True, display_name="Bea <i>")
    browser = Client()
    browser.force_login(ann)
    assert Client().get("/search?q=x")["Location"].startswith("/auth/sign_in")
    text = page(browser)
    assert "from:me" in text
    assert 'href="/search" aria-current="page"' in text
    made = [make_status(bea.account, f"the garden {number} #beans{number}") for number in range(22)]
    index()
    api, counts = Api(make_token(ann)), []
    found = search(api, "garden", type="statuses", limit=40)["statuses"]
    ids = [int(post["id"]) for post in found]
    assert len(ids) == 22
    everything = page(browser, q="garden")
    assert shown_posts(everything) == ids[:20]
    assert 'href="/search?q=garden&amp;type=statuses"' in everything
    assert f'action="/statuses/{ids[0]}/act"' in everything
    second = re.findall(
        r'href="(/search\?q=garden&amp;type=statuses&amp;offset=20)"', page(browser, q="garden", type="statuses")
    )
    assert second
    assert shown_posts(page(browser, q="garden", type="statuses", offset="20")) == ids[20:]
    assert shown_posts(page(browser, q="garden -from:@bea")) == []
    tags = re.findall('href="/tags/(beans[0-9]+)"', page(browser, q="#beans", type="hashtags"))
    assert tags == [tag["name"] for tag in search(api, "#beans", type="hashtags", limit=20)["hashtags"]]
    assert tags == re.findall('href="/tags/(beans[0-9]+)"', page(browser, q="#beans", type="hashtags"))
    for size in (1, 6):
        for number in range(size):
            make_user(f"bea{size}{number}")
        with CaptureQueriesContext(connection) as queries:
            text = page(browser, q="bea")
        counts.append(len(queries))
    assert people(text) == [int(each["id"]) for each in search(api, "bea", limit=5)["accounts"]]
    assert "Bea &lt;i&gt;" in text
    assert counts[0] == counts[1]
    for _time in range(2):
        answer = browser.post(f"/people/{bea.account_id}/act", {"act": "follow", "next": "/search?q=bea", "at": "row"})
        assert answer["Location"] == f"/search?q=bea#person-{bea.account_id}"
    assert Follow.objects.filter(account=ann.account, target=bea.account).count() == 1
    assert "You follow" in page(browser, q="bea")
    assert shown_posts(page(browser, q=links.web_url(f"/@bea/{made[3].id}"))) == [made[3].id], (
        "searching for an address finds its post"
    )
    assert people(page(browser, q=f"@bea@{links.web_url().partition('//')[2]}")) == [bea.account_id]
    wrong = page(browser, 422, q='before:soon "x')
    assert "A date is written like this" in wrong
    assert f'value="{escape("before:soon ")}' in wrong, "the typed text is shown again"
    assert "Nothing was found" in page(browser, q="zzzz", type="nonsense")
