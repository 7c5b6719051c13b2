"""Writes rows of accounts and their counters: whoever changes an account goes through here, so that nothing cached
outlives the change.
"""

from __future__ import annotations

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

# What posts that mention an account show of it.
_SHOWN_IN_MENTIONS: Final = frozenset({"username", "domain", "url", "uri"})


def change_account(account_id: int, **values: Any) -> None:
    """Write these columns and raise the version: every cached body of the account is stale from the commit on.

    Without columns for what the account shows and another table holds: its role. Announces AccountRenamed when posts
    that mention the account show what was written. The caller says what else has happened (ProfileUpdated).
    """
    with transaction.atomic():
        Account.objects.filter(id=account_id).update(version=F("version") + 1, **values)
        if not _SHOWN_IN_MENTIONS.isdisjoint(values):
            publish(AccountRenamed(account_id=account_id))


def note_fetched(account_id: int) -> None:
    """Remember that an account of another server was looked at just now, whatever came of it. It shows nowhere."""
    Account.objects.filter(id=account_id, domain__isnull=False).update(fetched_at=clock.now())


Counter = Literal["followers_count", "following_count", "statuses_count"]
# Not that of posts: those that are fetched later its server has counted.
_SAID: Final[Mapping[Counter, str]] = {"following_count": "following_total", "followers_count": "followers_total"}
_COUNTERS = Counters[Counter]("accounts_accountstat", "account_id", get_args(Counter), _SAID)


def bump(changes: Mapping[tuple[int, Counter], int]) -> None:
    """Add to counters, keyed by (account id, counter)."""
    _COUNTERS.bump(changes)


def count_status(account_id: int, by: int, at: datetime | None) -> None:
    """Count one post more or less; a new one also moves `last_status_at` forward."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_accountstat (account_id, statuses_count, following_count, followers_count, "
            "last_status_at) VALUES (%(id)s, GREATEST(%(by)s, 0), 0, 0, %(at)s) ON CONFLICT (account_id) DO UPDATE SET "
            "statuses_count = GREATEST(accounts_accountstat.statuses_count + %(by)s, 0), "
            "last_status_at = GREATEST(accounts_accountstat.last_status_at, %(at)s)",
            {"id": account_id, "by": by, "at": at},
        )
