"""Stores encrypted messages for devices here (contract, federation section 7 "Encrypted message")."""

from __future__ import annotations

from django.db import transaction

from accounts.services.devices import receive_message
from federation.documents.reading import Rejected, uris_of
from federation.documents.received_devices import read_message
from federation.inbound.incoming import UNDO_RETENTION, Incoming
from federation.inbound.quotas import remember_gone
from federation.reasons import Reason
from federation.remote.references import check_id
from social.kernel.locks import lock


def receive(incoming: Incoming) -> None:
    """A message for a device of the person in whose own inbox it came, stored once however often it is sent.

    Raises Rejected for one that came anywhere else, is addressed to somebody else or was received before; NotFound for a
    device that is unknown, and for one of somebody who has blocked the sender.
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
        # A sender that lost the answer sends it again, perhaps when the device has taken it already.
        check_id(uri, incoming.actor.uri)
        receive_message(
            sender=incoming.actor,
            recipient=recipient,
            from_device_id=received.from_device_id,
            message=received.message,
            franking=received.franking,
        )
        remember_gone(uri, incoming.actor.uri, UNDO_RETENTION)
