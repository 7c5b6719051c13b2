"""Tests of the notifications page: it shows the same groups as clients get, and groups can be marked as read and dismissed
without a script.
"""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from accounts.services.following import FollowChange, follow_account
from statuses.models.filter import Filter, FilterKeyword
from tests.factories.accounts import make_account, make_token, make_user
from tests.factories.statuses import follow, make_status
from tests.support.client import Api, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db


def page(browser: Client, path: str = "/notifications") -> str:
    answer = browser.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def keys(text: str) -> list[str]:
    return re.findall(r'id="notification-([^"]+)"', text)


def test_the_page_shows_the_groups_that_clients_get_marks_them_as_read_and_removes_them(ann: User) -> None:
    browser, api = signed_in(ann), Api(make_token(ann))
    post = make_status(ann.account, "my <b>post</b>")
    others = [make_user(name) for name in ("bea", "cem", "dan")]
    follow(ann.account, others[0].account)
    for other in others:
        Api(make_token(other)).post(f"/api/v1/statuses/{post.id}/favourite")
    Api(make_token(others[0])).post("/api/v1/statuses", {"status": "@ann hello"})
    follow_account(account=make_account("eve", display_name="<i>Eve</i>"), target=ann.account, change=FollowChange())
    work()
    wanted = [group["group_key"] for group in api.get("/api/v2/notifications").json()["notification_groups"]]
    assert re.search(r'class="count"[^>]*>3<', page(browser, "/bookmarks"))
    with CaptureQueriesContext(connection) as first:
        text = page(browser)
    assert keys(text) == wanted
    assert "bea" in text
    assert "2 others" in text
    assert "hello" in text
    assert "<i>Eve" not in text
    assert "&lt;i&gt;Eve" in text
    assert text.count('class="notice new"') == 3
    again = page(browser)
    assert 'class="notice new"' not in again
    assert 'class="count"' not in again
    assert api.get("/api/v1/notifications/unread_count").json()["count"] == 0
    assert len(keys(page(browser, "/notifications?only=mentions"))) == 1
    for _number in range(2):
        answer = browser.post("/notifications/remove", {"key": wanted[0], "next": "/notifications"})
        assert (answer.status_code, answer["Location"]) == (303, "/notifications")
    assert keys(page(browser)) == wanted[1:]
    assert browser.post("/notifications/remove", {"key": "a\0b"}).status_code == 303
    browser.post("/notifications/remove", {"all": "yes"})
    assert keys(page(browser)) == []
    assert len(first) <= 32


def test_a_page_of_many_notifications_takes_as_many_queries_as_one_of_few(ann: User) -> None:
    browser, counts = signed_in(ann), []
    other = make_user("bea")
    follow(ann.account, other.account)
    page(browser)
    for many in (2, 6):
        for number in range(many):
            Api(make_token(other)).post("/api/v1/statuses", {"status": f"@ann {many} {number}"})
        work()
        page(browser)
        with CaptureQueriesContext(connection) as queries:
            assert keys(page(browser))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_post_that_a_filter_hides_is_not_shown_by_its_notification(ann: User) -> None:
    browser = signed_in(ann)
    hidden = Filter.objects.create(account=ann.account, title="t", context=["notifications"], action="hide")
    FilterKeyword.objects.create(filter=hidden, keyword="spoiler", whole_word=True)
    bea = make_user("bea")
    follow(ann.account, bea.account)
    other = Api(make_token(bea))
    for text in ("@ann a spoiler", "@ann fine"):
        other.post("/api/v1/statuses", {"status": text})
    work()
    text = page(browser)
    assert "fine" in text
    assert "spoiler" not in text


def test_the_page_of_notifications_requires_signing_in_and_a_csrf_token(ann: User) -> None:
    assert Client().get("/notifications").status_code == 302
    browser = signed_in(ann, enforce_csrf_checks=True)
    assert browser.post("/notifications/remove", {"all": "yes"}).status_code == 403
    assert browser.get("/notifications/remove").status_code == 405


def test_held_messages_are_accepted_and_dismissed_and_the_policy_is_chosen(ann: User) -> None:
    browser, api = signed_in(ann), Api(make_token(ann))
    wrong = browser.post("/notifications/policy", {"for_not_following": "nonsense"})
    assert wrong.status_code == 422
    chosen = {"for_not_following": "filter", "for_not_followers": "accept", "for_new_accounts": "accept",
              "for_private_mentions": "drop", "for_limited_accounts": "filter", "for_bots": "accept"}  # fmt: skip
    assert browser.post("/notifications/policy", chosen).status_code == 303
    assert {**api.get("/api/v2/notifications/policy").json(), "summary": None} == {**chosen, "summary": None}
    assert re.search(r'<option value="drop" selected>', page(browser, "/notifications/policy"))
    counts, senders = [], [make_user(name) for name in ("bea", "cem", "dan", "eve")]
    for sender in senders:
        Api(make_token(sender)).post("/api/v1/statuses", {"status": f"@ann hello of <i>{sender.account.username}"})
        work()
        with CaptureQueriesContext(connection) as queries:
            text = page(browser, "/notifications/requests")
        counts.append(len(queries))
    assert counts[1] == counts[-1]
    numbers = [entity["id"] for entity in api.get("/api/v1/notifications/requests").json()]
    assert re.findall(r'id="request-(\d+)"', text) == numbers
    assert "hello of &lt;i&gt;bea" in text
    listed = page(browser)
    assert keys(listed) == []
    assert re.search(r'class="count">4<', listed)
    stranger = signed_in(senders[0])
    stranger.post("/notifications/requests", {"id": numbers, "act": "accept"})
    for _number in range(2):
        decided = browser.post("/notifications/requests", {"id": numbers[3], "act": "accept", "next": "/notifications"})
        assert (decided.status_code, decided["Location"]) == (303, "/notifications")
    work()
    assert "hello of" in page(browser)
    browser.post("/notifications/requests", {"id": numbers[:2], "act": "dismiss"})
    assert [entity["id"] for entity in api.get("/api/v1/notifications/requests").json()] == [numbers[2]]
    assert browser.post("/notifications/requests", {"id": "nonsense", "act": "accept"}).status_code in (303, 404)


def test_the_notification_of_a_report_names_both_people_and_leads_to_the_case(ann: User) -> None:
    boss, bea = make_user("boss", role="Owner"), make_account("bea", display_name="<i>Bea</i>")
    Api(make_token(ann)).post("/api/v1/reports", {"account_id": str(bea.id)})
    work()
    browser = signed_in(boss)
    link = f'<a href="/admin/moderation/report/inbox/{bea.id}/">ann has reported &lt;i&gt;Bea&lt;/i&gt;</a>'
    assert link in page(browser)
