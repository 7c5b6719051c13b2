"""Reads what the document of a post is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accounts.models import Account, CustomEmoji
from accounts.queries.emojis import EmojiLookup
from social.kernel import links
from statuses.models import MediaAttachment, Mention, Status, StatusStat, StatusTag
from statuses.policies.visibility import FOR_ANYBODY

SELF_REPLIES = 5
"""How many of the author's own replies stand in the document itself (contract, federation section 5)."""


def uri_of(status: Status) -> str:
    """The ActivityPub id of a post, whose account is loaded."""
    return status.uri or links.status_uri(status.account.username, status.id)


def activity_uri(status: Status) -> str:
    """The id of the Create or Announce of a local post."""
    return f"{uri_of(status)}/activity"


def followers_url_of(account: Account) -> str:
    """The collection that stands for an account's followers in an addressing; empty when it has none."""
    return f"{account.uri}/followers" if account.local else account.followers_url


@dataclass(frozen=True)
class Post:
    """A local post, not a boost, with what hangs on it."""

    status: Status
    author: Account
    parent_uri: str | None
    mentions: Sequence[Mention]
    tags: Sequence[str]
    media: Sequence[MediaAttachment]
    emojis: Sequence[CustomEmoji]
    self_replies: Sequence[str]
    favourites: int
    reblogs: int


def load_post(status: Status) -> Post:
    """The post with what its document shows: eight queries at most."""
    author = status.account
    parent_uri = status.in_reply_to_uri
    if status.in_reply_to_id is not None:
        parent = Status.objects.select_related("account").filter(id=status.in_reply_to_id).first()
        parent_uri = uri_of(parent) if parent is not None else parent_uri
    stat = StatusStat.objects.filter(status_id=status.id).first()
    own_replies = Status.objects.filter(
        in_reply_to_id=status.id, account_id=status.account_id, deleted_at=None, visibility__in=FOR_ANYBODY
    ).order_by("id")[:SELF_REPLIES]
    return Post(
        status=status,
        author=author,
        parent_uri=parent_uri,
        mentions=list(Mention.objects.select_related("account").filter(status_id=status.id).order_by("id")),
        tags=list(StatusTag.objects.filter(status_id=status.id).order_by("id").values_list("tag__name", flat=True)),
        media=list(MediaAttachment.objects.filter(status_id=status.id).order_by("position", "id")),
        emojis=EmojiLookup([(None, (status.text, status.spoiler_text))]).find(None, status.text, status.spoiler_text),
        self_replies=[links.status_uri(author.username, reply.id) for reply in own_replies],
        favourites=stat.favourites_count if stat is not None else 0,
        reblogs=stat.reblogs_count if stat is not None else 0,
    )
