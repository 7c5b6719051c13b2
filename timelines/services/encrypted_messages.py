"""Publishes encrypted messages on the streams of their recipients' devices (SEED-170)."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from accounts.devices.queries import load_messages
from accounts.devices.serializers import EncryptedMessageSerializer
from accounts.events import EncryptedMessageStored
from social.kernel import streams
from timelines.stores import channels
from timelines.stores.channels import subscribed_channels
from timelines.stores.messages import Event, Message


def broadcast_encrypted_messages(events: Sequence[EncryptedMessageStored]) -> None:
    """Send each message on the `user` stream of its device's token; a device without an open stream reads it later by
    REST.
    """
    messages = load_messages(event.message_id for event in events)
    names = {message.id: channels.device(message.device.access_token_id) for message in messages}
    subscribed = subscribed_channels(list(names.values()))
    for message in messages:
        if names[message.id] in subscribed:
            payload = orjson.dumps(EncryptedMessageSerializer(message).data)
            streams.publish(names[message.id], Message(Event.ENCRYPTED_MESSAGE, payload).encode())
