"""Tests of mail servers that refuse mails permanently or temporarily, and of retries."""

import smtplib
from typing import Any

import pytest
from django.core import mail
from django.db.models.functions import Now

from accounts.models import User
from notifications.events import NotificationMade
from notifications.models import Mailing, MailItem
from notifications.senders.mails import MAILINGS, queue_mails
from social.kernel import clock
from social.kernel.runner import TERMS, Host, forget_given_up
from tests.notifications.mailing import (
    DAY,
    HOUR,
    ann,
    bob,
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


class TestMailServers:
    def refuse(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> list[str]:
        """Make the mail server refuse mails, and return a list to which their recipients are added."""
        tried: list[str] = []

        def send(letter: mail.EmailMultiAlternatives, *_arguments: Any) -> int:
            tried.append(letter.to[0])
            raise error

        monkeypatch.setattr(mail.EmailMultiAlternatives, "send", send)
        return tried

    def again(self) -> None:
        """Retry failed mails without the pauses."""
        Mailing.objects.update(due_at=Now())
        Host.objects.update(retry_at=Now())
        MAILINGS.run()

    def test_a_permanently_refused_address_gets_no_mails_until_it_is_changed(
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
    def test_a_temporary_failure_delays_mails_and_repeats_none(
        self, ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        with monkeypatch.context() as patch:
            tried = self.refuse(patch, error)
            bob.post("@ann hello")
            mailed(ann)
            carol = someone("carol")
            bob.post("@ann @carol more")
            mailed(carol)
            refused_one = isinstance(error, smtplib.SMTPRecipientsRefused)
            assert tried == ["ann@example.com", "carol@example.com"][: 1 + refused_one], (
                "no further mail is tried during the pause"
            )
        self.again()
        assert subjects(mailed(ann)) == ["@bob mentioned you"] * 2
        assert not Mailing.objects.exists()

    def test_a_mail_that_keeps_failing_is_given_up_until_a_new_notification(
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

    def test_mails_that_were_given_up_are_removed(
        self, ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.refuse(monkeypatch, smtplib.SMTPRecipientsRefused({"x": (450, b"later")}))
        bob.post("@ann hello")
        mailed(ann)
        for _time in range(9):
            self.again()
        Mailing.objects.update(dead_at=clock.now() - DAY)
        forget_given_up()
        assert not Mailing.objects.exists()
        assert not MailItem.objects.exists()

    def test_notifications_that_arrive_while_a_mail_is_sent_are_mailed_too(
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

    def test_a_failing_mail_to_one_user_delays_no_other(
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
