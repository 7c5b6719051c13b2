"""Checks many remote accounts on their servers: refreshes them, or finds the accounts that no longer exist.

`refresh_accounts` and `cull_accounts` handle the accounts one after the other and yield the outcome of each, so that a caller
can show it, and can stop without losing the outcomes so far. A server that does not answer is asked only once in a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from enum import StrEnum
from typing import Final

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Lower, Now

from accounts.models import Account, Follow
from accounts.models.account import SuspensionOrigin
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from accounts.services.changing import note_fetched
from accounts.services.erasing import delete_account
from federation.documents.reading import Rejected, kinds_of, origin_of
from federation.models import Delivery, Fetch, FetchKind
from federation.remote import webfinger
from federation.remote.actors import refresh
from federation.remote.fetching import Missing, fetch_document
from federation.remote.requests import request_actors
from social.kernel import clock
from social.kernel.errors import Unavailable
from social.kernel.runner import Host

ACTIVITY_PERIOD: Final = timedelta(days=7)
UNSEEN_PERIOD: Final = timedelta(days=7)
REQUESTED_AT_ONCE: Final = 500
_GONE_STATUSES: Final = (404, 410)


class Finding(StrEnum):
    """Outcome of a check of an account."""

    THERE = "there"
    GONE = "gone"
    UNCLEAR = "unclear"
    """The account's server answers, but the answer does not show whether the account exists."""
    SILENT = "silent"
    """The account's server cannot be reached."""


def list_known(domain: str | None = None, *, unseen_for: timedelta = timedelta()) -> QuerySet[Account]:
    """Return the remote accounts that were not fetched for the time `unseen_for`, with `domain` only accounts of that
    server; the accounts fetched longest ago come first.

    Two kinds of accounts are left out: accounts that are being removed, and accounts that staff of this server have suspended,
    whose rows must remain.
    """
    rows = Account.objects.exclude(domain=None).filter(deleted_at=None)
    rows = rows.exclude(suspension_origin=SuspensionOrigin.LOCAL)
    if domain is not None:
        rows = rows.alias(server=Lower("domain")).filter(server=domain.lower())
    if unseen_for:
        rows = rows.filter(Q(fetched_at=None) | Q(fetched_at__lt=clock.now() - unseen_for))
    return rows.order_by(F("fetched_at").asc(nulls_first=True), "id")


def refresh_accounts(*, by: Staff, accounts: Iterable[Account], about: str) -> Iterator[tuple[Account, Finding]]:
    """Fetch each account again and store what its server says. Raises Forbidden at the first step.

    `about` describes the selected accounts in the audit log. Every account counts as fetched, whatever the outcome.
    """
    _record_start(by, "refresh", about)
    silent = _silent_hosts()
    for account in accounts:
        found = _refresh(account, silent)
        if found is not Finding.THERE:
            note_fetched(account.id)
        yield account, found


def cull_accounts(
    *, by: Staff, accounts: Iterable[Account], about: str, dry_run: bool = False
) -> Iterator[tuple[Account, Finding]]:
    """Delete the accounts that no longer exist on their servers; with `dry_run` the accounts are only checked. Raises Forbidden
    at the first step.

    An account no longer exists when its server answers 410 or with a Tombstone, or 404 both for the account and for its
    address. All other accounts count as fetched, so that the next run continues after them.
    """
    _record_start(by, "cull", about, dry_run=dry_run)
    silent = _silent_hosts()
    for account in accounts:
        found = _look_for(account, silent)
        if not dry_run:
            if found is Finding.GONE:
                delete_account(by=by, account=account)
            else:
                note_fetched(account.id)
        yield account, found


def request_unseen() -> int:
    """Request a fetch of remote accounts that local accounts follow and that were not fetched for UNSEEN_PERIOD: at
    most REQUESTED_AT_ONCE, those fetched longest ago first. Returns the number of requests. Accounts that are already
    requested are left out (contract, federation section 4).
    """
    followed = Follow.objects.filter(target=OuterRef("id"), account__domain=None)
    existing_fetches = Fetch.objects.filter(kind=FetchKind.ACTOR, uri=OuterRef("uri"))
    rows = list_known(unseen_for=UNSEEN_PERIOD).filter(Exists(followed), ~Exists(existing_fetches))
    return request_actors(rows[:REQUESTED_AT_ONCE])


def _record_start(by: Staff, action: str, about: str, **details: bool) -> None:
    require(by, Permission.MANAGE_FEDERATION)
    record(by=by, action=action, target_type="Server", target_id=0, target_name=about, **details)


def _silent_hosts() -> set[str]:
    """Return the hosts to which deliveries have backed off: no account is fetched from them."""
    return set(
        Host.objects.filter(queue=Delivery.queue, failures__gt=0, retry_at__gt=Now()).values_list("name", flat=True)
    )


def _refresh(account: Account, silent: set[str]) -> Finding:
    host = origin_of(account.uri) or ""
    if host in silent:
        return Finding.SILENT
    try:
        refresh(account)
    except Rejected:
        return Finding.UNCLEAR
    except Unavailable:
        silent.add(host)
        return Finding.SILENT
    return Finding.THERE


def _look_for(account: Account, silent: set[str]) -> Finding:
    host = origin_of(account.uri) or ""
    if host in silent:
        return Finding.SILENT
    try:
        return _ask(account)
    except Rejected:
        return Finding.UNCLEAR
    except Unavailable:
        silent.add(host)
        return Finding.SILENT


def _ask(account: Account) -> Finding:
    try:
        document = fetch_document(account.uri)
    except Missing as missing:
        if missing.status == 410:
            return Finding.GONE
        if missing.status not in _GONE_STATUSES:
            raise
    else:
        return Finding.GONE if "Tombstone" in kinds_of(document) else Finding.THERE
    # A 404 may also come from a server that was reinstalled or hides the document; the account is gone only if WebFinger does
    # not find it either.
    try:
        webfinger.look_up(account.username, account.domain or "")
    except Missing as missing:
        return Finding.GONE if missing.status in _GONE_STATUSES else Finding.UNCLEAR
    return Finding.UNCLEAR
