"""Removes people who signed up and never showed that their e-mail address is theirs (contract, behaviours section 6)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from allauth.account.models import EmailAddress
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import Account, RetiredUsername, User
from accounts.models.user import EVERYONE_ROLE_ID
from accounts.services.sessions import sign_out_everywhere
from social.kernel import clock
from social.kernel.erasure import erase_some

#: How long they may take to confirm.
KEPT: Final = timedelta(days=7)
#: Users that one transaction removes.
STEP: Final = 100


def list_unconfirmed(*, before: datetime) -> QuerySet[EmailAddress]:
    """The addresses of those who signed up before a moment and have not confirmed; the oldest first.

    Whoever has used their account, or was given a role by staff, is not among them.
    """
    waiting: QuerySet[EmailAddress] = EmailAddress.objects.filter(primary=True, verified=False)
    waiting = waiting.filter(user__activated_at=None, user__role_id=EVERYONE_ROLE_ID, user__created_at__lt=before)
    return waiting.select_related("user__account").order_by("user__created_at", "user_id")


def remove_unconfirmed(*, kept: timedelta = KEPT) -> int:
    """Remove those who signed up longer ago than `kept` and never confirmed, with all that is theirs; how many.

    Nobody has ever seen them, so their names and addresses are free again, and nothing is sent to other servers. Works in
    transactions of at most STEP users, so that it can be stopped at any time; who confirms at the same moment stays. Run by
    the scheduler.
    """
    before = clock.now() - kept
    removed = 0
    while count := _remove_some(before):
        removed += count
    return removed


def _remove_some(before: datetime) -> int:
    with transaction.atomic():
        # A confirmation takes this row first too.
        rows = list_unconfirmed(before=before).select_for_update(of=("self",), skip_locked=True)
        users: list[User] = [address.user for address in rows[:STEP]]
        if not users:
            return 0
        for user in users:
            sign_out_everywhere(user=user)
        ids = [user.account_id for user in users]
        while not erase_some(Account, ids):
            pass
        # The database retires the name of every account that goes; these nobody could have mistaken for somebody.
        names = [user.account.username.lower() for user in users]
        RetiredUsername.objects.filter(username__one_of=names).delete()
    return len(users)
