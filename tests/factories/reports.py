"""Helper that creates reports."""

from typing import Any

from accounts.models import Account
from moderation.models import Report
from statuses.models import Status


def make_report(by: Account, about: Account, *posts: Status, **values: Any) -> Report:
    return Report.objects.create(account=by, target_account=about, status_ids=[post.id for post in posts], **values)
