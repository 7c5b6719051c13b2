"""Writes rows of accounts and their counters; every change is made here, so that cached copies become stale."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal, get_args

from django.db import connection, transaction
from django.db.models import F

from accounts.events import AccountRenamed
from accounts.models import Account
from social.kernel import clock
from social.kernel.counters import Counters
from social.kernel.events import publish

# Columns of an account that are visible in posts that mention it.
_SHOWN_IN_MENTIONS: Final = frozenset({"username", "domain", "url", "uri"})


def change_account(account_id: int, **values: Any) -> None:
    """Write these columns and increase the version, which makes every cached body of the account stale from the commit on.

    Without columns, only the version is increased, for example after a change of the user's role. Publishes AccountRenamed if
    posts that mention the account show a written column; the caller publishes all other events.
    """
    with transaction.atomic():
        Account.objects.filter(id=account_id).update(version=F("version") + 1, **values)
        if not _SHOWN_IN_MENTIONS.isdisjoint(values):
            publish(AccountRenamed(account_id=account_id))


def record_fetch(account_id: int) -> None:
    """Record that a fetch of a remote account was just attempted, successful or not. No cached body contains the time."""
    Account.objects.filter(id=account_id, domain__isnull=False).update(fetched_at=clock.now())


Counter = Literal["followers_count", "following_count", "statuses_count"]
# Posts are not counted here, because the total that the account's server states already includes posts that are fetched later.
_SAID: Final[Mapping[Counter, str]] = {"following_count": "following_total", "followers_count": "followers_total"}
_COUNTERS = Counters[Counter]("accounts_accountstat", "account_id", get_args(Counter), _SAID)


def bump(changes: Mapping[tuple[int, Counter], int]) -> None:
    """Add these changes to counters; the keys are pairs (account id, counter)."""
    _COUNTERS.bump(changes)


def count_status(account_id: int, by: int, at: datetime | None) -> None:
    """Add `by`, which may be negative, to the number of posts; a new post also moves `last_status_at` forward."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_accountstat (account_id, statuses_count, following_count, followers_count, "
            "last_status_at) VALUES (%(id)s, GREATEST(%(by)s, 0), 0, 0, %(at)s) ON CONFLICT (account_id) DO UPDATE SET "
            "statuses_count = GREATEST(accounts_accountstat.statuses_count + %(by)s, 0), "
            "last_status_at = GREATEST(accounts_accountstat.last_status_at, %(at)s)",
            {"id": account_id, "by": by, "at": at},
        )
