"""Knows what a page shows of posts: `statuses/card.html` with a `ShownPost` as `post`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.conf import settings
from django.db.models import QuerySet
from django.utils.safestring import SafeString

from accounts.pages.person import Person, shown_person
from social.kernel.text.names import normalise_hashtag, visible_text
from social.pages.frame import url_of
from social.pages.text import shown_html
from statuses.models import MediaAttachment, MediaType, Status, StatusStat
from statuses.queries.statuses import list_statuses


@dataclass(frozen=True)
class Picture:
    """A picture of ours, by paths: a page may be read by another name of this server."""

    url: str
    preview: str
    description: str | None
    width: int
    height: int


@dataclass(frozen=True)
class ShownPost:
    """A post as `statuses/card.html` wants it."""

    status: Status
    author: Person
    url: str
    content: SafeString
    warning: str
    pictures: list[Picture]
    stat: StatusStat | None


def load_shown(ids: Collection[int]) -> list[ShownPost]:
    """The posts with these ids that anybody may read, in this order, in two queries; of one page, not of any number."""
    found = _with_all(list_statuses(None).filter(id__one_of=ids)).in_bulk()
    return [shown(found[number]) for number in ids if number in found]


def newest_shown(account_id: int, *, max_id: int | None, limit: int) -> list[ShownPost]:
    """An account's own posts that anybody may read, the newest first: no boosts, and no answers to others."""
    posts = list_statuses(None).filter(account_id=account_id, reblog_of=None)
    posts = posts.filter(in_reply_to_account=None) | posts.filter(in_reply_to_account_id=account_id)
    if max_id is not None:
        posts = posts.filter(id__lt=max_id)
    return [shown(post) for post in _with_all(posts).order_by("-id")[:limit]]


def newest_tagged(account_id: int, name: str, *, limit: int) -> list[ShownPost]:
    """An account's posts with a hashtag that anybody may read, the newest first."""
    posts = list_statuses(None).filter(account_id=account_id, status_tags__tag__name=normalise_hashtag(name))
    return [shown(post) for post in _with_all(posts).order_by("-id")[:limit]]


def shown(status: Status) -> ShownPost:
    """A post for a page: its account and stat are loaded, and its `media` prefetched where there are several."""
    own = url_of("post", username=status.account.username, id=status.id) if status.local else ""
    pictures = [_picture(media) for media in status.media.all() if media.type == MediaType.IMAGE and media.preview]
    return ShownPost(
        status=status,
        author=shown_person(status.account),
        url=own or status.url or status.uri or "",
        content=shown_html(status.content),
        warning=visible_text(status.spoiler_text),
        pictures=pictures,
        stat=getattr(status, "stat", None),
    )


def _with_all(posts: QuerySet[Status]) -> QuerySet[Status]:
    return posts.select_related("account", "stat").prefetch_related("media")


def _picture(media: MediaAttachment) -> Picture:
    small = media.meta.get("small") or {}
    return Picture(
        url=f"{settings.MEDIA_URL}{media.file}",
        preview=f"{settings.MEDIA_URL}{media.preview}",
        description=media.description,
        width=small.get("width") or 0,
        height=small.get("height") or 0,
    )
