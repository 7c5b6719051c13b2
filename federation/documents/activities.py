"""Activities that this server sends (contract, federation section 7)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from accounts.models import Account
from federation.documents.actors import featured_url
from federation.documents.context import PUBLIC, addresses, build_activity, followers_url_of, with_context
from federation.documents.notes import authorization_uri, load_notes, note_terms, quote_authorization_uri
from social.kernel import clock
from statuses.models import Interaction, InteractionRequest, RequestState
from statuses.policies.posts import Author, Post
from statuses.policies.visibility import allowed_visibility, is_for_followers_only


def create(note: dict[str, Any], *, context: bool = True) -> dict[str, Any]:
    """Return the Create of a post; `context=False` omits the @context, for an activity inside a collection."""
    activity = _of_note("Create", f"{note['id']}/activity", note, note["published"])
    return with_context(activity, note_terms(note)) if context else activity


def _of_note(kind: str, uri: str, note: dict[str, Any], published: str) -> dict[str, Any]:
    return {
        "id": uri,
        "type": kind,
        "actor": note["attributedTo"],
        "published": published,
        "to": note["to"],
        "cc": note["cc"],
        "object": note,
    }


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
    return with_context(activity) if context else activity


def of_posts(posts: Sequence[Post], *, context: bool = True) -> dict[int, dict[str, Any]]:
    """Return the Create or Announce of each local post, keyed by post id; `context` has the same meaning as in `create`.

    With @context, the Announce of a followers-only post embeds the post, because other servers cannot fetch it.
    """
    full_posts = [
        post for post in posts if post.original is None or (context and is_for_followers_only(post.original.visibility))
    ]
    notes = load_notes(post.proper for post in full_posts)
    documents = {post.id: announce(post, context=context) for post in posts if post.original is not None}
    for number, uri in _approvals(posts).items():
        inner = {name: value for name, value in documents[number].items() if name != "@context"}
        inner |= dict.fromkeys(_APPROVAL_TERMS, uri)
        documents[number] = with_context(inner, _APPROVAL_TERMS) if context else inner
    for post in full_posts:
        inner = notes[post.proper.id]
        if post.original is None:
            documents[post.id] = create(inner, context=context)
        else:
            documents[post.id] = with_context(announce(post, context=False) | {"object": inner}, note_terms(inner))
    return documents


_APPROVAL_TERMS: Final = ("announceAuthorization", "approvedBy")


def _approvals(posts: Sequence[Post]) -> dict[int, str]:
    """Return the ids of the authorizations of approved boosts, keyed by boost id.

    One query, or none if no policy limits boosts.
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
    """Return the Update of a post changed at `moment`. The Update's id contains milliseconds, because some servers drop
    activities with known ids.
    """
    uri = f"{note['id']}#updates/{int(moment.timestamp() * 1000)}"
    return with_context(_of_note("Update", uri, note, clock.iso_seconds(moment)), note_terms(note))


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
    return build_activity("Create", f"{uri}/activity", account.uri, note, to=author_uri)


def quote_request(note: dict[str, Any], uri: str, quoted_uri: str) -> dict[str, Any]:
    """Return the QuoteRequest, with the id `uri`, for the quote of the post `quoted_uri` in the post `note` (FEP-044f)."""
    terms = ["QuoteRequest", *note_terms(note)]
    return build_activity("QuoteRequest", uri, note["attributedTo"], quoted_uri, terms, instrument=note)


def answer_quote(
    account: Account, request: dict[str, Any], *, number: int, authorization_uri: str | None
) -> dict[str, Any]:
    """Return the Accept of a QuoteRequest, or the Reject if `authorization_uri` is None; `number` is the quote's local id."""
    kind, place = ("Reject", "rejects") if authorization_uri is None else ("Accept", "accepts")
    uri = f"{account.uri}#{place}/quote_requests/{number}"
    result = {} if authorization_uri is None else {"result": authorization_uri}
    return build_activity(kind, uri, account.uri, request | {"type": "QuoteRequest"}, ["QuoteRequest"], **result)


def quote_authorization(account: Account, number: int, quoting_uri: str, quoted_uri: str) -> dict[str, Any]:
    """Return the consent of `account` to the quote with the id `number`, without @context."""
    return {
        "id": quote_authorization_uri(account.uri, number),
        "type": "QuoteAuthorization",
        "attributedTo": account.uri,
        "interactingObject": quoting_uri,
        "interactionTarget": quoted_uri,
    }


def authorization_terms(authorization: dict[str, Any]) -> tuple[str, ...]:
    """Return the terms of an authorization (of a quote or of a collection item), for `with_context`."""
    return (authorization["type"], "interactingObject", "interactionTarget")


def delete_authorization(account: Account, authorization: dict[str, Any]) -> dict[str, Any]:
    """Return the Delete of an authorization (of a quote or of a collection item)."""
    uri, terms = f"{authorization['id']}#delete", authorization_terms(authorization)
    return build_activity("Delete", uri, account.uri, authorization, terms, to=[PUBLIC])


def undo_announce(boost: Post) -> dict[str, Any]:
    undone = announce(boost, context=False)
    return _undo(f"{boost.author.uri}#announces/{boost.id}/undo", boost.author, undone, to=[PUBLIC])


def delete(post: Post) -> dict[str, Any]:
    uri = f"{post.object_uri}#delete"
    return build_activity("Delete", uri, post.author.uri, tombstone(post), ["atomUri"], to=[PUBLIC])


def tombstone(post: Post) -> dict[str, Any]:
    return {"id": post.object_uri, "type": "Tombstone", "atomUri": post.object_uri}


def delete_actor(account: Account) -> dict[str, Any]:
    return build_activity("Delete", f"{account.uri}#delete", account.uri, account.uri, to=[PUBLIC])


def update_actor(account: Account, document: dict[str, Any], unix_time: int) -> dict[str, Any]:
    """Return the Update of an actor; `document` already has a @context."""
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
    return build_activity("Like", f"{account.uri}#likes/{favourite_id}", account.uri, object_uri)


def undo_like(account: Account, favourite_id: int, object_uri: str) -> dict[str, Any]:
    activity = like(account, favourite_id, object_uri)
    return _undo(f"{activity['id']}/undo", account, activity)


def follow(account: Account, target_uri: str, uri: str) -> dict[str, Any]:
    """Return the Follow of an account; `uri` is the id of the Follow, which the answer refers to."""
    return build_activity("Follow", uri, account.uri, target_uri)


def undo_follow(account: Account, target_uri: str, uri: str) -> dict[str, Any]:
    """Return the Undo of a Follow, whether or not it was accepted."""
    return _undo(f"{uri}/undo", account, follow(account, target_uri, uri))


def answer_follow(
    account: Account, follower_uri: str, follow_uri: str, *, accepted: bool, number: int
) -> dict[str, Any]:
    """Return the Accept or Reject of a remote Follow; `number` (the id of the local row) is part of the activity's id."""
    kind, place = ("Accept", "accepts") if accepted else ("Reject", "rejects")
    followed = {"id": follow_uri, "type": "Follow", "actor": follower_uri, "object": account.uri}
    return build_activity(kind, f"{account.uri}#{place}/follows/{number}", account.uri, followed)


def block(account: Account, uri: str, target_uri: str) -> dict[str, Any]:
    """Return the Block of an account; it is sent only to the server of the blocked account."""
    return build_activity("Block", uri, account.uri, target_uri)


def undo_block(account: Account, uri: str, target_uri: str) -> dict[str, Any]:
    return _undo(f"{uri}/undo", account, block(account, uri, target_uri))


def move(account: Account, number: int, target_uri: str) -> dict[str, Any]:
    return build_activity("Move", f"{account.uri}#moves/{number}", account.uri, account.uri, target=target_uri)


def featuring(account: Account, target: str | dict[str, Any], *, is_added: bool) -> dict[str, Any]:
    """Return the Add (if `is_added`, otherwise the Remove) of a pinned post or of a featured hashtag on the account's profile.
    `target` is the id of the post or the Hashtag object. The activity has no id (contract, federation section 7).
    """
    activity = {
        "type": "Add" if is_added else "Remove",
        "actor": account.uri,
        "target": featured_url(account),
        "object": target,
    }
    return with_context(activity, ["Hashtag"] if isinstance(target, dict) else [])


def flag(sender: Account, uri: str, content: str, object_uris: Sequence[str]) -> dict[str, Any]:
    """Return the Flag of a report, sent by the instance actor (`sender`) about the objects with these ids."""
    return build_activity("Flag", uri, sender.uri, list(object_uris), content=content)


def _undo(uri: str, account: Account | Author, activity: dict[str, Any], **members: object) -> dict[str, Any]:
    inner = {name: value for name, value in activity.items() if name != "@context"}
    return build_activity("Undo", uri, account.uri, inner, **members)
