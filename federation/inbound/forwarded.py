"""Handles forwarded activities. A forwarded activity is only a hint: its object is fetched from the object's origin (security
row 9).
"""

from typing import Final

from accounts.services.remote_accounts import may_refresh
from federation.documents.reading import kinds_of, uri_of
from federation.inbound.incoming import Incoming
from federation.inbound.posts import delete_remote_post
from federation.inbound.quotes import authorized_by
from federation.reasons import Reason, Rejected
from federation.remote import actors, references, requests, sharing
from federation.remote.fetching import Missing, fetch_document
from federation.remote.posts import find_or_fetch_post, is_followed_here
from statuses.models import Status
from statuses.services.quotes import settle_quote

# Contract, federation section 10: most servers answer 404 for deleted objects, 401 and 403 for objects that are not public.
_PROOF: Final = (404, 410)


def handle(incoming: Incoming) -> None:
    """Handle an activity whose signer is not its actor: fetch its object from the object's origin, and store, update or delete
    the object. Raises Rejected for activities that are not accepted when forwarded.
    """
    uri = incoming.needed_object_uri()
    post = references.find_post_by_uri(uri)
    if incoming.kind == "Create" and post is None:
        parent_uri = uri_of(incoming.object.get("inReplyTo"))
        parent = references.find_post_by_uri(parent_uri) if parent_uri is not None else None
        if not sharing.is_relay(incoming.actor) and (parent is None or not is_followed_here(parent)):
            raise Rejected(Reason.FORWARDED_ANSWERS_NOTHING)
        find_or_fetch_post(uri)
    elif incoming.kind == "Update" and uri == uri_of(incoming.document.get("actor")):
        _update_actor(uri)
    elif incoming.kind == "Update" and post is not None and not post.local and post.is_for_anybody:
        # The post is fetched with a delay, once for all copies that arrive in the meantime.
        requests.request_edit(uri)
    elif incoming.kind == "Delete" and post is not None and not post.local and not post.is_deleted:
        _delete(post, uri)
    elif incoming.kind == "Delete" and post is None:
        _revoke(uri, uri_of(incoming.document.get("actor")) or "")
    else:
        raise Rejected(Reason.OTHER_SIGNER)


def _update_actor(uri: str) -> None:
    account = references.find_account_by_uri(uri)
    if account is None or account.local:
        raise Rejected(Reason.UNKNOWN_FORWARDED_PROFILE)
    if not may_refresh(account):
        raise Rejected(Reason.LOOKED_AT_LATELY)
    actors.refresh(account)


def _delete(post: Status, uri: str) -> None:
    """Delete a post that no longer exists at its origin (security row 53). A private post is deleted only if its author has
    signed the Delete, because its origin answers other servers as if the post did not exist.
    """
    if not post.is_for_anybody:
        raise Rejected(Reason.DELETE_BY_OTHER)
    _confirm_gone(uri)
    delete_remote_post(uri, post.account.uri)


def _revoke(uri: str, author_uri: str) -> None:
    """End quotes whose authorization no longer exists at its origin; both posts must be public or unlisted."""
    quotes = [quote for quote in authorized_by(uri, author_uri) if quote.status.is_for_anybody]
    if not any(quote.quoted_status is not None and quote.quoted_status.is_for_anybody for quote in quotes):
        raise Rejected(Reason.OTHER_SIGNER)
    _confirm_gone(uri)
    for quote in quotes:
        settle_quote(quote_id=quote.id, accepted=False)


def _confirm_gone(uri: str) -> None:
    try:
        document = fetch_document(uri)
    except Missing as missing:
        if missing.status not in _PROOF:
            raise
    else:
        if "Tombstone" not in kinds_of(document):
            raise Rejected(Reason.STILL_THERE)
