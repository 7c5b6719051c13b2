"""Helpers that create documents of remote posts."""

from datetime import timedelta
from typing import Any

from accounts.models import Account
from federation.documents.received_notes import read_note
from federation.remote.posts import store_note
from social.kernel import clock
from statuses.models import Status


def mention_document(author: Account, number: int, content: str, *, to: Account, **more: Any) -> dict[str, Any]:
    """Return the document of a public post from two hours ago that mentions the account `to`."""
    return {
        "id": f"{author.uri}/statuses/{number}",
        "type": "Note",
        "attributedTo": author.uri,
        "content": f'<p><a href="{to.uri}" class="u-url mention">@{to.username}</a> {content}</p>',
        "published": clock.iso(clock.now() - timedelta(hours=2)),
        "to": ["https://www.w3.org/ns/activitystreams#Public"],
        "cc": [to.uri],
        "tag": [{"type": "Mention", "href": to.uri, "name": f"@{to.username}"}],
        **more,
    }


def receive_mention(author: Account, number: int, content: str, *, to: Account, **more: Any) -> Status | None:
    """Receive a post that mentions the account `to`, and return it, or None if it is held for review."""
    return store_note(read_note(mention_document(author, number, content, to=to, **more)), author)
