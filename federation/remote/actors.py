"""Fetches remote accounts, confirms their addresses by WebFinger, and stores them."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import F

from accounts.models import Account, KeyPair
from accounts.models.account import SuspensionOrigin
from accounts.queries.accounts import has_address, split_address
from accounts.services import remote_accounts
from accounts.services.changing import record_fetch
from accounts.services.domains import record_reached_hosts, store_host
from accounts.services.erasing import end_account
from accounts.transfers.models import Move
from federation.documents.reading import origin_of, uri_of, without_fragment
from federation.documents.received_actors import ReceivedActor, read_actor, read_key
from federation.models import Tombstone
from federation.reasons import Reason, Rejected
from federation.remote import webfinger
from federation.remote.fetching import DEADLINE, fetch_document, is_gone
from federation.remote.references import claimed_id, find_account_by_uri
from federation.remote.requests import CACHED, request_actors, request_links, request_profile
from moderation.models import DomainSeverity
from moderation.queries.blocks import is_closed_to, rule_for
from social.kernel import clock
from social.kernel.errors import Conflict, Unavailable
from social.kernel.links import is_own
from statuses.services.receiving import join_mentions

logger = logging.getLogger("social.federation")


def fetch_actor(uri: str, *, deadline: float = DEADLINE, follow_move: bool = True) -> Account:
    """Fetch the actor with this id, confirm its address by WebFinger, and store it. Never call this inside a transaction.

    With `follow_move`, an unknown account that the actor has moved to is fetched too. Raises Missing, Rejected, and Unavailable
    when a server could not be reached.
    """
    if is_own(uri):
        raise Rejected(Reason.ACTOR_OF_OURS)
    received = _with_key(read_actor(fetch_document(uri, deadline=deadline)), deadline)
    return _store_fetched(received, deadline, follow_move=follow_move)


def find_or_fetch(uri: str, *, deadline: float = DEADLINE) -> Account:
    """Return the account with this id, which is fetched if it is unknown here. Raises the errors of `fetch_actor`."""
    account = Account.objects.filter(uri=uri).first()
    return account if account is not None else fetch_actor(uri, deadline=deadline)


def refresh(account: Account, *, deadline: float = DEADLINE) -> Account:
    """Fetch a remote account again. Raises the errors of `fetch_actor`."""
    fetched = fetch_actor(account.uri, deadline=deadline)
    if fetched.id != account.id:
        # The old id now leads to another actor. The old account still counts as fetched, so that the fetch is not repeated
        # immediately.
        record_fetch(account.id)
    return fetched


def refresh_if_stale(uri: str) -> None:
    """Fetch a remote account that has not been fetched for a day. After a failure, the account is not fetched until the next
    day. An account that was deleted on its server is ended here (`end_actor`). Raises Unavailable when the server could not be
    reached.
    """
    account = Account.objects.filter(uri=uri).exclude(domain=None).first()
    if account is None or not remote_accounts.is_stale(account):
        return
    try:
        refresh(account)
    except Rejected as error:
        logger.info("%s could not be looked at again: %s", account.uri, error)
        if is_gone(uri):
            end_actor(account)
        else:
            record_fetch(account.id)


def end_actor(account: Account) -> None:
    """End a remote account: it is hidden immediately, and its data are removed in steps. If the actor's server serves the actor
    again, a new account is created (contract, federation section 17), unless staff have sanctioned the old account, because a
    deletion must not lift the sanction.
    """
    with transaction.atomic():
        if _is_sanctioned(account):
            Tombstone.objects.update_or_create(uri=account.uri, actor_uri=account.uri, defaults={"expires_at": None})
        end_account(account=account, origin=SuspensionOrigin.REMOTE)


def _is_sanctioned(account: Account) -> bool:
    """Tell whether staff have sanctioned the account itself, not only its server."""
    if account.suspension_origin == SuspensionOrigin.LOCAL or account.sensitized_at is not None:
        return True
    return account.limited_at is not None and rule_for(account.domain or "") is None


def fetch_owner(key_id: str, *, deadline: float = DEADLINE) -> Account:
    """Fetch and store the account whose key has this id; the actor must list the key. Raises the errors of `fetch_actor`."""
    uri = without_fragment(key_id)
    document = fetch_document(uri, deadline=deadline)
    if "publicKeyPem" in document:
        owner = uri_of(document.get("owner"))
        if owner is None or origin_of(owner) != origin_of(key_id):
            raise Rejected(Reason.KEY_WITHOUT_OWNER)
        document = fetch_document(owner, deadline=deadline)
    received = _with_key(read_actor(document), deadline)
    if key_id not in {key.id for key in received.keys}:
        raise Rejected(Reason.KEY_NOT_LISTED)
    if is_own(received.profile.uri):
        raise Rejected(Reason.ACTOR_OF_OURS)
    return _store_fetched(received, deadline, follow_move=False)


def _store_fetched(received: ReceivedActor, deadline: float, *, follow_move: bool) -> Account:
    address = _confirmed_address(received, deadline)
    moved_to_id = _successor_id(received, deadline, may_fetch=follow_move) or _just_moved_to(received.profile.uri)
    account = store_actor(received, address, moved_to_id=moved_to_id)
    request_profile(account)
    join_mentions(account)
    # The host of the documents may differ from the domain of the addresses.
    name, host = account.domain or "", origin_of(account.uri) or ""
    store_host(name=name, host=host)
    record_reached_hosts([name])
    return account


def find_successor(uri: str, target_uri: str, *, deadline: float = DEADLINE, may_fetch: bool = True) -> Account:
    """Return the account that the actor `uri` has moved to. The new account must list the actor in its `alsoKnownAs` (contract,
    federation section 15). With `may_fetch`, the new account is fetched if it is unknown here or did not list the actor before.

    Raises Rejected when the new account does not list the actor, Unavailable when the new account was fetched a moment ago, and
    the errors of `fetch_actor`.
    """
    if target_uri == uri:
        raise Rejected(Reason.MOVE_TO_ITSELF)
    target = find_account_by_uri(target_uri)
    if may_fetch and (target is None or not (target.local or uri in target.also_known_as)):
        if target is not None and not remote_accounts.may_refresh(target):
            raise Unavailable("the new account was fetched a moment ago")
        target = fetch_actor(target_uri, deadline=deadline, follow_move=False)
    if target is None or target.suspended or target.uri == uri or uri not in target.also_known_as:
        raise Rejected(Reason.MOVE_WITHOUT_CONSENT)
    return target


def _successor_id(received: ReceivedActor, deadline: float, *, may_fetch: bool = True) -> int | None:
    if received.moved_to is None:
        return None
    uri = received.profile.uri
    predecessor = Account.objects.filter(uri=uri, moved_to__uri=received.moved_to).first()
    if predecessor is not None:
        return predecessor.moved_to_id
    try:
        return find_successor(uri, received.moved_to, deadline=deadline, may_fetch=may_fetch).id
    except (Rejected, Unavailable) as error:
        logger.info("%s has not moved to %s: %s", uri, received.moved_to, error)
        return None


def _just_moved_to(uri: str) -> int | None:
    """Return the id of the account that the actor has just moved to. The actor's server may still send a cached document
    without the move.
    """
    moves = Move.objects.filter(account__uri=uri, target=F("account__moved_to"), created_at__gt=clock.now() - CACHED)
    return moves.values_list("target_id", flat=True).first()


def _with_key(received: ReceivedActor, deadline: float) -> ReceivedActor:
    if received.keys or received.key_reference is None:
        return received
    key = read_key(fetch_document(received.key_reference, deadline=deadline), received.profile.uri)
    return replace(received, keys=[key] if key is not None else [])


def _confirmed_address(received: ReceivedActor, deadline: float, *, again: bool = True) -> webfinger.WebFingerResult:
    """Return the actor's address, confirmed by WebFinger. With `again`, a known address is confirmed again after a day."""
    uri, username = received.profile.uri, received.profile.username
    pair = split_address(received.acct or f"{username}@{origin_of(uri)}")
    if pair is None or pair[1] is None:
        raise Rejected(Reason.ACTOR_WITHOUT_ADDRESS)
    confirmed_account = Account.objects.filter(has_address(*pair), uri=uri).first()
    if confirmed_account is not None and not (again and remote_accounts.is_stale(confirmed_account)):
        return webfinger.WebFingerResult(confirmed_account.username, pair[1], uri)
    address = webfinger.confirm(pair[0], pair[1], uri, deadline=deadline)
    if address.username.lower() != username.lower():
        raise Rejected(Reason.OTHER_NAME_THAN_ADDRESS)
    return address


def store_actor(
    received: ReceivedActor,
    address: webfinger.WebFingerResult,
    *,
    moved_to_id: int | None = None,
    is_announced: bool = False,
) -> Account:
    """Store a received actor under the address that WebFinger has confirmed. Another account that had the address loses it, and
    is fetched again. `is_announced` is True if the actor has signed the document.

    Raises Rejected if the id was deleted, is local or belongs to another object, if a key belongs to another account, and for a
    blocked server; Unavailable while a deleted account with this id is still being removed.
    """
    if is_closed_to(address.domain):
        raise Rejected(Reason.CLOSED_TO_SERVER)
    uri, rule = received.profile.uri, rule_for(address.domain)
    profile = replace(
        received.profile,
        username=address.username,
        domain=address.domain,
        limited_since=rule.created_at if rule is not None and rule.severity == DomainSeverity.SILENCE else None,
        moved_to_id=moved_to_id,
    )
    if rule is not None and rule.reject_media:
        profile = replace(profile, emojis=(), avatar_remote_url="", header_remote_url="")
    try:
        with claimed_id(uri, uri, Account):
            if Account.objects.filter(uri=uri, deleted_at__isnull=False).exists():
                raise Unavailable("the account that it was is being removed")
            other = remote_accounts.release_address(username=address.username, domain=address.domain, uri=uri)
            if other is not None:
                request_actors([other])
            account = remote_accounts.store_remote_account(
                profile=profile, keys=received.keys, is_announced=is_announced
            )
            request_links(account)
            return account
    except Conflict:
        raise Rejected(Reason.TAKEN_ID_OR_KEY) from None


def store_described(actor: Account, document: Mapping[str, Any]) -> Account:
    """Store an actor's description of itself, which it has signed (contract, federation section 7). Nothing is fetched if the
    actor's address, key and move are known already. Raises the errors of `fetch_actor`.
    """
    received = read_actor(document)
    if received.profile.uri != actor.uri:
        raise Rejected(Reason.OTHER_PROFILE)
    pair = KeyPair.objects.filter(account=actor).first()
    if pair is not None and not received.keys and received.key_reference in (None, pair.key_id):
        known_keys = {pair.key_id: pair.public_key} | pair.further_keys
        received = replace(received, keys=[remote_accounts.RemoteKey(*key) for key in known_keys.items()])
    received, address = _with_key(received, DEADLINE), _confirmed_address(received, DEADLINE, again=False)
    return store_actor(received, address, moved_to_id=_successor_id(received, DEADLINE), is_announced=True)
