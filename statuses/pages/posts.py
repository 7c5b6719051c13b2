"""What a page shows of posts: `statuses/card.html` with a `ShownPost` as `post`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import QuerySet
from django.utils.safestring import SafeString

from accounts.pages.person import Person, shown_person
from social.kernel import clock, links
from social.kernel.text.names import normalise_hashtag, unambiguous_domain, visible_text
from social.kernel.text.plain import plain
from social.pages.frame import url_of
from social.pages.sharing import Sharing, absolute
from social.pages.text import shown_html
from statuses.models import MediaAttachment, MediaType, Poll, Processing, Quote, QuoteState, Status, StatusStat
from statuses.policies.cards import host_of
from statuses.policies.polls import has_ended
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
class ShownOption:
    """An option of a poll; `share` is how many of a hundred have chosen it, None while that is kept from readers."""

    title: str
    share: int | None


@dataclass(frozen=True)
class ShownPoll:
    """A poll as anybody sees it. `voters` counts people, or the votes where their number is not known."""

    options: list[ShownOption]
    voters: int
    expires_at: datetime | None
    ended: bool


@dataclass(frozen=True)
class ShownPost:
    """A post as `statuses/card.html` wants it.

    `quoted` is the post that it quotes, one level deep; with `quotes` alone there is one that is not shown here.
    """

    status: Status
    author: Person
    url: str
    content: SafeString
    warning: str
    files: list[ShownFile]
    stat: StatusStat | None
    card: LinkPreview | None = None
    poll: ShownPoll | None = None
    quotes: bool = False
    quoted: ShownPost | None = None

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
    """The posts with these ids that anybody may read, in this order; of one page, not of any number.

    In three queries, and two more where posts are quoted.
    """
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
    named = [quote.quoted_status_id for post in found if (quote := _accepted_quote(post)) is not None]
    quoted = _with_all(list_statuses(None).filter(id__one_of=named)).in_bulk() if named else {}
    return [_shown(post, cards.get(post.id), quoted) for post in found]


def _accepted_quote(status: Status) -> Quote | None:
    quote: Quote | None = getattr(status, "quote", None)
    return quote if quote is not None and quote.state == QuoteState.ACCEPTED and quote.quoted_status_id else None


def _shown(status: Status, card: ShownCard | None, quoted: Mapping[int, Status]) -> ShownPost:
    """With what it quotes, of the posts that were read for that: none stands there with what it quotes itself."""
    quote, poll = _accepted_quote(status), getattr(status, "poll", None)
    target = quoted.get(quote.quoted_status_id or 0) if quote is not None else None
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
        poll=_poll(poll) if poll is not None else None,
        quotes=getattr(status, "quote", None) is not None,
        quoted=_shown(target, None, {}) if target is not None else None,
    )


def _poll(poll: Poll) -> ShownPoll:
    ended = has_ended(poll.expires_at, clock.now())
    votes = sum(poll.tallies)
    # Of several choices each person counts once: the shares may add up to more than a hundred.
    whole = max(poll.voters_count or votes, *poll.tallies, 1)
    return ShownPoll(
        options=[
            ShownOption(visible_text(title), None if poll.hide_totals and not ended else round(100 * tally / whole))
            for title, tally in zip(poll.options, poll.tallies, strict=True)
        ],
        voters=poll.voters_count if poll.voters_count is not None else votes,
        expires_at=poll.expires_at,
        ended=ended,
    )


def _with_all(posts: QuerySet[Status]) -> QuerySet[Status]:
    return posts.select_related("account", "stat", "poll", "quote").prefetch_related("media")


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
