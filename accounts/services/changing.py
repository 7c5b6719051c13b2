"""Writes rows of accounts: whoever changes one goes through here, so that nothing cached outlives the change."""

from __future__ import annotations

from typing import Any, Final

from django.db import transaction
from django.db.models import F

from accounts.events import AccountRenamed
from accounts.models import Account
from social.kernel import clock
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
