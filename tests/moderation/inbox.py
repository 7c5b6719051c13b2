"""Helpers for the tests of the inbox: creating reports, and deciding about them."""

from typing import Any

from django.test import Client

from accounts.models import Account
from moderation.models import Report, Strike
from statuses.models import Status
from tests.factories.accounts import make_account

INBOX = "/admin/moderation/report/inbox/"


def report(target: Account, *posts: Status, comment: str = "") -> Report:
    return Report.objects.create(
        account=make_account(), target_account=target, status_ids=[post.id for post in posts], comment=comment
    )


def strike(target: Account, action: str) -> Strike:
    return Strike.objects.create(target_account=target, action=action, text="Too much")


def case(target: Account) -> str:
    return f"{INBOX}{target.pk}/"


def decided(client: Client, target: Account, *acts: str, **sent: Any) -> Any:
    ids = list(Report.objects.filter(target_account=target, action_taken_at=None).values_list("id", flat=True))
    posts = {number for report in Report.objects.filter(pk__in=ids) for number in report.status_ids}
    return client.post(
        case(target), {"report": ids, "post": sorted(posts), "acts": acts, "text": "", "note": "", **sent}
    )


def open_of(target: Account) -> int:
    return Report.objects.filter(target_account=target, action_taken_at=None).count()
