"""Selects the inboxes to which an activity is sent, one for each server of its audience (contract, federation section 12)."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, Final, TypeVar

from django.db import connection

from accounts.models import Account
from accounts.policies.audience import PRESENT
from social.kernel import clock
from social.kernel.events import Event
from social.kernel.ids import first_at
from statuses.policies.posts import Post
from statuses.policies.visibility import FEDERATED_POST, FOLLOWER_VISIBILITIES, is_for_anybody, is_listed

E = TypeVar("E", bound=Event)

# One delivery to a shared inbox reaches every account of its server.
_INBOXES: Final = f"""
SELECT DISTINCT COALESCE(NULLIF(a.shared_inbox_url, ''), a.inbox_url) FROM accounts_account a
 WHERE a.domain IS NOT NULL AND {PRESENT.sql("a.id", has_viewer=False, joined="a")} AND a.inbox_url <> ''
   AND a.id IN ({{people}})
"""  # noqa: S608 (constants)
_RELAYS: Final = "UNION SELECT inbox_url FROM federation_relay WHERE state = 'accepted'"
_FOLLOWERS: Final = "SELECT account_id FROM accounts_follow WHERE target_id = %(author)s AND follower_state = 'remote'"
_FOLLOWERS_OF_SEVERAL: Final = _FOLLOWERS.replace("= %(author)s", "= ANY(%(people)s)")
_REMOTE_ACCOUNTS: Final = "SELECT id FROM accounts_account WHERE domain IS NOT NULL"
_MENTIONED: Final = "SELECT account_id FROM statuses_mention WHERE status_id = %(status)s"
_RECENTLY_MENTIONED: Final = f"""
SELECT m.account_id FROM statuses_mention m WHERE m.status_id IN (
  SELECT s.id FROM statuses_status s WHERE s.account_id = ANY(%(people)s) AND s.id >= %(since)s AND {FEDERATED_POST}
   ORDER BY s.id DESC LIMIT 200)
"""  # noqa: S608 (constants)
RECENT_PERIOD: Final = timedelta(days=2)
# Contract, federation section 6: the mentioned accounts that follow a limited author, or have asked to follow the author.
_MENTIONED_FOLLOWERS: Final = """
SELECT m.account_id FROM statuses_mention m WHERE m.status_id = %(status)s AND EXISTS (
  SELECT 1 FROM accounts_follow f WHERE f.account_id = m.account_id AND f.target_id = %(author)s UNION ALL
  SELECT 1 FROM accounts_followrequest r WHERE r.account_id = m.account_id AND r.target_id = %(author)s)
"""
_CONCERNED_ACCOUNTS: Final = "SELECT unnest(%(concerned)s::bigint[])"
# Replies are found by `thread_path`, because `in_reply_to_id` no longer refers to a post that was deleted.
_INTERACTING_ACCOUNTS: Final = """
SELECT account_id FROM statuses_status WHERE reblog_of_id = %(status)s
UNION SELECT account_id FROM statuses_status
       WHERE thread_id = (SELECT COALESCE(thread_id, id) FROM statuses_status WHERE id = %(status)s)
         AND thread_path[array_length(thread_path, 1) - 1] = %(status)s
UNION SELECT account_id FROM statuses_favourite WHERE status_id = %(status)s
UNION SELECT v.account_id FROM statuses_pollvote v JOIN statuses_poll p ON p.id = v.poll_id
       WHERE p.status_id = %(status)s
"""


def inbox_of(account: Account) -> set[str]:
    """Return a set with the inbox of a remote account; an empty set for a local account."""
    return {account.inbox_url} if not account.local and account.inbox_url else set()


def load_pairs(events: Sequence[E], first: str, second: str) -> Iterator[tuple[E, Account, Account]]:
    """Yield each event with two accounts, if both exist; `first` and `second` are the names of the event's members that hold
    the ids of the accounts. One query.
    """
    account_ids = {getattr(event, name) for event in events for name in (first, second)}
    accounts = Account.objects.filter(id__one_of=account_ids).in_bulk()
    for event in events:
        one, other = accounts.get(getattr(event, first)), accounts.get(getattr(event, second))
        if one is not None and other is not None:
            yield event, one, other


def servers_inboxes(*account_ids: int) -> set[str]:
    return _inboxes(_CONCERNED_ACCOUNTS, relays=False, concerned=list(account_ids))


def followers_inboxes(*account_ids: int) -> set[str]:
    return _inboxes(_FOLLOWERS_OF_SEVERAL, relays=False, people=list(account_ids))


def profile_inboxes(account_id: int) -> set[str]:
    """Return the inboxes of an account's followers, of accounts that its posts have mentioned recently, and of relays."""
    since = first_at(clock.now() - RECENT_PERIOD)
    return _inboxes(_FOLLOWERS_OF_SEVERAL, _RECENTLY_MENTIONED, relays=True, people=[account_id], since=since)


def known_inboxes() -> set[str]:
    """Return an inbox of every known server, and the inboxes of relays."""
    return _inboxes(_REMOTE_ACCOUNTS, relays=True)


def post_inboxes(post: Post) -> set[str]:
    """Return the inboxes to which a post or boost is sent.

    A public or unlisted post is also sent to the author of its parent or of the boosted post, and a public post to relays. A
    limited author's post is sent only to accounts that follow the author or have requested to follow the author, and to the
    boosted author (contract, federation section 6).
    """
    if post.author.is_limited:
        return _post_inboxes(post, _MENTIONED_FOLLOWERS, answered_id=None)
    return _post_inboxes(post, _MENTIONED, answered_id=post.in_reply_to_account_id, relays=True)


def edited_inboxes(post: Post) -> set[str]:
    """Return the inboxes to which an edit is sent: the result of `post_inboxes` and, for public and unlisted posts, the inboxes
    of accounts that have boosted, favourited or replied to the post, or voted in its poll.
    """
    if post.author.is_limited:
        return _post_inboxes(post, _MENTIONED_FOLLOWERS, *_inboxes_of_interactions(post), answered_id=None)
    return reached_inboxes(post)


def reached_inboxes(post: Post) -> set[str]:
    """Return the inboxes to which a post may have been delivered: the result of `edited_inboxes`, and the inboxes of all
    mentioned accounts, of the parent's author, and of relays.
    """
    people = (_MENTIONED, *_inboxes_of_interactions(post))
    return _post_inboxes(post, *people, answered_id=post.in_reply_to_account_id, relays=True)


def _inboxes_of_interactions(post: Post) -> list[str]:
    return [_INTERACTING_ACCOUNTS] if is_for_anybody(post.visibility) else []


def _post_inboxes(post: Post, *people: str, answered_id: int | None, relays: bool = False) -> set[str]:
    if post.local_only or post.proper.local_only:
        return set()
    concerned: list[int] = []
    if post.visibility in FOLLOWER_VISIBILITIES:
        people = (*people, _FOLLOWERS)
    if is_for_anybody(post.visibility):
        account_ids = (answered_id, post.original.account_id if post.original is not None else None)
        concerned = [number for number in account_ids if number is not None]
        people = (*people, _CONCERNED_ACCOUNTS)
    relays = relays and is_listed(post.visibility)
    return _inboxes(*people, relays=relays, status=post.id, author=post.account_id, concerned=concerned)


def _inboxes(*people: str, relays: bool, **parameters: Any) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(_INBOXES.format(people=" UNION ".join(people)) + (_RELAYS if relays else ""), parameters)
        return {inbox for (inbox,) in cursor.fetchall()}
