"""Finds remote accounts, and stores them as their own servers describe them; local accounts are never changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import IntegrityError, transaction

from accounts.emojis.services.remote import RemoteEmoji, store_emojis
from accounts.events import FollowsToRenew, ProfileUpdated
from accounts.models import Account, AccountStat, Domain, KeyPair
from accounts.models.account import USERNAME_LIMIT, SuspensionOrigin
from accounts.ports import remote_accounts
from accounts.queries.accounts import by_address, find_by_address, has_address, split_address
from accounts.services.changing import change_account, record_fetch
from social.kernel import clock
from social.kernel.errors import Conflict, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock

STALE_AFTER: Final = timedelta(days=1)
REFRESH_AFTER: Final = timedelta(minutes=1)
RENEWAL_INTERVAL: Final = timedelta(minutes=10)
_FIELDS_WITHOUT_COLUMN: Final = frozenset({"uri", "suspended", "limited_since", "emojis"})


@dataclass(frozen=True)
class RemoteKey:
    """Public key that a remote account lists and that names it as its owner (security row 12), with the key's id."""

    id: str
    pem: str


@dataclass(frozen=True)
class RemoteProfile:
    """Remote account, whose values are validated, sanitised and clamped; the fields are named like the columns.

    `suspended` is what the account's server states (federation section 4). The account `moved_to_id` has this account as an
    alias.
    """

    uri: str
    username: str
    domain: str
    url: str
    actor_type: str
    inbox_url: str
    shared_inbox_url: str = ""
    outbox_url: str = ""
    followers_url: str = ""
    following_url: str = ""
    featured_url: str = ""
    featured_tags_url: str = ""
    featured_collections_url: str = ""
    devices_url: str = ""
    feature_policy: str | None = None
    display_name: str = ""
    note: str = ""
    note_html: str = ""
    fields: Sequence[dict[str, Any]] = field(default_factory=list)
    locked: bool = False
    discoverable: bool | None = None
    indexable: bool = False
    memorial: bool = False
    suspended: bool = False
    avatar_remote_url: str = ""
    avatar_description: str = ""
    header_remote_url: str = ""
    header_description: str = ""
    also_known_as: Sequence[str] = field(default_factory=list)
    attribution_domains: Sequence[str] = field(default_factory=list)
    moved_to_id: int | None = None
    show_media: bool = True
    show_media_replies: bool = True
    show_featured: bool = True
    emojis: Sequence[RemoteEmoji] = field(default_factory=list)
    # Time of the limit that staff have set for the account's server; it is only used for a new account.
    limited_since: datetime | None = None

    def columns(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name not in _FIELDS_WITHOUT_COLUMN}


def is_stale(account: Account) -> bool:
    """Tell whether a remote account has not been fetched for STALE_AFTER (a day)."""
    return account.fetched_at is None or clock.now() - account.fetched_at > STALE_AFTER


def may_refresh(account: Account) -> bool:
    """Tell whether an unverified hint may trigger a fetch: at most once in REFRESH_AFTER, because strangers can send hints."""
    return account.fetched_at is None or clock.now() - account.fetched_at > REFRESH_AFTER


def release_address(*, username: str, domain: str, uri: str) -> Account | None:
    """Take an address away from the account that has it, because its domain has assigned it to `uri`; return that account, or
    None. Until that account is fetched again, it has its old username with its id appended. Publishes ProfileUpdated. Call it
    in a transaction.
    """
    rows = Account.objects.filter(has_address(username, domain)).exclude(uri=uri)
    if not rows.exists():
        return None
    # Without this lock two accounts that swap their addresses would deadlock.
    lock(f"addresses:{domain.lower()}")
    account = rows.select_for_update().first()
    if account is not None:
        name = f"{account.username[: USERNAME_LIMIT - 20]}.{account.id}"
        change_account(account.id, username=name, fetched_at=None)
        publish(ProfileUpdated(account_id=account.id))
    return account


def store_remote_account(*, profile: RemoteProfile, keys: Sequence[RemoteKey], is_announced: bool = False) -> Account:
    """Create or change the account with this ActivityPub id, and its keys; an empty `keys` removes the keys.

    Publishes ProfileUpdated when a shown value has changed, and FollowsToRenew when all keys were replaced and no known
    key has signed the change (`is_announced`; contract, federation section 10). Raises Conflict for the id of a local
    account, and for an address or key of another account.
    """
    try:
        with transaction.atomic():
            lock(f"actor:{profile.uri}")
            renewed = store_emojis(profile.domain, profile.emojis)
            account = Account.objects.select_for_update().filter(uri=profile.uri).first()
            if account is not None and account.local:
                raise Conflict
            if account is None:
                _create(profile)
            else:
                _change(account, profile, renewed=renewed)
            account = Account.objects.get(uri=profile.uri)
            if _store_keys(account, keys, is_announced=is_announced):
                publish(FollowsToRenew(account_id=account.id))
            Domain.objects.bulk_create([Domain(name=profile.domain)], ignore_conflicts=True)
    except IntegrityError:
        raise Conflict from None
    return account


def _create(profile: RemoteProfile) -> None:
    now = clock.now()
    suspended = {"suspended_at": now, "suspension_origin": SuspensionOrigin.REMOTE} if profile.suspended else {}
    Account.objects.create(
        uri=profile.uri, fetched_at=now, limited_at=profile.limited_since, **profile.columns(), **suspended
    )


def _change(account: Account, profile: RemoteProfile, *, renewed: bool) -> None:
    """Write the changed columns. `renewed`: emojis in the profile have changed."""
    values = profile.columns()
    verified = {(item["name"], item["value"]): item.get("verified_at") for item in account.fields}
    values["fields"] = [{**item, "verified_at": verified.get((item["name"], item["value"]))} for item in profile.fields]
    now = clock.now()
    if profile.suspended and not account.suspended:
        values |= {"suspended_at": now, "suspension_origin": SuspensionOrigin.REMOTE}
    elif not profile.suspended and account.suspension_origin == SuspensionOrigin.REMOTE:
        values |= {"suspended_at": None, "suspension_origin": None}
    changed = {name: value for name, value in values.items() if getattr(account, name) != value}
    if not changed and not renewed:
        record_fetch(account.id)
        return
    change_account(account.id, fetched_at=now, **changed)
    publish(ProfileUpdated(account_id=account.id))


def store_network_totals(*, account: Account, totals: Mapping[str, int | None], hidden: bool) -> None:
    """Store what a remote account's server states: the numbers of its followers, followed accounts and posts (`totals`, by
    name; None: unknown), and whether its lists of followers and followed accounts are `hidden`.
    """
    with transaction.atomic():
        if account.hide_collections is not hidden:
            change_account(account.id, hide_collections=hidden)
        values = {f"{name}_total": number for name, number in totals.items()}
        AccountStat.objects.update_or_create(account_id=account.id, defaults=values)


def _store_keys(account: Account, keys: Sequence[RemoteKey], *, is_announced: bool) -> bool:
    """Store the keys. Return True, at most once in RENEWAL_INTERVAL, if all known keys were replaced unannounced."""
    if not keys:
        KeyPair.objects.filter(account=account).delete()
        return False
    main, *further = keys
    now, known = clock.now(), KeyPair.objects.filter(account=account).first()
    replaced = known is not None and {known.public_key, *known.further_keys.values()}.isdisjoint(
        key.pem for key in keys
    )
    last = known.rotated_at if known is not None else None
    counts = replaced and not is_announced and (last is None or now - last > RENEWAL_INTERVAL)
    values: dict[str, Any] = {"rotated_at": now} if counts else {}
    values |= {"key_id": main.id, "public_key": main.pem, "further_keys": {key.id: key.pem for key in further}}
    KeyPair.objects.update_or_create(account=account, defaults=values)
    return counts


def resolve_address(address: str) -> Account | None:
    """Return the account with an address, looked up at its server if it is unknown or stale; None if it is not found.

    For a known account, a lookup in the background checks whether the domain still assigns the address to the account
    (federation section 17). Takes up to five seconds, so call it outside of transactions.
    """
    pair = split_address(address)
    if pair is None or pair[1] is None:
        return None
    key = (pair[0].lower(), pair[1])
    known = by_address([key]).get(key)
    finder = remote_accounts.find()
    if finder is None or (known is not None and not may_refresh(known)):
        return known
    if known is not None and not is_stale(known):
        finder.seek([key], wanted_by=key[1] or "")
        return known
    return finder.find_by_address([key]).get(key, known)


def proper_address(text: str) -> str:
    """Return the address of the account that `resolve_address` finds, possibly on another server; otherwise `text`."""
    account = resolve_address(text)
    return text if account is None else f"{account.username}@{account.domain or settings.LOCAL_DOMAIN}"


def find_or_resolve(address: str) -> Account:
    """Return the account with an address; an unknown account is looked up by `resolve_address`. Raises NotFound."""
    try:
        return find_by_address(address)
    except NotFound:
        account = resolve_address(address)
        if account is None:
            raise
        return account
