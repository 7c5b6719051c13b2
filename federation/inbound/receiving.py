"""Takes in what other servers send: checked, signed, stored, and only then answered with 202.

Source: contract, federation sections 10 and 11; security rows 8, 11, 13, 34, 44 and 61.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.db import IntegrityError, transaction

from accounts.models import Account
from federation.documents.reading import Rejected, kinds_of, origin_of, parse_json, uri_of
from federation.documents.synchronization import HEADER
from federation.events import ActivityReceived
from federation.inbound.processing import is_acted_upon
from federation.inbound.quotas import check_room, host_of
from federation.inbound.synchronizing import compare_followers
from federation.models import InboundActivity
from federation.remote import signers
from federation.remote.requests import record_contact
from federation.signatures.message import BadSignature, Message
from moderation.queries.blocks import is_closed_to
from social.kernel.errors import Forbidden
from social.kernel.events import publish

# What a suspended account may still send: it must be able to leave.
_TYPES_OF_SUSPENDED: Final = frozenset({"Delete", "Reject", "Undo", "Update"})


def receive(message: Message, recipient: Account | None = None) -> InboundActivity | None:
    """Store a signed activity and publish ActivityReceived; None for one that needs no work (also a replay).

    `recipient` is whose inbox it came to. Raises Rejected for what cannot be read, BadSignature, Unavailable when the
    signer's server could not be asked, RateLimited when too much of the signer waits here, and Forbidden when staff have
    closed this server to the signer's. What a document says is
    never a reason to refuse it. Never inside a transaction.
    """
    parsed = parse_json(message.body)
    document = parsed if isinstance(parsed, dict) else {}
    kind = next(iter(kinds_of(document)), None)
    if kind is not None and _is_of_nobody(document, kind):
        return None
    if not signers.has_signature(message):
        raise BadSignature("Request not signed")
    # By the name of the server that the activity claims to be of: nothing is asked of one that this server is closed to.
    claimed = origin_of(uri_of(document.get("actor")) or "") or ""
    _refuse_closed({claimed})
    try:
        signed = signers.verify(message)
    except Rejected as reason:
        raise BadSignature(f"the signer cannot be confirmed: {reason}") from None
    # The rest is asked once the signer is known (security row 13).
    _refuse_closed({host_of(signed.account.uri), signed.account.domain or ""} - {claimed})
    if kind is None or not is_acted_upon(kind) or (signed.account.suspended and kind not in _TYPES_OF_SUSPENDED):
        return None
    check_room(signed.account.id, host_of(signed.account.uri), len(message.body))
    return _store(message, signed, document, kind, recipient)


def _refuse_closed(domains: set[str]) -> None:
    if is_closed_to(*(domain for domain in domains if domain)):
        raise Forbidden


def _is_of_nobody(document: Mapping[str, Any], kind: str) -> bool:
    """A Delete by somebody unknown, or an Update of themselves: no key is fetched, for there may be thousands of them.

    Whose posts are known here is known too, so there is nothing that such a Delete could be about.
    """
    actor_uri = uri_of(document.get("actor"))
    if actor_uri is None or not (
        kind == "Delete" or (kind == "Update" and uri_of(document.get("object")) == actor_uri)
    ):
        return False
    return not Account.objects.filter(uri=actor_uri).exists()


def _store(
    message: Message, signed: signers.Signed, document: Mapping[str, Any], kind: str, recipient: Account | None
) -> InboundActivity | None:
    try:
        with transaction.atomic():
            activity = InboundActivity.objects.create(
                fingerprint=signed.fingerprint,
                actor=signed.account,
                recipient=recipient,
                type=kind.replace("\0", "")[:100],
                uri=uri_of(document.get("id")) or "",
                body=message.body.decode(),
                host=host_of(signed.account.uri),
                size=len(message.body),
            )
            publish(ActivityReceived(activity_id=activity.id, actor_id=signed.account.id))
            if header := message.headers.get(HEADER.lower()):
                compare_followers(activity, header)
            record_contact(origin_of(signed.account.inbox_url) or "")
    except IntegrityError:
        # The same signature once more, or the account was deleted since it was found.
        return None
    return activity
