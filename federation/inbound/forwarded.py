"""Acts upon what one server passes on of another: a hint, looked up at its origin (security row 9)."""

from __future__ import annotations

from federation.documents.reading import Rejected, uri_of
from federation.inbound.delete import delete_remote_post
from federation.inbound.incoming import Incoming
from federation.remote.fetching import Missing, fetch_document
from federation.remote.posts import find_or_fetch_post
from federation.remote.references import find_post


def handle(incoming: Incoming) -> None:
    """What one server passes on of another is only a hint: the post is looked at where it belongs (security row 9)."""
    uri = incoming.needed_object_uri()
    known = find_post(uri)
    if incoming.kind == "Create" and known is None:
        parent_uri = uri_of(incoming.object.get("inReplyTo"))
        parent = find_post(parent_uri) if parent_uri is not None else None
        if parent is None:
            raise Rejected("the forwarded post answers nothing known here")
        find_or_fetch_post(uri)
    elif incoming.kind == "Delete" and known is not None and not known.local and not known.is_deleted:
        try:
            fetch_document(uri)
        except Missing as missing:
            if not missing.gone:
                raise
            delete_remote_post(uri, known.account.uri)
        else:
            raise Rejected("its origin still has the forwarded deletion's post")
    else:
        raise Rejected("the actor is not the signer")
