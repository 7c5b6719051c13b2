"""Reads accounts by id or address, or only their counters if the bodies of their entities are cached."""

import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allauth.account.models import EmailAddress
from django.db.models import Exists, Func, OuterRef, Prefetch, Q, QuerySet, TextField, prefetch_related_objects
from django.db.models.functions import Collate, Lower
from django.db.models.lookups import Exact

from accounts.emojis.queries import EmojiLookup
from accounts.models import Account, ActorType
from accounts.models.account import SHOWN_COUNTS
from accounts.policies.featuring import Audience
from accounts.policies.relations import NO_RELATIONS, Relations
from accounts.queries.relations import load_featuring
from social.kernel import fragments, links
from social.kernel.errors import NotFound, require_found
from social.kernel.plans import Plan, Slot
from social.kernel.statements import rows_of
from social.kernel.text.names import encode_host

_MOVED = Prefetch("moved_to", Account.objects.select_related("stat", "user__role"))


def list_accounts() -> QuerySet[Account]:
    """List the accounts that clients can see, with counters and role; unconfirmed and unapproved accounts are left out."""
    unconfirmed = EmailAddress.objects.filter(user=OuterRef("user"), primary=True, verified=False)
    return (
        Account.objects.select_related("stat", "user__role")
        .prefetch_related(_MOVED)
        .filter(deleted_at=None)
        .exclude(user__approved=False)
        # The instance actor only signs for the server and cannot be looked up.
        .exclude(domain=None, actor_type=ActorType.APPLICATION, user=None)
        .exclude(Exists(unconfirmed))
    )


# A compiled query cannot prefetch, so `moved_to` is read by another query, which is rarely needed.
_ACCOUNT = Plan(lambda: list_accounts().prefetch_related(None).filter(id=Slot("id", Account._meta.pk)))


def load_accounts(account_ids: Iterable[int]) -> dict[int, Account]:
    """Load the accounts with these ids in any state; unknown ids are left out. Takes one query, plus one for moved accounts."""
    wanted = set(account_ids)
    if not wanted:
        return {}
    found = Account.objects.select_related("stat", "user__role").prefetch_related(_MOVED).filter(id__one_of=wanted)
    return {account.id: account for account in found}


def find_account(account_id: int) -> Account:
    """Return the account with this id. Raises NotFound, also for a user who has not been confirmed yet."""
    account = require_found(_ACCOUNT.first(id=account_id))
    if account.moved_to_id is not None:
        prefetch_related_objects([account], _MOVED)
    return account


def split_address(address: str) -> tuple[str, str | None] | None:
    """Split `user`, `@user` or `user@domain` into username and Punycode domain (None: this server); None if it is invalid."""
    username, _at, domain = address.strip().removeprefix("@").partition("@")
    if not username or "@" in domain or "/" in username or " " in username:
        return None
    if not domain:
        return username, None
    host, colon, port = domain.lower().rstrip(".").partition(":")
    if colon and not port.isdigit():
        return None
    try:
        host = host if host.isascii() else encode_host(host)
    except UnicodeError:
        return None
    domain = f"{host}{colon}{port}"
    return username, None if links.is_own_domain(domain) else domain


def has_address(username: str, domain: str | None, prefix: str = "") -> Q:
    """Return a condition for the account with this address, ignoring case; `prefix` is the lookup that leads to it.

    The condition uses the index of addresses; `iexact` would read all accounts, because there is no index by `UPPER`.
    """
    # The empty string is a literal in the template, because PostgreSQL would not use the index if it were a parameter.
    server = Func(f"{prefix}domain", template="LOWER(COALESCE(%(expressions)s, ''))", output_field=TextField())
    return Q(Exact(Lower(f"{prefix}username"), username.lower()), Exact(server, (domain or "").lower()))


def filter_by_prefix(rows: QuerySet[Account], beginning: str) -> QuerySet[Account]:
    """Filter accounts by the beginning of their username. A range is used, because cached plans use no index for LIKE."""
    first = beginning.lower()
    named = rows.alias(name=Collate(Lower("username"), "C"))
    return named.filter(name__gte=first, name__lt=f"{first}{chr(sys.maxunicode)}")


def by_address(addresses: Collection[tuple[str, str | None]]) -> dict[tuple[str, str | None], Account]:
    """Load known accounts by address, (username, domain) in lower case; one query, plus one for moved accounts."""
    wanted = {(username.lower(), domain.lower() if domain else None) for username, domain in addresses}
    if not wanted:
        return {}
    found = list_accounts().alias(name=Lower("username")).filter(name__one_of={name for name, _domain in wanted})
    pairs = {
        (account.username.lower(), account.domain.lower() if account.domain else None): account for account in found
    }
    return {pair: account for pair, account in pairs.items() if pair in wanted}


def find_by_address(address: str) -> Account:
    """Return the known account with this address, ignoring case; no other server is asked. Raises NotFound."""
    pair = split_address(address)
    if pair is not None:
        username, domain = pair
        account = list_accounts().filter(has_address(username, domain)).first()
        if account is not None:
            return account
    raise NotFound


def find_local(username: str) -> Account:
    """Return the local account with this username, ignoring case. Raises NotFound."""
    return find_by_address(username.partition("@")[0])


_COUNTED: Final = f"""
SELECT a.id, a.version, {", ".join(f"COALESCE({count}, 0)" for count in SHOWN_COUNTS)},
       to_char(s.last_status_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
FROM accounts_account a LEFT JOIN accounts_accountstat s ON s.account_id = a.id
WHERE a.id = ANY((SELECT %(ids)s)::bigint[])
"""  # noqa: S608 (constants)


def account_fragment_key(account_id: int, version: int) -> str:
    """Return the cache key of an account's body, for every app that shows accounts."""
    return f"account:{account_id}:{version}"


@dataclass(slots=True)
class Counters:
    """Counters of an account; `last_status_on` is a day ("2026-01-31")."""

    followers_count: int
    following_count: int
    statuses_count: int
    last_status_on: str | None


@dataclass(frozen=True, slots=True)
class CountedAccount:
    """Counters of an account, and the cache key of its body."""

    fragment_key: str
    stat: Counters


@dataclass(slots=True)
class CountedAccounts:
    """Counters of accounts by id, cached bodies by their keys, and whole rows by id where no body is cached."""

    counted: dict[int, CountedAccount] = field(default_factory=dict)
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: dict[int, Account] = field(default_factory=dict)
    emojis: EmojiLookup = field(default_factory=lambda: EmojiLookup(()))
    relations: Relations = NO_RELATIONS


def approving(cached: Mapping[int, dict[str, Any]]) -> list[int]:
    """Return the ids of accounts whose followers may feature them, according to their cached bodies."""
    return [number for number, kept in cached.items() if kept["audience"] == Audience.FOLLOWERS]


def load_counted_accounts(account_ids: Iterable[int], viewer_id: int | None) -> CountedAccounts:
    """Load the rows for the entities of these accounts: one query when every body is cached, otherwise two or three
    more. With a viewer, one more query is made if one of the accounts is locked and its followers may feature it.
    """
    wanted = list(set(account_ids))
    if not wanted:
        return CountedAccounts()
    counted = {
        number: CountedAccount(account_fragment_key(number, version), Counters(*stat))
        for number, version, *stat in rows_of(_COUNTED, {"ids": wanted})
    }
    found = fragments.load(account.fragment_key for account in counted.values())
    missing = load_accounts(number for number, account in counted.items() if account.fragment_key not in found)
    by_account = {n: found[account.fragment_key] for n, account in counted.items() if account.fragment_key in found}
    relations = load_featuring(viewer_id, missing.values(), approving(by_account))
    return CountedAccounts(counted, found, missing, EmojiLookup.for_accounts(missing.values()), relations)
