"""Knows whose Follow an Accept or Reject is about (contract, federation section 7; security row 16)."""

from __future__ import annotations

from accounts.models import Account, Follow, FollowRequest
from federation.documents.reading import Rejected, uri_of
from federation.inbound.incoming import Incoming, local_account


def find_follower(incoming: Incoming) -> Account:
    """Whose Follow an answer is about: the request's or follow's by its id, else what the embedded Follow says.

    Raises Rejected when none of ours has asked, or has asked somebody else (security row 16).
    """
    uri = incoming.object_uri
    for model in (FollowRequest, Follow):
        row = model._default_manager.select_related("account").filter(uri=uri, target=incoming.actor).first()
        if row is not None and row.account.local:
            return row.account
    embedded = incoming.object
    if embedded.get("type") != "Follow" or uri_of(embedded.get("object")) != incoming.actor.uri:
        raise Rejected("the answer is about no follow of ours")
    return local_account(uri_of(embedded.get("actor")))
