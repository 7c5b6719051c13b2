"""Reads accounts: by id, by address, in bulk, always with what their entity needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import idna
from allauth.account.models import EmailAddress
from django.db.models import Exists, OuterRef, Prefetch, QuerySet, prefetch_related_objects
from django.db.models.functions import Lower
from django.utils.translation import gettext as _

from accounts.models import Account, ActorType
from social.kernel import links
from social.kernel.errors import NotFound
from social.kernel.plans import Plan, Slot

_MOVED = Prefetch("moved_to", Account.objects.select_related("stat", "user__role"))


def list_accounts() -> QuerySet[Account]:
    """All accounts that exist for clients, with counters and role: who is not confirmed and approved does not yet."""
    unconfirmed = EmailAddress.objects.filter(user=OuterRef("user"), primary=True, verified=False)
    return (
        Account.objects.select_related("stat", "user__role")
        .prefetch_related(_MOVED)
        .filter(deleted_at=None)
        .exclude(user__approved=False)
        # The server's own actor signs for it and is nobody one could look up.
        .exclude(domain=None, actor_type=ActorType.APPLICATION, user=None)
        .exclude(Exists(unconfirmed))
    )


# A plan prefetches nothing: where somebody moved is asked for apart, which is rare.
_ACCOUNT = Plan(lambda: list_accounts().prefetch_related(None).filter(id=Slot("id", Account._meta.pk)))


def load_accounts(account_ids: Iterable[int]) -> dict[int, Account]:
    """The accounts with these ids, in one query, whatever their state; unknown ids are left out."""
    wanted = set(account_ids)
    if not wanted:
        return {}
    found = Account.objects.select_related("stat", "user__role").prefetch_related(_MOVED).filter(id__one_of=wanted)
    return {account.id: account for account in found}


def find_account(account_id: int) -> Account:
    """The account with this id. Raises NotFound for anything else, also for people who are not confirmed yet."""
    account = _ACCOUNT.first(id=account_id)
    if account is None:
        raise NotFound
    if account.moved_to_id is not None:
        prefetch_related_objects([account], _MOVED)
    return account


def split_address(address: str) -> tuple[str, str | None] | None:
    """`user`, `@user` or `user@domain` as (username, domain in lower-case Punycode); None when it is no address.

    This server's own domains count as no domain.
    """
    username, _at, domain = address.strip().removeprefix("@").partition("@")
    if not username or "@" in domain or "/" in username or " " in username:
        return None
    if not domain:
        return username, None
    host, colon, port = domain.lower().rstrip(".").partition(":")
    if colon and not port.isdigit():
        return None
    try:
        host = host if host.isascii() else idna.encode(host, uts46=True).decode()
    except idna.IDNAError:
        return None
    domain = f"{host}{colon}{port}"
    return username, None if links.is_own_domain(domain) else domain


def by_address(addresses: Collection[tuple[str, str | None]]) -> dict[tuple[str, str | None], Account]:
    """Known accounts by (username, domain) in lower case, in one query."""
    wanted = {(username.lower(), domain.lower() if domain else None) for username, domain in addresses}
    if not wanted:
        return {}
    found = list_accounts().alias(name=Lower("username")).filter(name__one_of={name for name, _domain in wanted})
    pairs = {
        (account.username.lower(), account.domain.lower() if account.domain else None): account for account in found
    }
    return {pair: account for pair, account in pairs.items() if pair in wanted}


def find_by_address(address: str) -> Account:
    """The known account with this address, in any case of letters; no other server is asked. Raises NotFound."""
    pair = split_address(address)
    if pair is not None:
        username, domain = pair
        found = list_accounts().alias(name=Lower("username")).filter(name=username.lower())
        found = found.filter(domain__isnull=True) if domain is None else found.filter(domain__iexact=domain)
        account = found.first()
        if account is not None:
            return account
    raise NotFound(_("Record not found"))


def find_local(username: str) -> Account:
    """The local account with this username, in any case of letters. Raises NotFound."""
    return find_by_address(username.partition("@")[0])
