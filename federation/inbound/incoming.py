"""An activity as it is passed to its handlers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final
from uuid import uuid4

from accounts.models import Account
from federation.documents.reading import first, kind_of, same_origin, uri_of, web_uri
from federation.inbound.quotas import remember_gone
from federation.models import Tombstone
from federation.reasons import Reason, Rejected
from federation.remote.references import find_account_by_uri

UNDO_RETENTION: Final = timedelta(hours=6)
"""Time for which an activity that was undone before it arrived is refused (contract, federation section 7 "Undo Follow")."""

_TYPES_WITHOUT_ID: Final = frozenset({"Announce", "Block", "Flag", "Follow", "Like"})


@dataclass(frozen=True)
class Incoming:
    """An activity that `actor` has signed."""

    actor: Account
    document: Mapping[str, Any]
    recipient: Account | None = None
    """The account in whose inbox the activity arrived; None for the shared inbox and the inbox of the instance actor."""
    kind: str = ""
    """The first of the activity's types that has a handler."""

    @property
    def uri(self) -> str | None:
        """The id of the activity; None if the activity has no id on its actor's server."""
        uri = uri_of(self.document.get("id"))
        return uri if uri is not None and same_origin(uri, self.actor.uri) else None

    @property
    def object_uri(self) -> str | None:
        return uri_of(self.document.get("object"))

    @property
    def object(self) -> Mapping[str, Any]:
        """The embedded object of the activity; an empty mapping when the activity contains only the object's id."""
        value = first(self.document.get("object"))
        return value if isinstance(value, Mapping) else {}

    def needed_uri(self) -> str:
        """Return the id of the activity. Raises Rejected when the activity has no id on its actor's server."""
        if self.uri is None:
            raise Rejected(Reason.NO_ACTIVITY_ID)
        return self.uri

    @property
    def undone_uri(self) -> str | None:
        """The id of the activity that this Undo is about: its own id, or else the id that `made_id` gave it."""
        return self.object_uri or made_id(self.actor, self.object)

    def needed_or_made_uri(self) -> str:
        """Return the id of the activity or, if it has none, an id generated for it. Raises Rejected for an id of another
        server.
        """
        return made_id(self.actor, self.document) or self.needed_uri()

    def needed_object_uri(self) -> str:
        """Return the id of the activity's object. Raises Rejected when the activity names no object."""
        if self.object_uri is None:
            raise Rejected(Reason.ABOUT_NOTHING)
        return self.object_uri

    def authorization_if(self, accepted: bool) -> str | None:
        """Return the authorization in an Accept; None for a Reject. Raises Rejected unless the authorization is on the actor's
        server.
        """
        result = web_uri(self.document.get("result"))
        if accepted and (result is None or not same_origin(result, self.actor.uri)):
            raise Rejected(Reason.NO_AUTHORIZATION_NAMED)
        return result if accepted else None


def made_id(actor: Account, activity: Mapping[str, Any]) -> str | None:
    """Return an id on the actor's server (security row 8) for an activity without an id. Mastodon also accepts such activities.

    Repeated Follows, Likes or Blocks of the same object get the same id, and so do equal Flags. A boost gets a new id, because
    the row of a deleted boost keeps its id and would make a repeated boost look like the deleted boost. None for an activity
    with an id or without an object, and for types whose answer must name the id.
    """
    kind, target = kind_of(activity, _TYPES_WITHOUT_ID), uri_of(activity.get("object"))
    if kind == "Flag":
        target = json.dumps(activity, sort_keys=True)
    if activity.get("id") or kind is None or target is None:
        return None
    if kind == "Announce":
        target = str(uuid4())
    return f"{actor.uri}#{kind.lower()}/{sha256(target.encode(errors='replace')).hexdigest()}"


def remember_undone(uri: str | None, actor: Account) -> None:
    """Refuse, for UNDO_RETENTION, an activity of this actor that was undone before it arrived, or that a newer activity has
    replaced.
    """
    if uri is not None and same_origin(uri, actor.uri):
        remember_gone(uri, actor.uri, UNDO_RETENTION)


def remember_ended(uri: str | None, actor: Account) -> None:
    """Record, for UNDO_RETENTION, that an Undo has ended this activity of the actor."""
    if uri is not None and same_origin(uri, actor.uri):
        remember_gone(_ended(uri), actor.uri, UNDO_RETENTION)


def is_ended(uri: str | None, actor: Account) -> bool:
    """Tell whether `remember_ended` was called for this activity."""
    return uri is not None and is_undone(_ended(uri), actor)


def _ended(uri: str) -> str:
    return f"ended:{sha256(uri.encode()).hexdigest()}"


def is_undone(uri: str | None, actor: Account) -> bool:
    """Tell whether `remember_undone` was called for this activity."""
    return uri is not None and Tombstone.objects.filter(uri=uri, actor_uri=actor.uri).exists()


def local_account(uri: str | None) -> Account:
    """Return the local account with this id. Raises Rejected for any other id."""
    account = find_account_by_uri(uri) if uri is not None else None
    if account is None or not account.local:
        raise Rejected(Reason.NOT_OF_THIS_SERVER)
    return account
