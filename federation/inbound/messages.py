"""Stores encrypted messages for devices of local accounts (contract, federation section 7 "Encrypted message")."""

from __future__ import annotations

from django.db import transaction

from accounts.devices.services import receive_message
from federation.documents.reading import Rejected, uris_of
from federation.documents.received_devices import read_message
from federation.inbound.incoming import UNDO_RETENTION, Incoming
from federation.inbound.quotas import remember_gone
from federation.reasons import Reason
from federation.remote.references import check_id
from social.kernel.locks import lock


def receive(incoming: Incoming) -> None:
    """Store a message for a device of the account in whose inbox it arrived, only once even if it is sent several times.

    Raises Rejected for a message that arrived in another inbox, is addressed to another account or was received before;
    NotFound for an unknown device, and for a device of an account that has blocked the sender.
    """
    uri, recipient = incoming.needed_uri(), incoming.recipient
    if recipient is None or not recipient.local:
        raise Rejected(Reason.NOT_TO_A_PERSON)
    addressed = uris_of(incoming.document.get("to"))
    if addressed and recipient.uri not in addressed:
        raise Rejected(Reason.FOR_SOMEBODY_ELSE)
    received = read_message(incoming.object)
    with transaction.atomic():
        lock(f"object:{uri}")
        # A sender that got no answer sends the message again, perhaps after the device has fetched and removed it.
        check_id(uri, incoming.actor.uri)
        receive_message(
            sender=incoming.actor,
            recipient=recipient,
            from_device_id=received.from_device_id,
            message=received.message,
            franking=received.franking,
        )
        remember_gone(uri, incoming.actor.uri, UNDO_RETENTION)
