"""Tests of notifications that are not mailed: those that were read, are hidden, or are for users who must not get mails."""

import pytest
from django.db import connection

from accounts.models import Account, User
from accounts.policies.staff import OPERATOR
from accounts.services.sanctions import suspend_account
from notifications.models import Mailing, MailItem, Notification
from social.kernel import clock
from statuses.models import Status
from tests.conformance.test_seed_events import subscribed
from tests.notifications.mailing import (
    ALL,
    HOUR,
    ann,
    bob,
    choose,
    keep_from_mails,
    mailed,
    pass_time,
    subjects,
)
from tests.notifications.people import Person
from tests.support.work import work
from timelines.stores import channels

__all__ = ["ann", "bob"]
pytestmark = pytest.mark.django_db


class TestWhatIsLeftOut:
    """The notifications in a mail are selected only when the mail is sent."""

    def test_notifications_that_were_read_are_not_mailed(self, ann: Person, bob: Person) -> None:
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
    def test_notifications_that_are_deleted_hidden_or_unwanted_are_not_mailed(
        self, ann: Person, bob: Person, change: str
    ) -> None:
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
        assert not MailItem.objects.exists()

    @pytest.mark.parametrize(
        "change", ["suspended", "disabled", "unconfirmed", "moved", "memorial", "deleted", "unapproved"]
    )
    def test_users_who_cannot_be_mailed_get_no_mail(self, ann: Person, bob: Person, change: str) -> None:
        bob.post("@ann hello")
        work()
        account, user = Account.objects.filter(id=ann.id), User.objects.filter(id=ann.user.id)
        match change:
            case "deleted":
                account.update(deleted_at=clock.now())
            case "unapproved":
                user.update(approved=False)
            case _:
                keep_from_mails(ann, change, successor=bob)
        assert [subject for subject in subjects(mailed(ann)) if "mentioned" in subject] == []
        assert not MailItem.objects.exists()

    @pytest.mark.parametrize("wanted", [False, True])
    def test_a_user_with_an_open_stream_gets_mails_only_by_choice(self, ann: Person, bob: Person, wanted: bool) -> None:
        choose(ann, mails_when_online=wanted)
        bob.post("@ann hello")
        work()
        with subscribed(channels.notifications(ann.id)):
            assert len(mailed(ann)) == wanted
        assert mailed(ann, HOUR) == []

    @pytest.mark.parametrize("wanted", [False, True])
    def test_a_user_who_was_just_active_gets_mails_only_by_choice(self, ann: Person, bob: Person, wanted: bool) -> None:
        choose(ann, mails_when_online=wanted)
        bob.post("@ann hello")
        ann.do("markers", {"home": {"last_read_id": "1"}})
        assert len(mailed(ann)) == wanted
