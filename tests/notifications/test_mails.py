"""Tests of notifications by mail: only those that the user has chosen, and none that were read or deleted."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from accounts.policies.mails import MAILED_TYPES, SWITCHES
from notifications.events import NotificationMade
from notifications.models import Mailing, MailItem, Notification
from notifications.senders.mails import MAILINGS, TEXT_LIMIT, queue_mails
from social.kernel import clock
from statuses.models import Status
from tests.factories.statuses import make_status
from tests.notifications.mailing import (
    ALL,
    DAY,
    HOUR,
    ann,
    bob,
    choose,
    html_of,
    interact,
    mailed,
    make_notifications,
    pass_time,
    someone,
    subjects,
)
from tests.notifications.people import Person
from tests.support.work import work

__all__ = ["ann", "bob"]
pytestmark = pytest.mark.django_db


class TestSingleMails:
    def test_a_mention_is_mailed_after_two_minutes(self, ann: Person, bob: Person) -> None:
        posted = bob.post("@ann Grüße & <3\n\nBob")
        assert mailed(ann, timedelta(seconds=100)) == []
        [letter] = mailed(ann, timedelta(seconds=20))
        assert letter.subject == "@bob mentioned you"
        assert "Hello @ann," in letter.body
        assert "\n> @ann Grüße & <3\n>\n> Bob\n" in letter.body
        assert f"\n{posted['url']}\n" in letter.body
        assert "Grüße &amp; &lt;3" in html_of(letter)
        assert f'href="{posted["url"]}"' in html_of(letter)
        assert mailed(ann, DAY) == []

    @pytest.mark.parametrize("kind", MAILED_TYPES)
    def test_each_type_is_mailed_to_those_who_chose_it(self, ann: Person, bob: Person, kind: str) -> None:
        choose(ann, **{f"{kind}_mails": False})
        interact(ann, bob, kind)
        assert mailed(ann) == []
        Notification.objects.all().delete()
        carol = someone("carol")
        choose(ann, **dict.fromkeys(ALL, False) | {f"{kind}_mails": True})
        interact(ann, carol, kind)
        [letter] = mailed(ann)
        assert letter.subject.startswith("@carol ")

    def test_by_default_mentions_quotes_and_follows_are_mailed(self, ann: Person, bob: Person) -> None:
        for kind in ("mention", "quote", "follow", "reblog", "favourite"):
            interact(ann, bob, kind)
        interact(ann, someone("carol"), "follow_request")
        assert sorted(subjects(mailed(ann))) == [
            "@bob follows you",
            "@bob mentioned you",
            "@bob quoted your post",
            "@carol asks to follow you",
        ]

    def test_a_mail_is_in_the_language_of_its_reader(self, ann: Person, bob: Person) -> None:
        User.objects.filter(id=ann.user.id).update(locale="ar")
        bob.post("@ann hello")
        [letter] = mailed(ann)
        assert letter.subject == "ذكرك \u2068@bob\u2069"
        assert 'lang="ar" dir="rtl"' in html_of(letter)

    def test_a_mail_contains_a_private_mention_but_only_the_warning_of_a_post_with_one(
        self, ann: Person, bob: Person
    ) -> None:
        ann.do(f"accounts/{bob.id}/follow")
        bob.post("@ann between us", visibility="direct")
        bob.post("@ann the butler", spoiler_text="the end of the book")
        first, second = sorted(mailed(ann), key=lambda letter: str(letter.extra_headers["Message-ID"]))
        assert "> @ann between us" in first.body
        assert "warning" not in first.body
        assert "Its text is hidden behind this warning:\n\n> the end of the book\n" in second.body
        assert "butler" not in second.body + html_of(second)

    def test_long_posts_are_cut(self, ann: Person, bob: Person) -> None:
        post = make_status(bob.account, text="@ann x")
        Status.objects.filter(id=post.id).update(content="<p>" + "y" * (TEXT_LIMIT + 9) + "</p>")
        [letter] = mailed(ann)
        assert "y" * (TEXT_LIMIT - 1) + "…" in letter.body
        assert "y" * TEXT_LIMIT not in letter.body

    def test_mails_about_one_thread_are_threaded_and_a_repeated_mail_has_the_same_id(
        self, ann: Person, bob: Person
    ) -> None:
        first = bob.post("@ann hello")
        bob.post("@ann are you there", in_reply_to_id=first["id"])
        bob.post("@ann something else")
        letters = mailed(ann)
        threads = [letter.extra_headers["References"] for letter in letters]
        assert [letter.extra_headers["In-Reply-To"] for letter in letters] == threads
        assert sorted(threads.count(thread) for thread in threads) == [1, 2, 2]
        ids = {letter.extra_headers["Message-ID"] for letter in letters}
        made = Notification.objects.filter(account_id=ann.id)
        assert ids == {f"<notification-{each.id}@social.localhost>" for each in made}
        assert {letter.extra_headers["Auto-Submitted"] for letter in letters} == {"auto-generated"}

    def test_one_click_ends_the_mails_of_that_type_alone(self, ann: Person, bob: Person) -> None:
        interact(ann, bob, "mention")
        [letter] = mailed(ann)
        assert letter.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        found = re.fullmatch(r"<http://social\.localhost(/unsubscribe/\S+)>", letter.extra_headers["List-Unsubscribe"])
        assert found is not None
        assert found[1] in letter.body
        assert "/settings/preferences/notifications" in letter.body
        page = Client().get(found[1]).content.decode()
        assert "Somebody mentions you" in page
        assert 'href="/settings/preferences/notifications"' in page
        answer = Client(enforce_csrf_checks=True).post(found[1], {"List-Unsubscribe": "One-Click"})
        assert answer.status_code == 200
        interact(ann, bob, "mention")
        interact(ann, bob, "follow")
        assert subjects(mailed(ann)) == ["@bob follows you"]

    def test_a_notification_is_mailed_once_even_if_its_event_is_repeated(self, ann: Person, bob: Person) -> None:
        [made] = make_notifications(ann, 1)
        again = NotificationMade(notification_id=made.id, account_id=made.account_id)
        queue_mails([again, again])
        assert len(mailed(ann)) == 1


class TestMany:
    def test_ten_mails_an_hour_are_followed_by_one_of_all_others(self, ann: Person) -> None:
        make_notifications(ann, 10 + 20 + 3)
        letters = mailed(ann)
        assert len(letters) == 10 + 1
        several = letters[-1]
        assert re.fullmatch(r"@person\d+ mentioned you, and 22 more notifications", several.subject)
        assert several.body.count(" mentioned you.") == html_of(several).count(" mentioned you</bdi>") == 20
        assert "\nAnd 3 more notifications.\n" in several.body
        assert not MailItem.objects.exists()

    def test_mails_beyond_the_hourly_number_wait_for_the_next_hour(self, ann: Person) -> None:
        make_notifications(ann, 10 + 1)
        assert len(mailed(ann)) == 10 + 1
        make_notifications(ann, 2)
        assert mailed(ann) == []
        Mailing.objects.update(due_at=Now())
        assert mailed(ann, timedelta()) == [], "no mail is sent if the job runs too early"
        assert mailed(ann, timedelta(minutes=50)) == []
        assert len(mailed(ann, timedelta(minutes=10))) == 2

    def test_mails_neither_show_nor_count_hidden_notifications(self, ann: Person) -> None:
        choose(ann, notification_mails="daily")
        hidden, *_shown = make_notifications(ann, 3)
        Status.objects.filter(id=hidden.status_id).update(deleted_at=clock.now())
        [letter] = mailed(ann, DAY)
        assert letter.subject.endswith(", and 1 more notification")

    def test_the_daily_mail_is_sent_once_a_day(self, ann: Person, bob: Person) -> None:
        choose(ann, notification_mails="daily")
        bob.post("@ann one", spoiler_text="warned")
        work()
        pass_time(ann, 5 * HOUR)
        bob.post("@ann two")
        interact(ann, bob, "follow")
        assert mailed(ann, 18 * HOUR) == []
        Mailing.objects.update(due_at=Now())
        assert mailed(ann, timedelta()) == [], "no mail is sent if the job runs too early"
        [letter] = mailed(ann, HOUR)
        assert letter.subject == "@bob follows you, and 2 more notifications"
        assert "> warned" in letter.body
        assert "@ann one" not in letter.body + html_of(letter)
        assert "> @ann two" in letter.body
        address = re.search(r"(/unsubscribe/\S+)>", letter.extra_headers["List-Unsubscribe"])
        assert address is not None
        bob.post("@ann three")
        assert mailed(ann, 23 * HOUR) == []
        assert subjects(mailed(ann, HOUR)) == ["@bob mentioned you"]
        assert Client().post(address[1]).status_code == 200
        bob.post("@ann four")
        assert mailed(ann, 2 * DAY) == []
        assert User.objects.get(id=ann.user.id).preferences["notification_mails"] == "none"

    def test_many_mails_are_queued_and_one_is_written_with_as_many_statements_as_for_two(self) -> None:
        def cost(number: int) -> tuple[int, int]:
            reader = someone(f"reader{number}")
            choose(reader, notification_mails="daily")
            made = make_notifications(reader, number)
            people = [someone(f"p{number}x{each}") for each in range(number)]
            others = [
                Notification.objects.create(account_id=p.id, from_account_id=reader.id, type="follow", cause="x")
                for p in people
            ]
            MailItem.objects.all().delete()
            Mailing.objects.all().delete()
            with CaptureQueriesContext(connection) as queued:
                events = [NotificationMade(notification_id=n.id, account_id=n.account_id) for n in (*made, *others)]
                queue_mails(events)
            Mailing.objects.exclude(account_id=reader.id).delete()
            work()
            pass_time(reader, DAY)
            with CaptureQueriesContext(connection) as written:
                MAILINGS.run()
            assert len(mail.outbox) == 1
            return len(queued), len(written)

        assert cost(2) == cost(8)

    def test_a_notification_that_nobody_wants_by_mail_costs_one_statement(self, ann: Person) -> None:
        choose(ann, notification_mails="none")
        [made] = make_notifications(ann, 1)
        with CaptureQueriesContext(connection) as caught:
            queue_mails([NotificationMade(notification_id=made.id, account_id=made.account_id)])
        assert len(caught) == 1
        assert not MailItem.objects.exists()


def test_every_switch_has_a_name_and_each_type_a_switch() -> None:
    assert {f"{kind}_mails" for kind in MAILED_TYPES} <= SWITCHES.keys()
