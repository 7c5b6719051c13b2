"""Tests of summary mails for users who are away for a week or longer."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from notifications.models import Mailing, Notification
from notifications.senders.mails import queue_summaries
from social.kernel import clock
from tests.notifications.mailing import (
    ALL,
    DAY,
    ann,
    bob,
    choose,
    interact,
    keep_from_mails,
    mailed,
    pass_time,
    someone,
    subjects,
)
from tests.notifications.people import Person
from tests.support.work import work
from timelines.models import Marker

__all__ = ["ann", "bob"]
pytestmark = pytest.mark.django_db


class TestAwayPeople:
    def summary(self, ann: Person, after: timedelta = timedelta()) -> list[Any]:
        work()
        pass_time(ann, after)
        queue_summaries()
        return mailed(ann, timedelta())

    @pytest.fixture
    def away(self, ann: Person, bob: Person) -> Person:
        """A user who has been away for six days, with two unread notifications."""
        choose(ann, **dict.fromkeys(ALL, False))
        pass_time(ann, 6 * DAY)
        interact(ann, bob, "follow")
        bob.post("@ann where are you")
        return ann

    def test_a_user_who_is_away_gets_a_summary_once_a_week(self, away: Person, bob: Person) -> None:
        assert self.summary(away) == []
        [letter] = self.summary(away, DAY)
        assert letter.subject == "2 notifications while you were away"
        assert "> @ann where are you" in letter.body
        assert self.summary(away, DAY) == []
        assert self.summary(away, 7 * DAY) == [], "there are no new notifications"
        bob.post("@ann hello?")
        [letter] = self.summary(away)
        assert letter.subject == "1 notification while you were away"
        bob.post("@ann hello??")
        assert self.summary(away, 6 * DAY) == []
        Mailing.objects.create(account_id=away.id, host="localhost")
        assert mailed(away, timedelta()) == [], "no mail is sent if the job runs too early"
        assert len(self.summary(away, DAY)) == 1

    def test_users_who_want_no_summary_do_not_count_against_the_hourly_limit(
        self, away: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("notifications.senders.mails.SUMMARIES_PER_HOUR", 1)
        carol = someone("carol")
        choose(carol, summary_mails=False, mention_mails=False)
        pass_time(carol, 7 * DAY - timedelta(minutes=59))
        bob.post("@carol where are you")
        assert len(self.summary(away, DAY)) == 1

    def test_the_unsubscribe_link_of_a_summary_ends_only_summaries(self, away: Person, bob: Person) -> None:
        [letter] = self.summary(away, DAY)
        address = re.search(r"(/unsubscribe/\S+)>", letter.extra_headers["List-Unsubscribe"])
        assert address is not None
        assert Client().post(address[1]).status_code == 200
        assert User.objects.get(id=away.user.id).preferences == dict.fromkeys(ALL, False) | {"summary_mails": False}
        bob.post("@ann hello?")
        assert self.summary(away, 8 * DAY) == []

    @pytest.mark.parametrize("queued", [False, True])
    @pytest.mark.parametrize(
        "change", ["read", "back", "none", "off", "left", "suspended", "disabled", "unconfirmed", "moved", "memorial"]
    )
    def test_no_summary_for_users_who_read_returned_opted_out_or_cannot_be_mailed(
        self, away: Person, bob: Person, change: str, queued: bool
    ) -> None:
        """A summary that was already due is not sent either."""
        user = User.objects.filter(id=away.user.id)
        work()
        if queued:
            pass_time(away, DAY)
            queue_summaries()
            assert Mailing.objects.filter(account_id=away.id).exists()
        match change:
            case "read":
                newest = Notification.objects.filter(account_id=away.id).latest("id").id
                Marker.objects.create(account_id=away.id, timeline="notifications", last_read_id=newest)
                pass_time(away, 20 * DAY)
            case "back":
                user.update(active_at=clock.now())
            case "none":
                user.update(preferences={"notification_mails": "none"})
            case "off":
                user.update(preferences={"summary_mails": False})
            case "left":
                pass_time(away, 60 * DAY)
            case _:
                keep_from_mails(away, change, successor=bob)
        found = mailed(away, timedelta()) if queued else self.summary(away, DAY)
        assert [one for one in subjects(found) if "away" in one] == []
