"""People who look elsewhere get by mail what concerns them, as they chose: not what they have read, nor what is gone."""

from __future__ import annotations

import re
import smtplib
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, User
from accounts.policies.mails import MAILED_TYPES, SWITCHES
from accounts.policies.staff import OPERATOR
from accounts.services.sanctions import suspend_account
from accounts.services.staff import disable
from notifications.events import NotificationMade
from notifications.models import Mailing, MailItem, MailRecord, Notification
from notifications.policies.mails import SINGLE_MAILS
from notifications.senders.mails import MAILINGS, SHOWN, TEXT_LIMIT, queue_mails, queue_summaries
from social.kernel import clock
from social.kernel.runner import TERMS, Host, forget_given_up
from statuses.models import Status
from tests.conformance.test_seed_events import subscribed
from tests.factories.accounts import make_account
from tests.factories.statuses import make_status
from tests.notifications.test_web_push import Person
from tests.support.work import work
from timelines.models import Marker
from timelines.stores import channels

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ALL = {f"{kind}_mails": True for kind in MAILED_TYPES}


@pytest.fixture
def ann() -> Person:
    return someone("ann")


@pytest.fixture
def bob() -> Person:
    return someone("bob")


def someone(name: str) -> Person:
    """A person who was here an hour ago."""
    person = Person(name)
    User.objects.filter(id=person.user.id).update(active_at=clock.now())
    pass_time(person, HOUR)
    mail.outbox.clear()
    return person


def pass_time(person: Person, time: timedelta) -> None:
    """Have everything that a person has done, and that waits for them, be so much older."""
    User.objects.filter(id=person.user.id).update(active_at=F("active_at") - time)
    Notification.objects.filter(account_id=person.id).update(created_at=F("created_at") - time)
    Marker.objects.filter(account_id=person.id).update(updated_at=F("updated_at") - time)
    Mailing.objects.filter(account_id=person.id).update(due_at=F("due_at") - time)
    MailRecord.objects.filter(account_id=person.id).update(
        began_at=F("began_at") - time, summary_at=F("summary_at") - time
    )


def choose(person: Person, **preferences: Any) -> None:
    User.objects.filter(id=person.user.id).update(preferences=preferences)


def mailed(person: Person, after: timedelta = timedelta(minutes=2)) -> list[Any]:
    """The mails that a person gets when so much time has passed."""
    work()
    pass_time(person, after)
    MAILINGS.run()
    found = [letter for letter in mail.outbox if letter.to == [person.user.email]]
    mail.outbox[:] = [letter for letter in mail.outbox if letter not in found]
    return found


def subjects(letters: list[Any]) -> list[str]:
    return [letter.subject for letter in letters]


def html_of(letter: Any) -> str:
    [(html, kind)] = letter.alternatives
    assert kind == "text/html"
    return str(html)


def interact(ann: Person, bob: Person, kind: str) -> None:
    """Have bob do what notifies ann in this way, over the API."""
    if kind == "follow_request":
        Account.objects.filter(id=ann.id).update(locked=True)
    if kind in ("follow", "follow_request"):
        bob.do(f"accounts/{ann.id}/follow")
    elif kind == "mention":
        bob.post("@ann hello")
    else:
        post = ann.post("what I think")
        if kind == "quote":
            bob.post("look", quoted_status_id=post["id"])
        else:
            bob.do(f"statuses/{post['id']}/{kind}")


def make_notifications(person: Person, number: int, kind: str = "mention") -> list[Notification]:
    """Notifications by as many people, each of a post of its own, queued for mails."""
    made = []
    for _time in range(number):
        sender = make_account()
        post = make_status(sender, text="hello")
        cause = f"test:{post.id}"
        made.append(
            Notification.objects.create(
                account_id=person.id, from_account=sender, type=kind, cause=cause, status_id=post.id
            )
        )
    work()
    queue_mails([NotificationMade(notification_id=each.id, account_id=each.account_id) for each in made])
    return made


class TestSingleMails:
    def test_who_is_mentioned_gets_a_mail_two_minutes_later(self, ann: Person, bob: Person) -> None:
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

    def test_who_has_chosen_nothing_gets_what_speaks_to_them(self, ann: Person, bob: Person) -> None:
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

    def test_a_private_mention_is_in_the_mail_and_behind_a_warning_only_that(self, ann: Person, bob: Person) -> None:
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

    def test_mails_of_one_thread_stand_together_and_a_repeated_one_is_known_as_such(
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

    def test_a_notification_is_mailed_once_however_often_it_is_announced(self, ann: Person, bob: Person) -> None:
        [made] = make_notifications(ann, 1)
        again = NotificationMade(notification_id=made.id, account_id=made.account_id)
        queue_mails([again, again])
        assert len(mailed(ann)) == 1


class TestWhatIsLeftOut:
    """It is decided when a mail is sent."""

    def test_what_was_read_meanwhile(self, ann: Person, bob: Person) -> None:
        bob.post("@ann hello")
        work()
        [notification] = ann.api.get("/api/v1/notifications").json()
        ann.do("markers", {"notifications": {"last_read_id": notification["id"]}})
        pass_time(ann, HOUR)
        bob.post("@ann again")
        [letter] = mailed(ann)
        assert "> @ann again" in letter.body
        assert not MailItem.objects.exists()

    @pytest.mark.parametrize(
        "change",
        ["deleted", "undone", "dismissed", "blocked", "sender suspended", "filtered", "held", "unwanted", "none"],
    )
    def test_what_is_gone_hidden_or_wanted_no_more(self, ann: Person, bob: Person, change: str) -> None:
        choose(ann, **ALL)
        post = ann.post("mine about the weather")
        bob.do(f"statuses/{post['id']}/favourite")
        work()
        match change:
            case "deleted":
                ann.do(f"statuses/{post['id']}", method="DELETE")
            case "undone":
                bob.do(f"statuses/{post['id']}/unfavourite")
            case "dismissed":
                ann.do("notifications/clear")
            case "blocked":
                ann.do(f"accounts/{bob.id}/block")
            case "sender suspended":
                suspend_account(by=OPERATOR, account=bob.account)
            case "filtered":
                keywords = [{"keyword": "weather", "whole_word": True}]
                sent = {"title": "x", "context": ["notifications"], "filter_action": "hide"}
                assert ann.api.post("/api/v2/filters", sent | {"keywords_attributes": keywords}).status_code == 200
            case "held":
                Notification.objects.update(filtered=True)
            case "unwanted":
                choose(ann, favourite_mails=False)
            case "none":
                choose(ann, notification_mails="none", favourite_mails=True)
        assert mailed(ann) == []
        connection.check_constraints()
        assert not MailItem.objects.exists()
        assert not Mailing.objects.exists()

    def test_a_post_that_the_recipient_may_read_no_more(self, ann: Person, bob: Person) -> None:
        post = bob.post("@ann hello")
        work()
        status = Status.objects.get(id=post["id"])
        status.mentions.all().delete()
        Status.objects.filter(id=status.id).update(visibility="private")
        assert mailed(ann) == []

    @pytest.mark.parametrize("change", ["suspended", "disabled", "unconfirmed", "moved", "memorial", "unapproved"])
    def test_who_may_not_be_written_to(self, ann: Person, bob: Person, change: str) -> None:
        bob.post("@ann hello")
        work()
        account, user = Account.objects.filter(id=ann.id), User.objects.filter(id=ann.user.id)
        match change:
            case "suspended":
                suspend_account(by=OPERATOR, account=ann.account)
            case "disabled":
                disable(by=OPERATOR, user=ann.user)
            case "unconfirmed":
                user.update(activated_at=None)
            case "moved":
                account.update(moved_to=bob.id)
            case "memorial":
                account.update(memorial=True)
            case "unapproved":
                user.update(approved=False)
        assert [subject for subject in subjects(mailed(ann)) if "mentioned" in subject] == []
        assert not MailItem.objects.exists()

    @pytest.mark.parametrize("wanted", [False, True])
    def test_who_streams_gets_a_mail_only_by_choice(self, ann: Person, bob: Person, wanted: bool) -> None:
        choose(ann, mails_when_online=wanted)
        bob.post("@ann hello")
        work()
        with subscribed(channels.notifications(ann.id)):
            assert len(mailed(ann)) == wanted
        assert mailed(ann, HOUR) == []

    @pytest.mark.parametrize("wanted", [False, True])
    def test_who_was_here_a_moment_ago_gets_a_mail_only_by_choice(self, ann: Person, bob: Person, wanted: bool) -> None:
        choose(ann, mails_when_online=wanted)
        bob.post("@ann hello")
        ann.do("markers", {"home": {"last_read_id": "1"}})
        assert len(mailed(ann)) == wanted


class TestMany:
    def test_ten_mails_an_hour_are_followed_by_one_of_all_others(self, ann: Person) -> None:
        make_notifications(ann, SINGLE_MAILS + SHOWN + 3)
        letters = mailed(ann)
        assert len(letters) == SINGLE_MAILS + 1
        several = letters[-1]
        assert re.fullmatch(r"@person\d+ mentioned you, and 22 more notifications", several.subject)
        assert several.body.count(" mentioned you.") == html_of(several).count(" mentioned you</bdi>") == SHOWN
        assert "\nAnd 3 more notifications.\n" in several.body
        assert not MailItem.objects.exists()

    def test_what_comes_after_those_waits_for_the_next_hour(self, ann: Person) -> None:
        make_notifications(ann, SINGLE_MAILS + 1)
        assert len(mailed(ann)) == SINGLE_MAILS + 1
        make_notifications(ann, 2)
        assert mailed(ann) == []
        assert mailed(ann, timedelta(minutes=50)) == []
        assert len(mailed(ann, timedelta(minutes=10))) == 2

    def test_hidden_ones_are_neither_shown_nor_counted(self, ann: Person) -> None:
        choose(ann, notification_mails="daily")
        hidden, *_shown = make_notifications(ann, 3)
        Status.objects.filter(id=hidden.status_id).update(deleted_at=clock.now())
        [letter] = mailed(ann, DAY)
        assert letter.subject.endswith(", and 1 more notification")

    def test_one_mail_a_day(self, ann: Person, bob: Person) -> None:
        choose(ann, notification_mails="daily")
        bob.post("@ann one", spoiler_text="warned")
        work()
        pass_time(ann, 5 * HOUR)
        bob.post("@ann two")
        interact(ann, bob, "follow")
        assert mailed(ann, 18 * HOUR) == []
        [letter] = mailed(ann, HOUR)
        assert letter.subject == "@bob follows you, and 2 more notifications"
        assert "> warned" in letter.body
        assert (
            "one" not in html_of(letter).replace("One", "")[html_of(letter).index("<body") :]
            or "@ann one" not in letter.body
        )
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

    def test_fifty_are_queued_and_one_is_written_with_as_many_statements_as_for_two(self) -> None:
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

        assert cost(2) == cost(50)

    def test_a_notification_that_nobody_wants_by_mail_costs_one_statement(self, ann: Person) -> None:
        choose(ann, notification_mails="none")
        [made] = make_notifications(ann, 1)
        with CaptureQueriesContext(connection) as caught:
            queue_mails([NotificationMade(notification_id=made.id, account_id=made.account_id)])
        assert len(caught) == 1
        assert not MailItem.objects.exists()


class TestAwayPeople:
    def summary(self, ann: Person, after: timedelta = timedelta()) -> list[Any]:
        work()
        pass_time(ann, after)
        queue_summaries()
        return mailed(ann, timedelta())

    @pytest.fixture
    def away(self, ann: Person, bob: Person) -> Person:
        """Somebody who has been away for a day less than a week, with two unread notifications."""
        choose(ann, **dict.fromkeys(ALL, False))
        pass_time(ann, 6 * DAY)
        interact(ann, bob, "follow")
        bob.post("@ann where are you")
        return ann

    def test_who_is_away_for_a_week_gets_a_summary_once_a_week(self, away: Person, bob: Person) -> None:
        assert self.summary(away) == []
        [letter] = self.summary(away, DAY)
        assert letter.subject == "2 notifications while you were away"
        assert "> @ann where are you" in letter.body
        assert self.summary(away, DAY) == []
        assert self.summary(away, 7 * DAY) == [], "nothing has happened since"
        bob.post("@ann hello?")
        [letter] = self.summary(away)
        assert letter.subject == "1 notification while you were away"
        bob.post("@ann hello??")
        assert self.summary(away, 6 * DAY) == []
        assert len(self.summary(away, DAY)) == 1

    def test_one_click_ends_summaries_alone(self, away: Person, bob: Person) -> None:
        [letter] = self.summary(away, DAY)
        address = re.search(r"(/unsubscribe/\S+)>", letter.extra_headers["List-Unsubscribe"])
        assert address is not None
        assert Client().post(address[1]).status_code == 200
        assert User.objects.get(id=away.user.id).preferences == dict.fromkeys(ALL, False) | {"summary_mails": False}
        bob.post("@ann hello?")
        assert self.summary(away, 8 * DAY) == []

    @pytest.mark.parametrize(
        "change", ["read", "back", "none", "off", "left", "suspended", "disabled", "unconfirmed", "moved", "memorial"]
    )
    def test_nobody_else_does(self, away: Person, bob: Person, change: str) -> None:
        account, user = Account.objects.filter(id=away.id), User.objects.filter(id=away.user.id)
        work()
        after = DAY
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
                after = 60 * DAY
            case "suspended":
                suspend_account(by=OPERATOR, account=away.account)
            case "disabled":
                disable(by=OPERATOR, user=away.user)
            case "unconfirmed":
                user.update(activated_at=None)
            case "moved":
                account.update(moved_to=bob.id)
            case "memorial":
                account.update(memorial=True)
        assert [one for one in subjects(self.summary(away, after)) if "away" in one] == []


class TestMailServers:
    def refuse(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> list[str]:
        """Have the mail server refuse mails; to whom they were."""
        tried: list[str] = []

        def send(letter: mail.EmailMultiAlternatives, *_arguments: Any) -> int:
            tried.append(letter.to[0])
            raise error

        monkeypatch.setattr(mail.EmailMultiAlternatives, "send", send)
        return tried

    def again(self) -> None:
        """Try again what has failed, without the pauses."""
        Mailing.objects.update(due_at=Now())
        Host.objects.update(retry_at=Now())
        MAILINGS.run()

    def test_an_address_that_is_refused_for_good_gets_no_more_until_it_is_another_one(
        self, ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patch:
            tried = self.refuse(patch, smtplib.SMTPRecipientsRefused({"x": (550, b"no such user")}))
            bob.post("@ann hello")
            mailed(ann)
            assert tried == ["ann@example.com"]
        bob.post("@ann again")
        assert mailed(ann) == []
        assert not Mailing.objects.exists()
        assert not MailItem.objects.exists()
        ann.user.email = "new@example.com"
        User.objects.filter(id=ann.user.id).update(email="new@example.com")
        bob.post("@ann at last")
        assert len(mailed(ann)) == 1

    @pytest.mark.parametrize(
        "error", [smtplib.SMTPRecipientsRefused({"x": (450, b"later")}), ConnectionRefusedError(), TimeoutError()]
    )
    def test_a_failure_that_passes_delays_mails_and_repeats_none(
        self, ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        with monkeypatch.context() as patch:
            tried = self.refuse(patch, error)
            bob.post("@ann hello")
            mailed(ann)
            bob.post("@ann more")
            work()
            MAILINGS.run()
            assert len(tried) == 1, "there is a pause"
        self.again()
        assert subjects(mailed(ann)) == ["@bob mentioned you"] * 2
        assert not Mailing.objects.exists()

    def test_what_fails_again_and_again_is_given_up_until_something_else_happens(
        self, ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patch:
            tried = self.refuse(patch, smtplib.SMTPRecipientsRefused({"x": (450, b"later")}))
            bob.post("@ann hello")
            mailed(ann)
            for _time in range(9):
                self.again()
            assert len(tried) == TERMS["mails"].attempts
        self.again()
        assert mail.outbox == []
        bob.post("@ann again")
        assert len(mailed(ann)) == 2
        assert not Mailing.objects.exists()

    def test_what_was_given_up_is_removed(self, ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch) -> None:
        self.refuse(monkeypatch, smtplib.SMTPRecipientsRefused({"x": (450, b"later")}))
        bob.post("@ann hello")
        mailed(ann)
        for _time in range(9):
            self.again()
        Mailing.objects.update(dead_at=clock.now() - DAY)
        forget_given_up()
        assert not Mailing.objects.exists()
        assert not MailItem.objects.exists()

    def test_what_arrives_while_a_mail_is_sent_is_mailed_too(
        self, ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bob.post("@ann one")
        work()
        [later] = make_notifications(ann, 1)
        MailItem.objects.filter(notification=later).delete()
        steps: list[str] = []
        write = MAILINGS.begin

        def begin(jobs: Any) -> Any:
            for one in write(jobs):
                yield one
                if not steps:
                    steps.append("queued")
                    queue_mails([NotificationMade(notification_id=later.id, account_id=later.account_id)])

        monkeypatch.setattr(MAILINGS, "begin", begin)
        assert len(mailed(ann)) == 2

    def test_somebody_whose_mail_fails_keeps_nobody_from_theirs(
        self, ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sent = mail.EmailMultiAlternatives.send

        def send(letter: mail.EmailMultiAlternatives, *arguments: Any) -> int:
            if letter.to == ["ann@example.com"]:
                raise smtplib.SMTPRecipientsRefused({"x": (450, b"later")})
            return sent(letter, *arguments)

        monkeypatch.setattr(mail.EmailMultiAlternatives, "send", send)
        carol = someone("carol")
        bob.post("@ann @carol hello")
        work()
        pass_time(ann, HOUR)
        assert len(mailed(carol)) == 1
        assert MailItem.objects.get().account_id == ann.id


def test_every_switch_has_a_name_and_each_type_a_switch() -> None:
    assert {f"{kind}_mails" for kind in MAILED_TYPES} <= SWITCHES.keys()
