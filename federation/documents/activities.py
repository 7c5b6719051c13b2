"""Activities that this server sends (contract, federation section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from accounts.models import Account
from federation.documents.actors import featured_url
from federation.documents.context import ACTIVITY_STREAMS, PUBLIC, addresses, followers_url_of, with_context
from federation.documents.notes import authorization_uri, load_notes, note_terms, quote_authorization_uri
from social.kernel import clock
from statuses.models import Interaction, InteractionRequest, RequestState
from statuses.policies.posts import Author, Post
from statuses.policies.visibility import allowed_visibility, is_for_followers_only


def create(note: dict[str, Any], *, context: bool = True) -> dict[str, Any]:
    """Return the Create of a post; `context=False` omits the @context, for an activity inside a collection."""
    activity = {
        "id": f"{note['id']}/activity",
        "type": "Create",
        "actor": note["attributedTo"],
        "published": note["published"],
        "to": note["to"],
        "cc": note["cc"],
        "object": note,
    }
    return with_context(activity, note_terms(note)) if context else activity


def announce(boost: Post, *, context: bool = True) -> dict[str, Any]:
    """Return the Announce of a boost; `context=False` omits the @context, for an activity inside a collection."""
    original = boost.proper
    visibility = allowed_visibility(boost.visibility, limited=boost.author.is_limited)
    to, cc = ([], []) if boost.local_only else addresses(visibility, followers_url_of(boost.author), [])
    activity = {
        "id": f"{boost.object_uri}/activity",
        "type": "Announce",
        "actor": boost.author.uri,
        "published": clock.iso_seconds(boost.created_at),
        "to": to,
        "cc": [*cc, original.author.uri],
        "object": original.object_uri,
    }
    return _with_plain_context(activity) if context else activity


def of_posts(posts: Sequence[Post], *, context: bool = True) -> dict[int, dict[str, Any]]:
    """Return the Create or Announce of each local post, by post id; `context=False` omits the @context, for activities inside a
    collection.

    With @context, the Announce of a followers-only post embeds the post, which is the booster's own: other servers cannot fetch
    it.
    """
    full_posts = [
        post for post in posts if post.original is None or (context and is_for_followers_only(post.original.visibility))
    ]
    notes = load_notes(post.proper for post in full_posts)
    found = {post.id: announce(post, context=context) for post in posts if post.original is not None}
    for number, uri in _approvals(posts).items():
        inner = {name: value for name, value in found[number].items() if name != "@context"}
        inner |= dict.fromkeys(_APPROVAL_TERMS, uri)
        found[number] = with_context(inner, _APPROVAL_TERMS) if context else inner
    for post in full_posts:
        inner = notes[post.proper.id]
        if post.original is None:
            found[post.id] = create(inner, context=context)
        else:
            found[post.id] = with_context(announce(post, context=False) | {"object": inner}, note_terms(inner))
    return found


_APPROVAL_TERMS: Final = ("announceAuthorization", "approvedBy")


def _approvals(posts: Sequence[Post]) -> dict[int, str]:
    """Return the ids of the authorizations of boosts that authors have approved, by boost; one query, none if no policy limits
    who may boost these posts.
    """
    limited = [post.id for post in posts if post.original is not None and post.original.interaction_policy]
    if not limited:
        return {}
    approved = InteractionRequest.objects.filter(answer_id__one_of=limited, state=RequestState.ACCEPTED)
    rows = approved.values_list("answer_id", "approval_uri", "target__uri", "id")
    return {
        number: uri or authorization_uri(author_uri, Interaction.REBLOG, request_id)
        for number, uri, author_uri, request_id in rows
        if number is not None
    }


def update(note: dict[str, Any], moment: datetime) -> dict[str, Any]:
    """Return the Update of a post that was edited or otherwise changed at `moment`. The activity's id has milliseconds, so that
    it differs from the id of another edit in the same second: some servers drop an activity whose id they have seen.
    """
    activity = {
        "id": f"{note['id']}#updates/{int(moment.timestamp() * 1000)}",
        "type": "Update",
        "actor": note["attributedTo"],
        "published": clock.iso_seconds(moment),
        "to": note["to"],
        "cc": note["cc"],
        "object": note,
    }
    return with_context(activity, note_terms(note))


def update_poll(note: dict[str, Any], moment: datetime) -> dict[str, Any]:
    """Return the Update with the vote counts of a poll at `moment` (contract, federation section 7 "Update Question")."""
    activity = update(note, moment)
    del activity["published"], activity["cc"]
    return activity


def vote(account: Account, number: int, option: str, poll_uri: str, author_uri: str) -> dict[str, Any]:
    """Return the Create of a vote for one option of a remote poll."""
    uri = f"{account.uri}#votes/{number}"
    note = {
        "id": uri,
        "type": "Note",
        "name": option,
        "attributedTo": account.uri,
        "inReplyTo": poll_uri,
        "to": author_uri,
    }
    return _act("Create", f"{uri}/activity", account, note) | {"to": author_uri}


def quote_request(note: dict[str, Any], uri: str, quoted_uri: str) -> dict[str, Any]:
    """Return the request to quote the remote post `quoted_uri` in the local post `note` (FEP-044f); `uri` is the id of the
    request, which the answer refers to.
    """
    activity = {
        "id": uri,
        "type": "QuoteRequest",
        "actor": note["attributedTo"],
        "object": quoted_uri,
        "instrument": note,
    }
    return with_context(activity, ["QuoteRequest", *note_terms(note)])


def answer_quote(
    account: Account, request: dict[str, Any], *, number: int, authorization_uri: str | None
) -> dict[str, Any]:
    """Return the Accept of a QuoteRequest, with the authorization as its result, or the Reject if `authorization_uri` is None;
    `number` is this server's id of the quote.
    """
    kind, place = ("Reject", "rejects") if authorization_uri is None else ("Accept", "accepts")
    activity = {
        "id": f"{account.uri}#{place}/quote_requests/{number}",
        "type": kind,
        "actor": account.uri,
        **({} if authorization_uri is None else {"result": authorization_uri}),
        "object": {**request, "type": "QuoteRequest"},
    }
    return with_context(activity, ["QuoteRequest"])


def quote_authorization(account: Account, number: int, quoting_uri: str, quoted_uri: str) -> dict[str, Any]:
    """Return the consent of `account` to a quote of its post, without @context; `number` is this server's id of the quote."""
    return {
        "id": quote_authorization_uri(account.uri, number),
        "type": "QuoteAuthorization",
        "attributedTo": account.uri,
        "interactingObject": quoting_uri,
        "interactionTarget": quoted_uri,
    }


def authorization_terms(authorization: dict[str, Any]) -> tuple[str, ...]:
    """Return the terms of a consent to a quote or to be in a collection, for `with_context`."""
    return (authorization["type"], "interactingObject", "interactionTarget")


def delete_authorization(account: Account, authorization: dict[str, Any]) -> dict[str, Any]:
    """Return the Delete of the consent to a quote, or to be in a collection."""
    activity = {
        "id": f"{authorization['id']}#delete",
        "type": "Delete",
        "actor": account.uri,
        "to": [PUBLIC],
        "object": authorization,
    }
    return with_context(activity, authorization_terms(authorization))


def undo_announce(boost: Post) -> dict[str, Any]:
    """Return the Undo of the Announce of a boost."""
    undone = announce(boost, context=False)
    return _undo(f"{boost.author.uri}#announces/{boost.id}/undo", boost.author, undone) | {"to": [PUBLIC]}


def delete(post: Post) -> dict[str, Any]:
    activity = {
        "id": f"{post.object_uri}#delete",
        "type": "Delete",
        "actor": post.author.uri,
        "to": [PUBLIC],
        "object": tombstone(post),
    }
    return with_context(activity, ["atomUri"])


def tombstone(post: Post) -> dict[str, Any]:
    """Return the Tombstone of a deleted post."""
    return {"id": post.object_uri, "type": "Tombstone", "atomUri": post.object_uri}


def delete_actor(account: Account) -> dict[str, Any]:
    activity = {
        "id": f"{account.uri}#delete",
        "type": "Delete",
        "actor": account.uri,
        "to": [PUBLIC],
        "object": account.uri,
    }
    return _with_plain_context(activity)


def update_actor(account: Account, document: dict[str, Any], unix_time: int) -> dict[str, Any]:
    """Return the Update of an actor; `document` is the actor with its @context, which is moved to the activity."""
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
    return _act("Like", f"{account.uri}#likes/{favourite_id}", account, object_uri)


def undo_like(account: Account, favourite_id: int, object_uri: str) -> dict[str, Any]:
    activity = like(account, favourite_id, object_uri)
    return _undo(f"{activity['id']}/undo", account, activity)


def follow(account: Account, target_uri: str, uri: str) -> dict[str, Any]:
    """Return the Follow of an account; `uri` is the id of the Follow, which the answer refers to."""
    return _act("Follow", uri, account, target_uri)


def undo_follow(account: Account, target_uri: str, uri: str) -> dict[str, Any]:
    """Return the Undo of a Follow, whether or not it was accepted."""
    return _undo(f"{uri}/undo", account, follow(account, target_uri, uri))


def answer_follow(
    account: Account, follower_uri: str, follow_uri: str, *, accepted: bool, number: int
) -> dict[str, Any]:
    """Return the Accept or Reject of a remote Follow; `number` is this server's id of the follow or request, and becomes part
    of the answer's id.
    """
    kind, place = ("Accept", "accepts") if accepted else ("Reject", "rejects")
    followed = {"id": follow_uri, "type": "Follow", "actor": follower_uri, "object": account.uri}
    return _act(kind, f"{account.uri}#{place}/follows/{number}", account, followed)


def block(account: Account, uri: str, target_uri: str) -> dict[str, Any]:
    """Return the Block of an account; it is sent to the server of the blocked account only."""
    return _act("Block", uri, account, target_uri)


def undo_block(account: Account, uri: str, target_uri: str) -> dict[str, Any]:
    return _undo(f"{uri}/undo", account, block(account, uri, target_uri))


def move(account: Account, number: int, target_uri: str) -> dict[str, Any]:
    """Return the Move of an account to the account with the id `target_uri`."""
    return _act("Move", f"{account.uri}#moves/{number}", account, account.uri) | {"target": target_uri}


def featuring(account: Account, target: str | dict[str, Any], *, is_added: bool) -> dict[str, Any]:
    """Return the Add or Remove of a pinned post (`target` is its id) or of a featured hashtag (`target` is the Hashtag) on the
    account's profile. The activity has no id (contract, federation section 7).
    """
    activity = {
        "type": "Add" if is_added else "Remove",
        "actor": account.uri,
        "target": featured_url(account),
        "object": target,
    }
    return with_context(activity, ["Hashtag"] if isinstance(target, dict) else [])


def flag(sender: Account, uri: str, content: str, object_uris: Sequence[str]) -> dict[str, Any]:
    """Return the Flag of a report, sent by the instance actor (`sender`) instead of the reporter. `object_uris` are the ids of
    the reported account and of its reported posts and collections.
    """
    activity = {"id": uri, "type": "Flag", "actor": sender.uri, "content": content, "object": list(object_uris)}
    return _with_plain_context(activity)


def _undo(uri: str, account: Account | Author, activity: dict[str, Any]) -> dict[str, Any]:
    inner = {name: value for name, value in activity.items() if name != "@context"}
    return _act("Undo", uri, account, inner)


def _act(kind: str, uri: str, account: Account | Author, target: str | dict[str, Any]) -> dict[str, Any]:
    return _with_plain_context({"id": uri, "type": kind, "actor": account.uri, "object": target})


def _with_plain_context(activity: dict[str, Any]) -> dict[str, Any]:
    return {"@context": ACTIVITY_STREAMS, **activity}
