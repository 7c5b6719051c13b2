"""Which inboxes an activity goes to, each server's once (contract, federation section 12).

A post goes where it is addressed and nowhere else: private ones to followers and those mentioned, direct ones to those
mentioned only.
"""

from __future__ import annotations

from typing import Any, Final

from django.db import connection

from accounts.models import Account
from statuses.models import Status
from statuses.policies.visibility import FOR_FOLLOWERS

# The shared inbox of a server, where it has one, stands for everybody there.
_INBOXES: Final = """
SELECT DISTINCT COALESCE(NULLIF(a.shared_inbox_url, ''), a.inbox_url) FROM accounts_account a
 WHERE a.domain IS NOT NULL AND a.suspended_at IS NULL AND a.inbox_url <> '' AND a.id IN ({people})
"""
_FOLLOWERS: Final = "SELECT account_id FROM accounts_follow WHERE target_id = %(author)s AND follower_state = 'remote'"
_EVERYBODY: Final = "SELECT id FROM accounts_account WHERE domain IS NOT NULL"
_MENTIONED: Final = "SELECT account_id FROM statuses_mention WHERE status_id = %(status)s"
_CONCERNED: Final = "SELECT unnest(%(concerned)s::bigint[])"
# What answers a deleted post names it no more except in its path.
_TOUCHED: Final = """
SELECT account_id FROM statuses_status WHERE reblog_of_id = %(status)s
UNION SELECT account_id FROM statuses_status
       WHERE thread_id = %(thread)s AND thread_path[array_length(thread_path, 1) - 1] = %(status)s
UNION SELECT account_id FROM statuses_favourite WHERE status_id = %(status)s
"""


def inbox_of(account: Account) -> set[str]:
    """One account's own inbox; none for one of ours."""
    return {account.inbox_url} if not account.local and account.inbox_url else set()


def followers_inboxes(account: Account) -> set[str]:
    """The inboxes of an account's followers."""
    return _inboxes(_FOLLOWERS, author=account.id)


def known_inboxes() -> set[str]:
    """An inbox of every server that is known here."""
    return _inboxes(_EVERYBODY)


def post_inboxes(status: Status) -> set[str]:
    """Where a post (or boost) goes: to those it addresses, and in public to the author it answers or boosts."""
    return _post_inboxes(status)


def reached_inboxes(status: Status) -> set[str]:
    """Where a post may have arrived: `post_inboxes` and, in public, whoever has boosted, liked or answered it."""
    return _post_inboxes(status, *([_TOUCHED] if status.is_public else []))


def _post_inboxes(status: Status, *more: str) -> set[str]:
    people = [_MENTIONED, *more]
    concerned: list[int] = []
    if status.visibility in FOR_FOLLOWERS:
        people.append(_FOLLOWERS)
    if status.is_public:
        boosted = status.reblog_of
        found = (status.in_reply_to_account_id, boosted.account_id if boosted is not None else None)
        concerned = [number for number in found if number is not None]
        people.append(_CONCERNED)
    return _inboxes(
        *people, status=status.id, thread=status.thread_root_id, author=status.account_id, concerned=concerned
    )


def _inboxes(*people: str, **parameters: Any) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(_INBOXES.format(people=" UNION ".join(people)), parameters)
        return {inbox for (inbox,) in cursor.fetchall()}
