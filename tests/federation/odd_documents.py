"""Helpers that create documents in unusual forms, and read them."""

from typing import Any

from accounts.services.remote_accounts import RemoteProfile
from federation.documents.received_actors import read_actor
from federation.documents.received_notes import ReceivedNote, read_note

HOME = "https://far.example"


PUBLIC = "https://www.w3.org/ns/activitystreams#Public"


def note(**members: Any) -> ReceivedNote:
    return read_note({"id": f"{HOME}/notes/1", "type": "Note", "attributedTo": f"{HOME}/users/ann", **members})


def actor(**members: Any) -> RemoteProfile:
    uri = f"{HOME}/users/ann"
    document = {"id": uri, "type": "Person", "preferredUsername": "ann", "inbox": f"{uri}/inbox", **members}
    return read_actor(document).profile


def link(name: str, kind: str | None = None) -> dict[str, Any]:
    return {"type": "Link", "href": f"{HOME}/{name}"} | ({"mediaType": kind} if kind is not None else {})


def file_of(attachment: Any) -> tuple[str, str] | None:
    """Return the name and type of the file that is read from an attachment, or None if the attachment is ignored."""
    files = note(attachment=[attachment]).files
    return (files[0].url.removeprefix(f"{HOME}/"), files[0].type) if files else None
