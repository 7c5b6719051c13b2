"""What a page shows of posts: `statuses/card.html` with a `ShownPost` as `post`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import QuerySet
from django.utils.safestring import SafeString

from accounts.pages.person import Person, shown_person
from social.kernel import links
from social.kernel.text.names import normalise_hashtag, unambiguous_domain, visible_text
from social.kernel.text.plain import plain
from social.pages.frame import url_of
from social.pages.sharing import Sharing, absolute
from social.pages.text import shown_html
from statuses.models import MediaAttachment, MediaType, Processing, Status, StatusStat
from statuses.policies.cards import host_of
from statuses.queries.cards import ShownCard, load_status_cards
from statuses.queries.statuses import list_statuses
from statuses.serializers.media import file_url, preview_url


@dataclass(frozen=True)
class ShownFile:
    """A file of a post, by paths: a page may be read by another name of this server.

    `kind`: image, gifv, video, audio, or unknown for what is a link only. `preview` is empty where there is none; `width`
    and `height` are those of the preview, or of the video.
    """

    kind: str
    url: str
    preview: str
    description: str
    width: int
    height: int


@dataclass(frozen=True)
class LinkPreview:
    """The preview of a link, by what is shown of it; `host` is in letters that cannot be taken for others."""

    url: str
    host: str
    title: str
    description: str
    language: str | None
    image: str
    image_description: str
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
    files: list[ShownFile]
    stat: StatusStat | None
    card: LinkPreview | None = None

    @property
    def sharing(self) -> Sharing:
        """What the page of the post says to those that show a preview of it: nothing that its author has covered."""
        status, author = self.status, self.status.account
        url = absolute(self.url)
        pictures = (file for file in self.files if file.kind == MediaType.IMAGE)
        open_picture = next(pictures, None) if not (status.sensitive or self.warning) else None
        description = self.warning or plain(status.content)
        return Sharing(
            kind="article",
            url=url,
            title=f"{self.author.name} ({self.author.address})",
            description=" ".join(visible_text(description).split()),
            image=absolute(open_picture.url if open_picture is not None else self.author.avatar),
            image_description=open_picture.description if open_picture is not None else "",
            large_image=open_picture is not None,
            published_at=status.created_at,
            username=f"{author.username}@{settings.LOCAL_DOMAIN}",
            embed_url=f"{links.web_url('/api/oembed')}?{urlencode({'url': url})}",
        )


def load_shown(ids: Collection[int]) -> list[ShownPost]:
    """The posts with these ids that anybody may read, in this order, in three queries; of one page, not of any number."""
    found = _with_all(list_statuses(None).filter(id__one_of=ids)).in_bulk()
    return _all_shown(found[number] for number in ids if number in found)


def newest_shown(account_id: int, *, max_id: int | None, limit: int) -> list[ShownPost]:
    """An account's own posts that anybody may read, the newest first: no boosts, and no answers to others."""
    posts = list_statuses(None).filter(account_id=account_id, reblog_of=None)
    posts = posts.filter(in_reply_to_account=None) | posts.filter(in_reply_to_account_id=account_id)
    if max_id is not None:
        posts = posts.filter(id__lt=max_id)
    return _all_shown(_with_all(posts).order_by("-id")[:limit])


def newest_tagged(account_id: int, name: str, *, limit: int) -> list[ShownPost]:
    """An account's posts with a hashtag that anybody may read, the newest first."""
    posts = list_statuses(None).filter(account_id=account_id, status_tags__tag__name=normalise_hashtag(name))
    return _all_shown(_with_all(posts).order_by("-id")[:limit])


def _all_shown(posts: Iterable[Status]) -> list[ShownPost]:
    found = list(posts)
    cards = load_status_cards((post.id for post in found), None).by_id
    return [shown(post, cards.get(post.id)) for post in found]


def shown(status: Status, card: ShownCard | None = None) -> ShownPost:
    """A post for a page: its account and stat are loaded, and its `media` prefetched where there are several."""
    own = url_of("post", username=status.account.username, id=status.id) if status.local else ""
    files = [_file(media) for media in status.media.all() if media.processing == Processing.COMPLETE]
    return ShownPost(
        status=status,
        author=shown_person(status.account),
        url=own or status.url or status.uri or "",
        content=shown_html(status.content),
        warning=visible_text(status.spoiler_text),
        files=[file for file in files if file.url],
        stat=getattr(status, "stat", None),
        card=_preview(card) if card is not None else None,
    )


def _with_all(posts: QuerySet[Status]) -> QuerySet[Status]:
    return posts.select_related("account", "stat").prefetch_related("media")


def _file(media: MediaAttachment) -> ShownFile:
    size = media.meta.get("small") or media.meta.get("original") or {}
    # What this server cannot show is a link to where it is.
    url = media.remote_url if media.type == MediaType.UNKNOWN else file_url(media)
    return ShownFile(
        kind=media.type,
        url=_path(url),
        preview=_path(preview_url(media)),
        description=media.description or "",
        width=size.get("width") or 0,
        height=size.get("height") or 0,
    )


def _preview(shown: ShownCard) -> LinkPreview:
    card = shown.card
    return LinkPreview(
        url=shown.url,
        host=unambiguous_domain(host_of(card.url)),
        title=card.title,
        description=card.description,
        language=card.language,
        image=f"{settings.MEDIA_URL}{card.image}" if card.image else "",
        image_description=card.image_description,
        width=card.width if card.image else 0,
        height=card.height if card.image else 0,
    )


def _path(url: str | None) -> str:
    return (url or "").removeprefix(settings.BASE_URL)
