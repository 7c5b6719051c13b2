"""Reads the polls of a page of posts, and what viewers have voted in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from social.kernel.statements import fetch
from statuses.models import Poll

_VOTES: Final = """
SELECT v.account_id, q.status_id, array_agg(v.choice ORDER BY v.id)
  FROM statuses_poll q JOIN statuses_pollvote v ON v.poll_id = q.id
 WHERE q.status_id = ANY(%(statuses)s) AND v.account_id = ANY(%(accounts)s)
 GROUP BY 1, 2
"""


def load_polls(status_ids: Iterable[int]) -> dict[int, Poll]:
    """The polls of these posts, by post. One query, none for no posts."""
    ids = list(status_ids)
    return {poll.status_id: poll for poll in Poll.objects.filter(status_id__one_of=ids)} if ids else {}


def load_votes(account_ids: Collection[int], status_ids: Collection[int]) -> dict[int, dict[int, list[int]]]:
    """What these accounts have voted in the polls of these posts: choices by account and post. One query at most."""
    found: dict[int, dict[int, list[int]]] = {}
    if not account_ids or not status_ids:
        return found
    values = {"accounts": list(account_ids), "statuses": list(status_ids)}
    for account_id, status_id, choices in fetch(_VOTES, values):
        found.setdefault(account_id, {})[status_id] = choices
    return found
