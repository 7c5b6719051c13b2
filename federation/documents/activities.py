"""The activities we send (contract, federation section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accounts.models import Account
from federation.documents.actors import iso
from federation.documents.addressing import addresses
from federation.documents.context import ACTIVITY_STREAMS, PUBLIC, with_context
from federation.documents.loading import Post, activity_uri, followers_url_of, load_post, load_posts, uri_of
from federation.documents.notes import note, note_terms
from statuses.models import Status
from statuses.policies.visibility import is_for_followers_only


def create(post: Post, *, context: bool = True) -> dict[str, Any]:
    """The Create of a post; `context=False` for one inside a collection."""
    document = note(post)
    activity = {
        "id": activity_uri(post.status),
        "type": "Create",
        "actor": post.author.uri,
        "published": document["published"],
        "to": document["to"],
        "cc": document["cc"],
        "object": document,
    }
    return with_context(activity, note_terms(document)) if context else activity


def announce(boost: Status, *, context: bool = True) -> dict[str, Any]:
    """The Announce of a boost, whose `reblog_of` and both accounts are loaded.

    The author's own private post stands in it: nobody else may fetch it.
    """
    original = boost.reblog_of
    if original is None:
        raise ValueError(f"status {boost.id} is no boost")
    to, cc = addresses(boost.visibility, followers_url_of(boost.account), [])
    if boost.account_id != original.account_id:
        cc = [*cc, original.account.uri]
    activity = {
        "id": activity_uri(boost),
        "type": "Announce",
        "actor": boost.account.uri,
        "published": iso(boost.created_at),
        "to": to,
        "cc": cc,
        "object": uri_of(original),
    }
    if not context:
        return activity
    if is_for_followers_only(original.visibility):
        inner = note(load_post(original))
        return with_context(activity | {"object": inner}, note_terms(inner))
    return _with_plain_context(activity)


def of_posts(statuses: Sequence[Status]) -> list[dict[str, Any]]:
    """The Create or Announce of each, as they stand inside a collection; `reblog_of` and both accounts are loaded."""
    posts = {post.status.id: post for post in load_posts([each for each in statuses if each.reblog_of is None])}
    return [
        create(posts[each.id], context=False) if each.reblog_of is None else announce(each, context=False)
        for each in statuses
    ]


def undo_announce(boost: Status) -> dict[str, Any]:
    """Taking a boost back."""
    activity = announce(boost, context=False)
    return _undo(f"{boost.account.uri}#announces/{boost.id}/undo", boost.account, activity) | {
        "to": activity["to"],
        "cc": activity["cc"],
    }


def delete(status: Status) -> dict[str, Any]:
    """The end of a post."""
    uri = uri_of(status)
    activity = {
        "id": f"{uri}#delete",
        "type": "Delete",
        "actor": status.account.uri,
        "to": [PUBLIC],
        "object": tombstone(status),
    }
    return with_context(activity, ["atomUri"])


def tombstone(status: Status) -> dict[str, Any]:
    """What is left of a deleted post."""
    uri = uri_of(status)
    return {"id": uri, "type": "Tombstone", "atomUri": uri}


def delete_actor(account: Account) -> dict[str, Any]:
    """The end of an account."""
    activity = {
        "id": f"{account.uri}#delete",
        "type": "Delete",
        "actor": account.uri,
        "to": [PUBLIC],
        "object": account.uri,
    }
    return _with_plain_context(activity)


def update_actor(account: Account, document: dict[str, Any], unix_time: int) -> dict[str, Any]:
    """A profile that has changed; `document` is the actor with its @context, which becomes the activity's."""
    inner = dict(document)
    context = inner.pop("@context")
    return {
        "@context": context,
        "id": f"{account.uri}#updates/{unix_time}",
        "type": "Update",
        "actor": account.uri,
        "to": [PUBLIC],
        "object": inner,
    }


def like(account: Account, favourite_id: int, object_uri: str) -> dict[str, Any]:
    """A favourite."""
    return _act("Like", f"{account.uri}#likes/{favourite_id}", account, object_uri)


def undo_like(account: Account, favourite_id: int, object_uri: str) -> dict[str, Any]:
    """Taking a favourite back."""
    activity = like(account, favourite_id, object_uri)
    return _undo(f"{activity['id']}/undo", account, activity)


def follow(account: Account, target_uri: str, uri: str) -> dict[str, Any]:
    """A request to follow; `uri` is its id, which the answer refers to."""
    return _act("Follow", uri, account, target_uri)


def undo_follow(account: Account, target_uri: str, uri: str) -> dict[str, Any]:
    """The end of a follow, or of the request."""
    return _undo(f"{uri}/undo", account, follow(account, target_uri, uri))


def answer_follow(
    account: Account, follower_uri: str, follow_uri: str, *, accepted: bool, number: int
) -> dict[str, Any]:
    """Accept or Reject of somebody's Follow; `number` is the row's id here, for the answer's own id."""
    kind, place = ("Accept", "accepts") if accepted else ("Reject", "rejects")
    followed = {"id": follow_uri, "type": "Follow", "actor": follower_uri, "object": account.uri}
    return _act(kind, f"{account.uri}#{place}/follows/{number}", account, followed)


def block(account: Account, block_id: int, target_uri: str) -> dict[str, Any]:
    """A block; it is sent to the server of the blocked account only."""
    return _act("Block", f"{account.uri}#blocks/{block_id}", account, target_uri)


def undo_block(account: Account, block_id: int, target_uri: str) -> dict[str, Any]:
    """The end of a block."""
    activity = block(account, block_id, target_uri)
    return _undo(f"{activity['id']}/undo", account, activity)


def flag(sender: Account, uri: str, content: str, object_uris: Sequence[str]) -> dict[str, Any]:
    """A report, by this server and not by whom it is from: the account, then its posts and collections."""
    activity = {"id": uri, "type": "Flag", "actor": sender.uri, "content": content, "object": list(object_uris)}
    return _with_plain_context(activity)


def _undo(uri: str, account: Account, activity: dict[str, Any]) -> dict[str, Any]:
    inner = {name: value for name, value in activity.items() if name != "@context"}
    return _act("Undo", uri, account, inner)


def _act(kind: str, uri: str, account: Account, target: str | dict[str, Any]) -> dict[str, Any]:
    return _with_plain_context({"id": uri, "type": kind, "actor": account.uri, "object": target})


def _with_plain_context(activity: dict[str, Any]) -> dict[str, Any]:
    return {"@context": ACTIVITY_STREAMS, **activity}
