"""Receives and stores activities (contract, federation sections 10 and 11; security rows 8, 11, 13, 34, 44 and 61)."""

from collections.abc import Mapping
from typing import Any, Final

from django.db import IntegrityError

from accounts.models import Account
from federation.documents import reading, synchronization
from federation.events import ActivityReceived
from federation.inbound import processing, quotas, synchronizing
from federation.reasons import Reason, Rejected
from federation.remote import requests, signers
from federation.signatures.message import BadSignature, Message
from moderation.queries.blocks import is_closed_to
from social.kernel import clock, events, refusals
from social.kernel.errors import Forbidden
from social.kernel.statements import Value

# Activities that are still accepted from a suspended account, so that it can still undo its actions and delete its posts.
_TYPES_OF_SUSPENDED: Final = frozenset({"Delete", "Reject", "Undo", "Update"})
# This statement stores nothing for a replay, and also returns whether deliveries to the server are paused after failures.
_INSERT: Final = """
INSERT INTO federation_inboundactivity
    (fingerprint, actor_id, recipient_id, type, uri, body, host, size, attempts, outcome, received_at)
VALUES (%(fingerprint)s, %(actor)s, %(recipient)s, %(type)s, %(uri)s, %(body)s, %(host)s, %(size)s, 0, '', %(now)s)
ON CONFLICT (fingerprint) DO NOTHING
RETURNING id, EXISTS (SELECT FROM social_host WHERE name = %(contact)s AND retry_at > statement_timestamp())
"""


def receive(message: Message, recipient: Account | None = None) -> None:
    """Store a signed activity and publish ActivityReceived, unless it needs no processing or is a replay. Never call this
    function inside a transaction.

    `recipient` is the account in whose inbox the activity arrived. Raises Rejected for an unreadable body, BadSignature,
    Unavailable when the signer's server could not be reached, RateLimited when too many activities of the signer are
    unprocessed, and Forbidden for a blocked server. A readable document is never refused because of its content.
    """
    parsed = reading.parse_json(message.body)
    document = parsed if isinstance(parsed, dict) else {}
    kind = next((kind for kind in reading.kinds_of(document) if processing.is_acted_upon(kind)), None)
    if kind is not None and _is_by_unknown_actor(document, kind):
        refusals.note_refusal("", Reason.OF_NOBODY_KNOWN)
        return
    if not signers.has_signature(message):
        raise BadSignature(Reason.NOT_SIGNED)
    # The server that the activity names is checked before the key is fetched, because nothing may be fetched from a blocked
    # server.
    claimed = reading.origin_of(reading.uri_of(document.get("actor")) or "") or ""
    _refuse_closed({claimed})
    try:
        signed = signers.verify(message)
    except Rejected as reason:
        raise BadSignature(reason.reason, f"the signer cannot be confirmed: {reason}") from None
    # Host and domain are both checked, because the domain of the account may differ from the host of its documents (security
    # row 13).
    host = quotas.host_of(signed.account.uri)
    _refuse_closed({host, signed.account.domain or ""} - {claimed})
    if kind is None or (signed.account.suspended and kind not in _TYPES_OF_SUSPENDED):
        refusals.note_refusal(host, Reason.IGNORED_KIND if kind is None else Reason.SIGNER_SUSPENDED)
        return
    quotas.check_room(signed.account.id, host, len(message.body))
    _store(message, signed, host, document, kind, recipient)


def _refuse_closed(domains: set[str]) -> None:
    if is_closed_to(*(domain for domain in domains if domain)):
        raise Forbidden


def _is_by_unknown_actor(document: Mapping[str, Any], kind: str) -> bool:
    """Tell whether an activity is a Delete by an unknown actor, or an unknown actor's Update of itself. Thousands of these
    arrive, and cannot concern a stored post, because the authors of all stored posts are known.
    """
    actor_uri = reading.uri_of(document.get("actor"))
    if actor_uri is None or not (
        kind == "Delete" or (kind == "Update" and reading.uri_of(document.get("object")) == actor_uri)
    ):
        return False
    return not Account.objects.filter(uri=actor_uri).exists()


def _store(
    message: Message,
    signed: signers.Signed,
    host: str,
    document: Mapping[str, Any],
    kind: str,
    recipient: Account | None,
) -> None:
    actor = signed.account
    values: dict[str, Value] = {
        "fingerprint": signed.fingerprint,
        "actor": actor.id,
        "recipient": recipient.id if recipient is not None else None,
        "type": kind.replace("\0", "")[:100],
        "uri": reading.uri_of(document.get("id")) or "",
        "body": message.body.decode(),
        "host": host,
        "size": len(message.body),
        "now": clock.now(),
        # The host of the actor, not of its inbox, because an actor may name the inbox of another server.
        "contact": host,
    }
    try:
        stored = events.change_and_publish(
            _INSERT, values, ActivityReceived(activity_id=0, actor_id=actor.id), number="activity_id"
        )
    except IntegrityError:
        # The account was deleted after the signature was verified.
        return
    for activity_id, is_paused in stored:
        if header := message.headers.get(synchronization.HEADER.lower()):
            synchronizing.compare_followers(activity_id, actor, header)
        if is_paused:
            requests.record_contact(host)
