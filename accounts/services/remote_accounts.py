"""Finds people of other servers, and writes their accounts as their own servers describe them; local accounts are never
touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import IntegrityError, transaction

from accounts.events import FollowsToRenew, ProfileUpdated
from accounts.models import Account, AccountStat, Domain, KeyPair
from accounts.models.account import USERNAME_LIMIT, SuspensionOrigin
from accounts.ports import remote_accounts
from accounts.queries.accounts import by_address, find_by_address, has_address, split_address
from accounts.services.changing import change_account, note_fetched
from accounts.services.emojis import RemoteEmoji, store_emojis
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
    """The public key of an account, by its id."""

    id: str
    pem: str


@dataclass(frozen=True)
class RemoteProfile:
    """An account of another server, typed, sanitised and clamped; the names are those of the columns.

    `suspended` is what its own server says of it (contract, federation section 4), `moved_to_id` the account that it has
    moved to and that says the same.
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
    # Those in its texts.
    emojis: Sequence[RemoteEmoji] = field(default_factory=list)
    # What staff have decided about the server of somebody who is new here.
    limited_since: datetime | None = None

    def columns(self) -> dict[str, Any]:
        """The values as they are stored."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name not in _FIELDS_WITHOUT_COLUMN}


def is_stale(account: Account) -> bool:
    """Tell whether a remote account has not been looked at for a day."""
    return account.fetched_at is None or clock.now() - account.fetched_at > STALE_AFTER


def may_refresh(account: Account) -> bool:
    """Tell whether an account may be fetched because of an unverified hint: once in REFRESH_AFTER, whatever strangers send."""
    return account.fetched_at is None or clock.now() - account.fetched_at > REFRESH_AFTER


def release_address(*, username: str, domain: str, uri: str) -> Account | None:
    """Take an address away from the account that has it, unless that is the one with this id, to which the domain has given it;
    returns that account, or None.

    It keeps everything else, is to be fetched again, and until its server gives it another name it has its old one with its
    number. Announces ProfileUpdated. The caller holds a transaction.
    """
    rows = Account.objects.filter(has_address(username, domain)).exclude(uri=uri)
    if not rows.exists():
        return None
    # Two that swap their addresses would wait for each other's row.
    lock(f"addresses:{domain.lower()}")
    account = rows.select_for_update().first()
    if account is not None:
        name = f"{account.username[: USERNAME_LIMIT - 20]}.{account.id}"
        change_account(account.id, username=name, fetched_at=None)
        publish(ProfileUpdated(account_id=account.id))
    return account


def store_remote_account(*, profile: RemoteProfile, keys: Sequence[RemoteKey], is_announced: bool = False) -> Account:
    """Create or change the account with this ActivityPub id, and its keys; without one it has none from now on.

    Safe against two at once: both end with the same row. Announces ProfileUpdated when something that is shown has
    changed, and FollowsToRenew when it has other keys than before, unless the change `is_announced` with one of those
    (contract, federation section 10). Raises Conflict for an id of a local account, an address that another account has, and
    a key that another account has.
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
    """Write what differs. `renewed`: the profile shows other emojis than before."""
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
        note_fetched(account.id)
        return
    change_account(account.id, fetched_at=now, **changed)
    publish(ProfileUpdated(account_id=account.id))


def keep_network(*, account: Account, totals: Mapping[str, int | None], hidden: bool) -> None:
    """Write what another server says of the network of its account: how many `followers`, `following` and `statuses` there
    are, None where it does not say, and whether the people are hidden.
    """
    with transaction.atomic():
        if account.hide_collections is not hidden:
            change_account(account.id, hide_collections=hidden)
        values = {f"{name}_total": number for name, number in totals.items()}
        AccountStat.objects.update_or_create(account_id=account.id, defaults=values)


def _store_keys(account: Account, keys: Sequence[RemoteKey], *, is_announced: bool) -> bool:
    """Write the keys; returns whether they have replaced all known ones without an announcement, once in RENEWAL_INTERVAL."""
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
    """The account with an address, asking its server when it is unknown here or was not looked at for a day; None when it
    cannot be found.

    For a known account the domain is asked in the background whether the address is still that account's (contract, federation
    section 17). Outside of a transaction; takes at most five seconds (contract, parameters section 2 `resolve`).
    """
    pair = split_address(address)
    if pair is None or pair[1] is None:
        return None
    wanted = (pair[0].lower(), pair[1])
    known = by_address([wanted]).get(wanted)
    finder = remote_accounts.find()
    if finder is None or (known is not None and not may_refresh(known)):
        return known
    if known is not None and not is_stale(known):
        finder.seek([wanted], wanted_by=wanted[1] or "")
        return known
    return finder.find_by_address([wanted]).get(wanted, known)


def proper_address(text: str) -> str:
    """The address of the account to which an address leads, as by `resolve_address`: somebody's own domain may name an account
    of another server. A text that leads to no account is returned as it is.
    """
    account = resolve_address(text)
    return text if account is None else f"{account.username}@{account.domain or settings.LOCAL_DOMAIN}"


def find_or_resolve(address: str) -> Account:
    """The account with an address, its server asked as by `resolve_address`. Raises NotFound."""
    try:
        return find_by_address(address)
    except NotFound:
        account = resolve_address(address)
        if account is None:
            raise
        return account
