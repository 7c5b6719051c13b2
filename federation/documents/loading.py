"""Reads what the document of a post is made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from accounts.models import Account, CustomEmoji
from accounts.queries.emojis import EmojiLookup
from social.kernel import links
from statuses.models import MediaAttachment, Mention, Quote, Status, StatusStat, StatusTag
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
    """A local post, not a boost, with its mentions, tags, files and emojis."""

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
    quote: Quote | None = None


def load_post(status: Status) -> Post:
    """The post with what its document shows: ten queries at most."""
    return load_posts([status])[0]


def load_posts(statuses: Sequence[Status]) -> list[Post]:
    """Local posts with what their documents show, in this order: ten queries at most, however many. Accounts are loaded."""
    ids = [status.id for status in statuses]
    parents = _parents(status.in_reply_to_id for status in statuses)
    mentions: dict[int, list[Mention]] = defaultdict(list)
    for mention in Mention.objects.select_related("account").filter(status_id__one_of=ids).order_by("id"):
        mentions[mention.status_id].append(mention)
    tags: dict[int, list[str]] = defaultdict(list)
    rows = StatusTag.objects.filter(status_id__one_of=ids).order_by("id")
    for status_id, name in rows.values_list("status_id", "tag__name"):
        tags[status_id].append(name)
    media: dict[int | None, list[MediaAttachment]] = defaultdict(list)
    for file in MediaAttachment.objects.filter(status_id__one_of=ids).order_by("position", "id"):
        media[file.status_id].append(file)
    stats = {stat.status_id: stat for stat in StatusStat.objects.filter(status_id__one_of=ids)}
    quotes = {
        quote.status_id: quote
        for quote in Quote.objects.select_related("quoted_status__account").filter(status_id__one_of=ids)
    }
    emojis = EmojiLookup((None, (status.text, status.spoiler_text)) for status in statuses)
    replies = _self_replies(statuses)
    return [
        Post(
            status=status,
            author=status.account,
            parent_uri=parents.get(status.in_reply_to_id, status.in_reply_to_uri),
            mentions=mentions[status.id],
            tags=tags[status.id],
            media=media[status.id],
            emojis=emojis.find(None, status.text, status.spoiler_text),
            self_replies=[links.status_uri(status.account.username, number) for number in replies[status.id]],
            favourites=stats[status.id].favourites_count if status.id in stats else 0,
            reblogs=stats[status.id].reblogs_count if status.id in stats else 0,
            quote=quotes.get(status.id),
        )
        for status in statuses
    ]


def _parents(ids: Iterable[int | None]) -> dict[int | None, str]:
    """The ActivityPub ids of the posts that are answered, as far as they are here."""
    wanted = {number for number in ids if number is not None}
    if not wanted:
        return {}
    return {parent.id: uri_of(parent) for parent in Status.objects.select_related("account").filter(id__one_of=wanted)}


def _self_replies(statuses: Sequence[Status]) -> dict[int | None, list[int]]:
    """The first SELF_REPLIES answers of its author to each of these posts."""
    place = Window(RowNumber(), partition_by="in_reply_to_id", order_by="id")
    rows = Status.objects.filter(
        in_reply_to_id__one_of=[status.id for status in statuses],
        in_reply_to__account_id=F("account_id"),
        deleted_at=None,
        visibility__in=FOR_ANYBODY,
    ).annotate(place=place)
    found: dict[int | None, list[int]] = defaultdict(list)
    for number, parent_id in rows.filter(place__lte=SELF_REPLIES).order_by("id").values_list("id", "in_reply_to_id"):
        found[parent_id].append(number)
    return found
