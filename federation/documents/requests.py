"""Activities that request, accept and reject interactions with a post, in the vocabulary of GoToSocial (docs/adr/0044)."""

from typing import Any, Final

from accounts.models import Account
from federation.documents.context import build_activity
from federation.documents.notes import authorization_uri
from statuses.models import Interaction

REQUESTS: Final = {
    Interaction.FAVOURITE: "LikeRequest",
    Interaction.REPLY: "ReplyRequest",
    Interaction.REBLOG: "AnnounceRequest",
}
AUTHORIZATIONS: Final = {
    Interaction.FAVOURITE: "LikeAuthorization",
    Interaction.REPLY: "ReplyAuthorization",
    Interaction.REBLOG: "AnnounceAuthorization",
}


def request(kind: Interaction, uri: str, post_uri: str, author_uri: str, instrument: dict[str, Any]) -> dict[str, Any]:
    """Return a request, with the id `uri`, for an interaction (`instrument`) with the post `post_uri`, without @context."""
    return {
        "id": uri,
        "type": REQUESTS[kind],
        "actor": instrument.get("attributedTo") or instrument["actor"],
        "to": author_uri,
        "object": post_uri,
        "instrument": instrument,
    }


def answer(
    author: Account,
    kind: Interaction,
    *,
    actor_uri: str,
    post_uri: str,
    interaction_uri: str,
    request_uri: str | None,
    authorization: str | None,
    number: int | str,
) -> dict[str, Any]:
    """Return the Accept of an interaction with a local post, or the Reject if `authorization` is None. The object of the
    activity is the request, or the interaction if there was no request. `number` becomes part of the id.
    """
    name, place = ("Reject", "rejects") if authorization is None else ("Accept", "accepts")
    subject: str | dict[str, Any] = interaction_uri
    if request_uri is not None:
        subject = {
            "id": request_uri,
            "type": REQUESTS[kind],
            "actor": actor_uri,
            "object": post_uri,
            "instrument": interaction_uri,
        }
    uri, terms = f"{author.uri}#{place}/interactions/{number}", [REQUESTS[kind]] if request_uri is not None else []
    result = {} if authorization is None else {"result": authorization}
    return build_activity(name, uri, author.uri, subject, terms, to=actor_uri, target=post_uri, **result)


def authorization(
    author_uri: str, kind: Interaction, number: int, interaction_uri: str, post_uri: str
) -> dict[str, Any]:
    """Return an author's consent to an interaction, without @context; `number` is the id of the request."""
    return {
        "id": authorization_uri(author_uri, kind, number),
        "type": AUTHORIZATIONS[kind],
        "attributedTo": author_uri,
        "interactingObject": interaction_uri,
        "interactionTarget": post_uri,
    }
