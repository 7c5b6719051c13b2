"""Knows which inboxes an activity goes to, each server's once (contract, federation section 12).

A post goes where it is addressed and nowhere else: private ones to followers and those mentioned, direct ones to those
mentioned only.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q, QuerySet, TextField, Value
from django.db.models.functions import Coalesce, NullIf

from accounts.models import Account
from statuses.models import Status, Visibility

_TO_FOLLOWERS = (Visibility.PUBLIC, Visibility.UNLISTED, Visibility.PRIVATE)


def inboxes_of(accounts: QuerySet[Account]) -> set[str]:
    """The inboxes of these accounts, as far as they live elsewhere: the shared one of their server if it has one."""
    remote = accounts.filter(domain__isnull=False, suspended_at=None).exclude(inbox_url="")
    shared = remote.annotate(way=Coalesce(NullIf("shared_inbox_url", Value("", TextField())), "inbox_url"))
    return set(shared.values_list("way", flat=True))


def inbox_of(account: Account) -> set[str]:
    """One account's own inbox; none for one of ours."""
    return {account.inbox_url} if not account.local and account.inbox_url else set()


def followers_inboxes(account: Account) -> set[str]:
    """Where everybody hears what an account tells its followers."""
    return inboxes_of(Account.objects.filter(following__target=account))


def accounts_inboxes(account_ids: Iterable[int]) -> set[str]:
    """The inboxes of accounts by their ids."""
    return inboxes_of(Account.objects.filter(id__in=list(account_ids)))


def post_inboxes(status: Status) -> set[str]:
    """Where a post (or boost) goes: to those it addresses, and in public to the author it answers or boosts."""
    found = inboxes_of(Account.objects.filter(mentions__status=status))
    if status.visibility in _TO_FOLLOWERS:
        found |= followers_inboxes(status.account)
    if status.is_public:
        boosted = status.reblog_of
        people = (status.in_reply_to_account_id, boosted.account_id if boosted is not None else None)
        found |= accounts_inboxes(number for number in people if number is not None)
    return found


def reached_inboxes(status: Status) -> set[str]:
    """Where a post may have arrived: `post_inboxes` and, in public, whoever has boosted, liked or answered it."""
    found = post_inboxes(status)
    if status.is_public:
        found |= inboxes_of(
            Account.objects.filter(
                Q(statuses__reblog_of=status) | Q(favourites__status=status) | Q(statuses__in_reply_to=status)
            )
        )
    return found
