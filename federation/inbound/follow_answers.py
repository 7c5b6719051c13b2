"""Which Follow of ours an Accept or Reject is about (contract, federation section 7; security row 16)."""

from __future__ import annotations

from accounts.models import Account, Follow, FollowRequest
from federation.documents.reading import Rejected, uri_of
from federation.inbound.incoming import Incoming, local_account
from federation.remote.references import is_own


def find_follower(incoming: Incoming) -> Account:
    """Who of us has sent the Follow that is answered: named by its id or, where it has no id of ours, embedded.

    Raises Rejected when none of us has asked, or has asked somebody else (security row 16), and for the answer to a
    Follow that has been undone meanwhile: the newer one is still to be answered.
    """
    uri = incoming.object_uri
    for model in (FollowRequest, Follow):
        row = model._default_manager.select_related("account").filter(uri=uri, target=incoming.actor).first()
        if row is not None and row.account.local:
            return row.account
    embedded = incoming.object
    is_follow = embedded.get("type") == "Follow" and uri_of(embedded.get("object")) == incoming.actor.uri
    if not is_follow or (uri is not None and is_own(uri)):
        raise Rejected("the answer is about no follow of ours")
    return local_account(uri_of(embedded.get("actor")))


def is_answered(row: Follow | FollowRequest, incoming: Incoming) -> bool:
    """Whether a row is still the one that the answer names; asked while the lock of the pair is held."""
    uri = incoming.object_uri
    return uri is None or not is_own(uri) or row.uri == uri
