"""Checks many remote accounts with their servers: refreshes the accounts, or deletes accounts that no longer exist.

Both functions yield the outcome for each account, so that a caller can show the outcomes and can stop. A server that does not
answer is asked only once in a run.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from enum import StrEnum
from typing import Final

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Lower, Now

from accounts.models import Account, Follow
from accounts.models.account import SuspensionOrigin
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services import audit, changing, erasing
from federation.documents.reading import kinds_of, origin_of
from federation.models import Delivery, Fetch, FetchKind
from federation.reasons import Rejected
from federation.remote import actors, requests, webfinger
from federation.remote.fetching import Missing, fetch_document
from social.kernel import clock
from social.kernel.errors import Unavailable
from social.kernel.runner import Host

ACTIVITY_PERIOD: Final = timedelta(days=7)
UNSEEN_PERIOD: Final = timedelta(days=7)
REQUESTS_LIMIT: Final = 500
_GONE_STATUSES: Final = (404, 410)


class Finding(StrEnum):
    """Outcome of an account check."""

    THERE = "there"
    GONE = "gone"
    UNCLEAR = "unclear"
    """The account's server answers, but the answer does not show whether the account exists."""
    SILENT = "silent"
    """The account's server cannot be reached."""


def list_known(domain: str | None = None, *, unseen_for: timedelta = timedelta()) -> QuerySet[Account]:
    """Return the remote accounts (of the server `domain`) that have not been fetched for `unseen_for`, the account fetched
    longest ago first. Accounts that are being removed, or that staff have suspended, are left out.
    """
    rows = Account.objects.exclude(domain=None).filter(deleted_at=None)
    rows = rows.exclude(suspension_origin=SuspensionOrigin.LOCAL)
    if domain is not None:
        rows = rows.alias(server=Lower("domain")).filter(server=domain.lower())
    if unseen_for:
        rows = rows.filter(Q(fetched_at=None) | Q(fetched_at__lt=clock.now() - unseen_for))
    return rows.order_by(F("fetched_at").asc(nulls_first=True), "id")


def refresh_accounts(*, by: Staff, accounts: Iterable[Account], about: str) -> Iterator[tuple[Account, Finding]]:
    """Fetch each account again and store what its server says; every account counts as fetched, whatever the outcome. `about`
    describes the accounts in the audit log. Raises Forbidden at the first step.
    """
    _record_start(by, "refresh", about)
    silent = _silent_hosts()
    for account in accounts:
        finding = _check(account, silent, _refresh)
        if finding is not Finding.THERE:
            changing.record_fetch(account.id)
        yield account, finding


def cull_accounts(
    *, by: Staff, accounts: Iterable[Account], about: str, dry_run: bool = False
) -> Iterator[tuple[Account, Finding]]:
    """Delete the accounts that no longer exist on their servers; `dry_run` only checks them. Raises Forbidden at the first
    step.

    An account no longer exists if its server answers with 410 or a Tombstone, or with 404 both for the account and for its
    address. All other accounts count as fetched, so that the next run continues after them.
    """
    _record_start(by, "cull", about, dry_run=dry_run)
    silent = _silent_hosts()
    for account in accounts:
        finding = _check(account, silent, _look_for)
        if finding is Finding.GONE and not dry_run:
            erasing.delete_account(by=by, account=account)
        elif not dry_run:
            changing.record_fetch(account.id)
        yield account, finding


def request_unseen() -> int:
    """Request at most REQUESTS_LIMIT remote accounts that local accounts follow and that have not been fetched for
    UNSEEN_PERIOD; return the number of requests (contract, federation section 4).
    """
    followed = Follow.objects.filter(target=OuterRef("id"), account__domain=None)
    existing_fetches = Fetch.objects.filter(kind=FetchKind.ACTOR, uri=OuterRef("uri"))
    rows = list_known(unseen_for=UNSEEN_PERIOD).filter(Exists(followed), ~Exists(existing_fetches))
    return requests.request_actors(rows[:REQUESTS_LIMIT])


def _record_start(by: Staff, action: str, about: str, **details: bool) -> None:
    require(by, Permission.MANAGE_FEDERATION)
    audit.record(by=by, action=action, target_type="Server", target_id=0, target_name=about, **details)


def _silent_hosts() -> set[str]:
    return set(
        Host.objects.filter(queue=Delivery.queue, failures__gt=0, retry_at__gt=Now()).values_list("name", flat=True)
    )


def _check(account: Account, silent: set[str], ask: Callable[[Account], Finding]) -> Finding:
    """Ask the account's server with `ask`, and return the answer. Servers in `silent` are not asked; a server that does not
    answer is added to `silent`.
    """
    host = origin_of(account.uri) or ""
    if host in silent:
        return Finding.SILENT
    try:
        return ask(account)
    except Rejected:
        return Finding.UNCLEAR
    except Unavailable:
        silent.add(host)
        return Finding.SILENT


def _refresh(account: Account) -> Finding:
    actors.refresh(account)
    return Finding.THERE


def _look_for(account: Account) -> Finding:
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
