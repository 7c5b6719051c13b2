"""Tests of announcements in the browser: the navigation links to them until they are read, and users can react to them."""

import re
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from moderation.models import Announcement, AnnouncementDismissal, AnnouncementReaction
from social.kernel import clock
from tests.factories.accounts import make_user
from tests.factories.statuses import make_status

pytestmark = pytest.mark.django_db
LINK = 'href="/announcements"'


def announce(text: str, **values: Any) -> Announcement:
    return Announcement.objects.create(text=text, content=f"<p>{text}</p>", published_at=clock.now(), **values)


def page(browser: Client, path: str = "/announcements") -> str:
    answer = browser.get(path)
    assert (answer.status_code, answer["Cache-Control"]) == (200, "private, no-store")
    return answer.content.decode()


def test_announcements_get_reactions_and_leave_the_navigation_after_they_are_read() -> None:
    ann, browser = make_user("ann"), Client()
    browser.force_login(ann)
    assert Client().get("/announcements")["Location"].startswith("/auth/sign_in")
    assert LINK not in page(browser, "/bookmarks")
    first = announce("Backup on <b>Monday</b>")
    post = make_status(ann.account, "what it is about")
    second = announce("Party", status_ids=[post.id])
    draft = Announcement.objects.create(text="unpublished", content="<p>unpublished</p>")
    assert LINK in page(browser, "/bookmarks")
    text = page(browser)
    assert re.findall(r'id="announcement-(\d+)"', text) == [str(second.id), str(first.id)]
    assert f'id="post-{post.id}"' in text
    assert "unpublished" not in text

    def press(announcement: Announcement, **values: str) -> None:
        for _time in range(2):
            answer = browser.post(f"/announcements/{announcement.id}/act", {"next": "/announcements", **values})
            assert (answer.status_code, answer["Location"]) == (303, f"/announcements#announcement-{announcement.id}")

    press(first, react="👍")
    assert [row.name for row in AnnouncementReaction.objects.all()] == ["👍"]
    assert re.search(r'name="unreact" value="👍" aria-pressed="true"', page(browser))
    press(first, unreact="👍")
    assert not AnnouncementReaction.objects.exists()
    refused = browser.post(f"/announcements/{first.id}/act", {"next": "/announcements", "react": "not an emoji"})
    text = page(browser, refused["Location"])
    assert "is not a recognized emoji" in text
    assert 'value="not an emoji"' in text, "the typed text stays"
    press(second, dismiss="yes")
    assert AnnouncementDismissal.objects.count() == 1
    text = page(browser)
    assert re.findall(r'id="announcement-(\d+)"', text) == [str(first.id), str(second.id)], (
        "unread announcements come first"
    )
    press(first, dismiss="yes")
    assert LINK not in page(browser, "/bookmarks")
    assert LINK in page(browser), "the page is in its own navigation"
    assert LINK in page(browser, "/notifications"), "a link leads to announcements that have been read"
    for path in (f"/announcements/{draft.id}/act", "/announcements/1/act"):
        assert browser.post(path, {"dismiss": "yes"}).status_code == 404
    assert browser.post(f"/announcements/{first.id}/act", {}).status_code == 404
    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(ann)
    assert guarded.post(f"/announcements/{first.id}/act", {"dismiss": "yes"}).status_code == 403


def test_unread_announcements_add_no_statement_to_other_pages_and_many_cost_as_much_as_few() -> None:
    ann, browser, counts, around = make_user("ann"), Client(), [], []
    browser.force_login(ann)
    page(browser)
    for size in (0, 1, 4):
        for number in range(size):
            announce(f"number {number}", status_ids=[make_status(ann.account, f"post {number}").id])
        for path, found in (("/announcements", counts), ("/bookmarks", around)):
            page(browser, path)
            with CaptureQueriesContext(connection) as queries:
                page(browser, path)
            found.append(len(queries))
    assert counts[1] == counts[2]
    assert len(set(around)) == 1, "the query for the session's user also counts them"


def test_dates_are_the_same_in_every_time_zone_and_times_are_converted() -> None:
    boss, browser = make_user("boss", role="Owner"), Client()
    browser.force_login(boss)
    added = "/admin/moderation/announcement/add/"
    for zone in ("America/New_York", "Asia/Tokyo"):
        User.objects.filter(pk=boss.pk).update(time_zone=zone)
        assert zone in browser.get(added).content.decode()
        sent = {"text": "Fair", "starts_at": "2099-07-01T20:00", "ends_at": "2099-07-02T21:00", "all_day": "on"}
        assert browser.post(added, sent).status_code == 302
        made = Announcement.objects.latest("id")
        assert (f"{made.starts_at:%d}", f"{made.ends_at:%d}") == ("01", "02")
        assert (
            'value="2099-07-01T00:00"'
            in browser.get(f"/admin/moderation/announcement/{made.pk}/change/").content.decode()
        )
        Announcement.objects.filter(pk=made.pk).update(published_at=clock.now(), scheduled_at=None)
        text = page(browser)
        assert "July 1, 2099 – July 2, 2099" in text
        timed = {"text": "Talk", "scheduled_at": "2099-07-01T20:00"}
        assert browser.post(added, timed).status_code == 302
        assert Announcement.objects.latest("id").scheduled_at.astimezone(ZoneInfo(zone)).hour == 20
        Announcement.objects.all().delete()
