"""Sends conversations and encrypted messages to the streams of their recipients."""

from collections.abc import Sequence

import orjson

from accounts.devices.queries import load_messages
from accounts.devices.serializers import EncryptedMessageSerializer
from accounts.events import EncryptedMessageStored
from social.kernel import streams
from timelines.events import ConversationChanged
from timelines.models import Conversation
from timelines.serializers.entities import present_conversations
from timelines.stores import channels
from timelines.stores.channels import subscribed_channels
from timelines.stores.messages import Event, Message


def stream_conversations(events: Sequence[ConversationChanged]) -> None:
    """Publish the current state of the conversations to owners with an open stream; a repeated call publishes again."""
    subscribed = subscribed_channels({channels.direct(event.account_id) for event in events})
    conversation_ids = {event.conversation_id for event in events if channels.direct(event.account_id) in subscribed}
    for conversation in Conversation.objects.filter(id__one_of=conversation_ids) if conversation_ids else ():
        entity = present_conversations([conversation], conversation.account_id)[0]
        message = Message(Event.CONVERSATION, orjson.dumps(entity))
        streams.publish(channels.direct(conversation.account_id), message.encode())


def stream_encrypted_messages(events: Sequence[EncryptedMessageStored]) -> None:
    """Send each message on the `user` stream of its device's token (SEED-170); other devices fetch messages later."""
    messages = load_messages(event.message_id for event in events)
    names = {message.id: channels.device(message.device.access_token_id) for message in messages}
    subscribed = subscribed_channels(list(names.values()))
    for message in messages:
        if names[message.id] in subscribed:
            payload = orjson.dumps(EncryptedMessageSerializer(message).data)
            streams.publish(names[message.id], Message(Event.ENCRYPTED_MESSAGE, payload).encode())
