"""People who look elsewhere get by mail what concerns them, as they chose: not what they have read, nor what is gone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db.models import F

from accounts.models import User
from notifications.models import Mailing, MailRecord, Notification
from notifications.senders.mails import MAILINGS
from tests.notifications.test_web_push import Person
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> Person:
    return someone("ann")


@pytest.fixture
def bob() -> Person:
    return someone("bob")


def someone(name: str) -> Person:
    """A person who was here an hour ago."""
    person = Person(name)
    pass_time(person, timedelta(hours=1))
    mail.outbox.clear()
    return person


def pass_time(person: Person, time: timedelta) -> None:
    """Have everything that a person has done, and that waits for them, be so much older."""
    User.objects.filter(id=person.user.id).update(created_at=F("created_at") - time, active_at=F("active_at") - time)
    Notification.objects.filter(account_id=person.id).update(created_at=F("created_at") - time)
    Mailing.objects.filter(account_id=person.id).update(due_at=F("due_at") - time)
    MailRecord.objects.filter(account_id=person.id).update(
        began_at=F("began_at") - time, summary_at=F("summary_at") - time
    )


def choose(person: Person, **preferences: Any) -> None:
    User.objects.filter(id=person.user.id).update(preferences=preferences)


def mailed(person: Person, after: timedelta = timedelta(minutes=2)) -> list[mail.EmailMultiAlternatives]:
    """The mails that a person has got after so much time."""
    work()
    pass_time(person, after)
    MAILINGS.run()
    found = [letter for letter in mail.outbox if letter.to == [person.user.email]]
    mail.outbox[:] = [letter for letter in mail.outbox if letter not in found]
    return found


def subjects(letters: list[mail.EmailMultiAlternatives]) -> list[str]:
    return [str(letter.subject) for letter in letters]


def test_who_is_mentioned_gets_a_mail_two_minutes_later(ann: Person, bob: Person) -> None:
    posted = bob.post("@ann Grüße & <3\n\nBob")
    assert mailed(ann, timedelta(seconds=110)) == []
    [letter] = mailed(ann, timedelta(seconds=10))
    assert letter.subject == "@bob mentioned you"
    assert "Hello @ann," in letter.body
    assert "\n> @ann Grüße & <3\n" in letter.body
    assert f"\n{posted['url']}\n" in letter.body
    [(html, kind)] = letter.alternatives
    assert kind == "text/html"
    assert "Grüße &amp; &lt;3" in html
    assert f'href="{posted["url"]}"' in html
    assert mailed(ann, timedelta(days=1)) == []
