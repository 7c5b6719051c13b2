"""Format of an event between publishing and streaming processes: a JSON header line, then the payload.

The payload is exactly the text that clients get (a JSON document or a bare id), encoded once by the publisher. The header is
only for this server's processes: the event's name, its recipients, and facts about a post that filters need. Ids are strings
here as well (SEED-141).
"""

import struct
from asyncio import Future
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import orjson

from social.kernel.text.searching import Text


class Event(StrEnum):
    """Events of the streaming API (contract, behaviours section 16)."""

    UPDATE = "update"
    STATUS_UPDATE = "status.update"
    DELETE = "delete"
    NOTIFICATION = "notification"
    NOTIFICATIONS_MERGED = "notifications_merged"
    ENCRYPTED_MESSAGE = "encrypted_message"
    FILTERS_CHANGED = "filters_changed"
    CONVERSATION = "conversation"
    ANNOUNCEMENT = "announcement"
    ANNOUNCEMENT_REACTION = "announcement.reaction"
    ANNOUNCEMENT_DELETE = "announcement.delete"


CONNECTION_END = "kill"
"""Message on a token's channel to close its connections. Never sent to clients."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that decide whether a viewer of a public stream gets a post."""

    author_id: int
    mentioned: frozenset[int] = frozenset()
    language: str | None = None
    has_media: bool = False
    # The domain of the author's server; None for this server.
    domain: str | None = None
    # The author of the quoted post, and the domain of that author's server.
    quoted_id: int | None = None
    quoted_domain: str | None = None

    @property
    def local(self) -> bool:
        return self.domain is None


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Facts that decide whether a public stream has shown a deleted post: whether it was local, and whether it had files."""

    local: bool
    had_files: bool


@dataclass(slots=True)
class Message:
    """An event to be streamed. `recipients` are account ids, for messages on the channel HOMES."""

    event: str
    payload: bytes | None = None
    facts: Facts | None = None
    recipients: tuple[int, ...] = ()
    # Facts about the deleted post; None if no stream of the channel needs them.
    withdrawn: Withdrawn | None = None
    # Time at which a streaming process received the message, read once for all listeners.
    received_at: datetime | None = field(default=None, repr=False, compare=False)
    # The texts for clients, by stream; each is created once per message and process, because it is the same for all clients.
    _texts: dict[tuple[str, ...], str] = field(default_factory=dict, repr=False, compare=False)
    _frames: dict[tuple[str, ...], bytes] = field(default_factory=dict, repr=False, compare=False)
    # The message's post and the text that filters search, which are the same for every viewer; created on first use.
    searched: tuple[dict[str, Any], Text] | None = field(default=None, repr=False, compare=False)
    # Messages for viewers with filters, by account: see `timelines.consumers.viewers`.
    filtered: "dict[int, tuple[object, Future[Message]]]" = field(default_factory=dict, repr=False, compare=False)

    def encode(self) -> bytes:
        header: dict[str, Any] = {"event": self.event}
        if self.recipients:
            header["to"] = [str(number) for number in self.recipients]
        if self.withdrawn is not None:
            header["withdrawn"] = [self.withdrawn.local, self.withdrawn.had_files]
        if self.facts is not None:
            facts = self.facts
            header["facts"] = [
                str(facts.author_id),
                [str(number) for number in sorted(facts.mentioned)],
                facts.language,
                facts.has_media,
                facts.domain,
                None if facts.quoted_id is None else str(facts.quoted_id),
                facts.quoted_domain,
            ]
        head = orjson.dumps(header)
        return head if self.payload is None else head + b"\n" + self.payload

    @classmethod
    def decode(cls, data: bytes) -> "Message":
        """Decode a message, ignoring fields that a newer release has added. Raises ValueError if the text is not a message."""
        head, separator, payload = data.partition(b"\n")
        header = orjson.loads(head)
        if not isinstance(header, dict) or not isinstance(header.get("event"), str):
            raise ValueError("not a message: no event")
        try:
            facts = None
            if "facts" in header:
                author, mentioned, language, has_media, domain, quoted, quoted_domain = header["facts"][:7]
                quoted_id = None if quoted is None else int(quoted)
                people = frozenset(map(int, mentioned))
                facts = Facts(int(author), people, language, has_media, domain, quoted_id, quoted_domain)
            recipients = tuple(map(int, header.get("to", ())))
            withdrawn = None
            if "withdrawn" in header:
                local, had_files = header["withdrawn"][:2]
                withdrawn = Withdrawn(bool(local), bool(had_files))
            return cls(header["event"], payload if separator else None, facts, recipients, withdrawn)
        except (TypeError, ValueError) as error:
            raise ValueError(f"not a message: {error}") from error

    def websocket_text(self, stream: tuple[str, ...]) -> str:
        """Return the text for a WebSocket: the payload is a string that contains JSON; `filters_changed` has no payload."""
        text = self._texts.get(stream)
        if text is None:
            body: dict[str, Any] = {"stream": list(stream), "event": self.event}
            if self.payload is not None:
                body["payload"] = self.payload.decode()
            text = self._texts[stream] = orjson.dumps(body).decode()
        return text

    def websocket_frame(self, stream: tuple[str, ...]) -> bytes:
        """Return `websocket_text` as the frame that a server sends: one text frame without a mask (RFC 6455 section 5.2)."""
        frame = self._frames.get(stream)
        if frame is None:
            body = self.websocket_text(stream).encode()
            size = len(body)
            if size < 126:
                head = struct.pack("!BB", 0x81, size)
            elif size < 1 << 16:
                head = struct.pack("!BBH", 0x81, 126, size)
            else:
                head = struct.pack("!BBQ", 0x81, 127, size)
            frame = self._frames[stream] = head + body
        return frame

    def server_sent_text(self) -> str:
        """Return the text for an event stream. If there is no payload, `data` is null, because browsers drop events without
        data.
        """
        text = self._texts.get(())
        if text is None:
            payload = (b"null" if self.payload is None else self.payload).decode().replace("\n", " ")
            text = self._texts[()] = f"event: {self.event}\ndata: {payload}\n\n"
        return text


def status_event(event: Event, body: bytes, *, facts: Facts | None = None, recipients: Iterable[int] = ()) -> Message:
    """Return an event whose payload is an entity as JSON."""
    return Message(event, body, facts, tuple(recipients))


def deletion(status_id: int, *, recipients: Iterable[int] = (), withdrawn: Withdrawn | None = None) -> Message:
    """Return the event of a deleted post: its id as plain text. `withdrawn` is for public streams."""
    return Message(Event.DELETE, str(status_id).encode(), None, tuple(recipients), withdrawn)
