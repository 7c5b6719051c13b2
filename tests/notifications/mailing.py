"""Helpers for the tests of mails: users with their mails, and letting time pass."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db.models import F

from accounts.identity.services.staff import disable
from accounts.models import Account, User
from accounts.policies.mails import MAILED_TYPES
from accounts.policies.staff import OPERATOR
from accounts.services.sanctions import suspend_account
from notifications.events import NotificationMade
from notifications.models import Mailing, MailRecord, Notification
from notifications.senders.mails import MAILINGS, queue_mails
from social.kernel import clock
from tests.factories.accounts import make_account
from tests.factories.statuses import make_status
from tests.notifications.people import Person
from tests.support.work import work
from timelines.models import Marker

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ALL = {f"{kind}_mails": True for kind in MAILED_TYPES}


@pytest.fixture
def ann() -> Person:
    return someone("ann")


@pytest.fixture
def bob() -> Person:
    return someone("bob")


def someone(name: str) -> Person:
    """Create a user who was active an hour ago."""
    person = Person(name)
    User.objects.filter(id=person.user.id).update(active_at=clock.now())
    pass_time(person, HOUR)
    mail.outbox.clear()
    return person


def pass_time(person: Person, time: timedelta) -> None:
    """Move the times of all the user's actions and queued mails into the past."""
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
    """Let this much time pass, run all jobs, and return the user's new mails."""
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
    """Let Bob cause a notification of this type for Ann, over the API."""
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
    """Create this many notifications, each from a different account about a different post, and queue them for mails."""
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


def keep_from_mails(person: Person, how: str, *, successor: Person) -> None:
    """Put a user into a state in which they get no mail: suspended, disabled, unconfirmed, moved to the successor, or
    memorialised.
    """
    account, user = Account.objects.filter(id=person.id), User.objects.filter(id=person.user.id)
    match how:
        case "suspended":
            suspend_account(by=OPERATOR, account=person.account)
        case "disabled":
            disable(by=OPERATOR, user=person.user)
        case "unconfirmed":
            user.update(activated_at=None)
        case "moved":
            account.update(moved_to=successor.id)
        case "memorial":
            account.update(memorial=True)
        case _:
            raise ValueError(how)
