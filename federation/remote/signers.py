"""Verifies signed requests: finds the signer's key, and fetches it if it is unknown or does not verify the signature (contract,
federation section 10 "Key lookup"; security rows 11 and 12).
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from django.conf import settings

from accounts.models import Account, KeyPair
from accounts.queries.accounts import has_address, split_address
from accounts.services.remote_accounts import may_refresh
from federation.documents.reading import MAX_URI, origin_of
from federation.reasons import Reason, Rejected
from federation.remote import pauses, webfinger
from federation.remote.actors import fetch_actor, fetch_owner
from federation.signatures import cavage, rfc9421
from federation.signatures.keys import bytes_of
from federation.signatures.message import BadSignature, Message, WrongKey
from social.kernel import clock
from social.kernel.errors import Unavailable
from social.kernel.http.client import Busy
from social.kernel.http.limits import stranger_budget
from social.kernel.plans import Plan, Slot

DEADLINE: Final = 4.0
_KEY: Final = Plan(
    lambda: KeyPair.objects.select_related("account").filter(key_id=Slot("key_id", KeyPair._meta.get_field("key_id")))
)
Parsed = cavage.CavageSignature | rfc9421.MessageSignature


@dataclass(frozen=True)
class _Key:
    account: Account
    id: str
    pem: str


@dataclass(frozen=True)
class Signed:
    """Verified signature: the `account` that signed, and a `fingerprint`. Only a replay has the same fingerprint."""

    account: Account
    fingerprint: str


def has_signature(message: Message) -> bool:
    """Tell whether a request has a signature, valid or not."""
    return "signature" in message.headers


def parse(message: Message) -> Parsed:
    """Read the signature of a request. Raises BadSignature."""
    if "signature" not in message.headers:
        raise BadSignature(Reason.NOT_SIGNED)
    if "signature-input" in message.headers:
        return rfc9421.parse(message)
    return cavage.parse(message.header("signature"))


def verify(message: Message) -> Signed:
    """Return the signer of a request. Never call this inside a transaction, because it may fetch the key, within DEADLINE
    seconds, and only a few keys are fetched at the same time (`social.kernel.http.limits.stranger_budget`).

    Host, target and time are checked for every method (security row 54). Raises BadSignature, Rejected (there is no such
    signer) and Unavailable (the signer's server could not be reached).
    """
    _check_host(message)
    signature = parse(message)
    key_id = signature.key_id
    stored_key = _known_key(key_id)
    if stored_key is None:
        try:
            key = _fetch_key(key_id, message)
        except pauses.Pause as pause:
            if pause.refused:
                raise BadSignature(Reason.SERVER_PAUSED, str(pause)) from None
            raise Unavailable(str(pause)) from None
        _check(signature, message, key.pem)
        return Signed(key.account, _fingerprint(key, signature))
    try:
        _check(signature, message, stored_key.pem)
    except WrongKey as error:
        if pauses.had_wrong_key(stored_key.account.uri) and not may_refresh(stored_key.account):
            raise
        try:
            fresh = _fetch_key(stored_key.id, message)
            _check(signature, message, fresh.pem)
        except pauses.Pause:
            raise error from None
        except WrongKey:
            pauses.note_wrong_key(stored_key.account.uri)
            raise
        return Signed(fresh.account, _fingerprint(fresh, signature))
    return Signed(stored_key.account, _fingerprint(stored_key, signature))


def _check_host(message: Message) -> None:
    own_origins = _own_origins(settings.BASE_URL, settings.LOCAL_DOMAIN)
    host = message.headers.get("host", "")
    if host not in own_origins and origin_of(f"{settings.BASE_URL.partition(':')[0]}://{host}") not in own_origins:
        raise BadSignature(Reason.FOR_OTHER_SERVER)


@lru_cache(maxsize=1)
def _own_origins(base_url: str, domain: str) -> frozenset[str | None]:
    return frozenset({origin_of(base_url), origin_of(f"{base_url.partition(':')[0]}://{domain}")})


def _known_key(key_id: str) -> _Key | None:
    """Return the stored key with this id; for an `acct:` id, the first key of the account with that address."""
    if len(key_id) > MAX_URI:
        raise BadSignature(Reason.KEY_ID_NO_ADDRESS)
    address = _address_of(key_id)
    keys = KeyPair.objects.select_related("account")
    if address is not None:
        username, domain = address
        return _key(keys.filter(has_address(username, domain, "account__")).first())
    origin = origin_of(key_id)
    if origin is None:
        raise BadSignature(Reason.KEY_ID_NO_ADDRESS)
    if origin in _own_origins(settings.BASE_URL, settings.LOCAL_DOMAIN):
        raise BadSignature(Reason.KEY_OF_OURS)
    pair = _KEY.first(key_id=key_id) or keys.filter(further_keys__has_key=key_id).exclude(further_keys={}).first()
    return _key(pair, key_id)


def _key(pair: KeyPair | None, key_id: str | None = None) -> _Key | None:
    if pair is None:
        return None
    if key_id is None or key_id == pair.key_id:
        return _Key(pair.account, pair.key_id, pair.public_key)
    pem = pair.further_keys.get(key_id)
    return _Key(pair.account, key_id, pem) if pem is not None else None


def _address_of(key_id: str) -> tuple[str, str] | None:
    if key_id[:5].lower() != "acct:":
        return None
    pair = split_address(key_id[5:])
    if pair is None or "\0" in key_id:
        raise BadSignature(Reason.KEY_ID_NO_ADDRESS)
    username, domain = pair
    if domain is None:
        raise BadSignature(Reason.KEY_OF_OURS)
    if origin_of(f"https://{domain}") is None:
        raise BadSignature(Reason.KEY_ID_NO_ADDRESS)
    return username, domain


def budget_name(host: str, method: str) -> str:
    """Return the name under which key fetches from a server are limited to one at a time. GET and POST requests have different
    names, because a server reads documents here before and while it sends its first activity, and these reads must not cause
    the activity to be refused.
    """
    return host if method == "POST" else f"{host} for reading"


def _fetch_key(key_id: str, message: Message) -> _Key:
    """Fetch a key from its server, unless a fetch has just failed. Raises the errors of `verify`, and Pause."""
    source, began_at = message.source, clock.now()
    pauses.check(key_id, source)
    address = _address_of(key_id)
    host = address[1] if address is not None else origin_of(key_id)
    try:
        with stranger_budget(budget_name(str(host), message.method), DEADLINE) as has_waited:
            if has_waited:
                # While this request waited, another request may have fetched the same key, or found that the server is
                # unreachable.
                pauses.check(key_id, source)
                stored_key = _known_key(key_id)
                if (
                    stored_key is not None
                    and stored_key.account.fetched_at is not None
                    and stored_key.account.fetched_at >= began_at
                ):
                    return stored_key
            if address is None:
                account = fetch_owner(key_id, deadline=DEADLINE)
            else:
                account = fetch_actor(webfinger.look_up(*address, deadline=DEADLINE).actor_uri, deadline=DEADLINE)
    except Busy:
        raise
    except Rejected:
        pauses.begin(key_id, source, refused=True)
        raise
    except Unavailable:
        pauses.begin(key_id, source, refused=False)
        raise
    pair = KeyPair.objects.select_related("account").filter(account=account).first()
    key = _key(pair, key_id if address is None else None)
    if key is None:
        pauses.begin(key_id, source, refused=True)
        raise Rejected(Reason.ACTOR_WITHOUT_KEY)
    return key


def _check(signature: Parsed, message: Message, public_key_pem: str) -> None:
    if isinstance(signature, rfc9421.MessageSignature):
        rfc9421.verify(signature, message, settings.BASE_URL, public_key_pem, clock.now())
    else:
        cavage.verify(signature, message, public_key_pem, clock.now())


def _fingerprint(key: _Key, signature: Parsed) -> str:
    # The fingerprint uses the stored id of the key, not the id in the request, because a key may have two ids, and neither is
    # signed. The fingerprint uses the bytes of the signature, not the base64 text, which has unused bits at its end (security
    # row 59).
    raw = bytes_of(signature.signature)
    return hashlib.sha256(key.id.encode() + b"\n" + raw).hexdigest()
