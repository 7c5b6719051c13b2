"""Reads what a page says about itself: oEmbed first, then OpenGraph, JSON-LD and plain HTML (behaviours section 9
"Cards").

Nothing of a page's or a provider's HTML is passed on. All that is taken is text, cut and without characters nobody sees,
and addresses of http or https; of a player only its address, and only of the providers in `_PLAYERS` (security row 2).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any, Final
from urllib.parse import urljoin

from lxml import etree

from social.kernel import json
from social.kernel.http.addresses import parse_url
from social.kernel.http.errors import Refused
from social.kernel.text.charsets import decode_page
from social.kernel.text.languages import known_language
from social.kernel.text.names import visible_text
from statuses.models import CardType
from statuses.models.card import DESCRIPTION_LIMIT, NAME_LIMIT, TITLE_LIMIT, URL_LIMIT

PAGE_BYTES: Final = 1 << 20
"""Length of the part of a page that is read: what it says about itself stands at its beginning."""
EMBED_BYTES: Final = 256 * 1024
PAGE_TYPES: Final = ("text/html", "application/xhtml+xml")
EMBED_LINKS: Final = ("application/json+oembed", "text/json+oembed", "text/xml+oembed", "application/xml+oembed")
"""The types of links to what a page says of itself by oEmbed (oEmbed, section 4), as they are written; the first that there is
counts.
"""
IMAGE_BYTES: Final = 8 * 1024 * 1024
"""Contract, federation section 16 "Card image"."""
PICTURES_TRIED: Final = 3
"""Pictures that are asked for, one after the other, until one can be shown."""

_TAGS: Final = 20_000
_PICTURES: Final = 10
_SIDE_LIMIT: Final = 10_000
# Around JSON, so that old readers of HTML and XML pass over it; and what no string of JSON may have in it.
_WRAPPINGS: Final = (("<!--", "-->"), ("<![CDATA[", "]]>"))
_COMMENT_SIGNS: Final = " \t\r\n/*;"
_CONTROLS: Final = re.compile(r"[\x00-\x1f]+")
_ARTICLES: Final = ("NewsArticle", "Article", "BlogPosting", "ReportageNewsArticle", "VideoObject", "WebPage")
_SCRIPT_BYTES: Final = 200_000
# Where players may come from: host and the beginning of the path, as these providers document their frames.
_PLAYERS: Final = {
    "www.youtube.com": "/embed/",
    "www.youtube-nocookie.com": "/embed/",
    "player.vimeo.com": "/video/",
    "geo.dailymotion.com": "/player",
    "www.dailymotion.com": "/embed/video/",
    "open.spotify.com": "/embed/",
    "w.soundcloud.com": "/player",
    "bandcamp.com": "/EmbeddedPlayer/",
}


@dataclass(frozen=True)
class PagePicture:
    """Address of a picture, and what its page says that it shows."""

    url: str
    description: str = ""


@dataclass(frozen=True)
class Preview:
    """Description of a page. Texts are empty and numbers 0 for what it does not say; `embed_url` is its oEmbed
    document, and of `pictures` the first that can be had is shown.
    """

    title: str = ""
    description: str = ""
    type: str = CardType.LINK
    language: str | None = None
    author_name: str = ""
    author_url: str = ""
    provider_name: str = ""
    provider_url: str = ""
    creator: str = ""
    player_url: str = ""
    width: int = 0
    height: int = 0
    pictures: tuple[PagePicture, ...] = ()
    published_at: datetime | None = None
    embed_url: str = ""


def read_page(body: bytes, content_type: str, url: str) -> Preview:
    """Read what the HTML at `url` says about itself. Never raises: what cannot be read says nothing."""
    page = _Page(url)
    text = decode_page(body[:PAGE_BYTES], content_type)
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, recover=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return Preview()
    if root is not None:
        page.read(root)
    return page.preview()


def read_embed(body: bytes, preview: Preview) -> Preview:
    """The preview of a page with what its oEmbed document says, which comes first. Never raises."""
    found = _embed(body)
    kind = found.get("type")
    preview = replace(
        preview,
        title=_text(found.get("title"), TITLE_LIMIT) or preview.title,
        author_name=_text(found.get("author_name"), NAME_LIMIT) or preview.author_name,
        author_url=_address(found.get("author_url")) or preview.author_url,
        provider_name=_text(found.get("provider_name"), NAME_LIMIT) or preview.provider_name,
        provider_url=_address(found.get("provider_url")) or preview.provider_url,
        pictures=_before(_address(found.get("thumbnail_url")), preview.pictures),
    )
    if kind == "photo" and (picture := _address(found.get("url"))):
        return replace(preview, type=CardType.PHOTO, pictures=_before(picture, preview.pictures))
    if kind == "video" and (player := _player_in(found.get("html"))):
        return replace(
            preview,
            type=CardType.VIDEO,
            player_url=player,
            width=_side(found.get("width")),
            height=_side(found.get("height")),
        )
    return preview


def _before(url: str, pictures: tuple[PagePicture, ...]) -> tuple[PagePicture, ...]:
    """The pictures of a page behind that of its oEmbed document, which has no description of its own."""
    description = pictures[0].description if pictures else ""
    return _pictures_of([PagePicture(url, description), *pictures])


def _pictures_of(pictures: Iterable[PagePicture]) -> tuple[PagePicture, ...]:
    """The first pictures that have an address, each once."""
    found: dict[str, PagePicture] = {}
    for each in pictures:
        if each.url:
            found.setdefault(each.url, each)
        if len(found) == PICTURES_TRIED:
            break
    return tuple(found.values())


def _embed(body: bytes) -> Mapping[str, Any]:
    """An oEmbed document, JSON or XML whatever it is called; empty for what is neither."""
    body = body.removeprefix(codecs.BOM_UTF8).strip()
    if not body.startswith(b"<"):
        try:
            found = json.loads(body.decode("utf-8", "replace"))
        except json.JSONDecodeError:
            return {}
        return found if isinstance(found, dict) else {}
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(body, parser)
    except (etree.LxmlError, ValueError):
        return {}
    return {child.tag: (child.text or "").strip() for child in root if isinstance(child.tag, str)}


@dataclass
class _Described:
    """A picture of a page: its addresses as they are written, and what it shows."""

    written: list[str] = field(default_factory=list)
    description: str = ""


class _Page:
    """The parts of a page that are looked at; of equal ones the first counts."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.metas: dict[str, list[str]] = {}
        self.pictures = [_Described()]
        self.title = ""
        self.language = ""
        self.embeds: dict[str, str] = {}
        self.article: dict[str, Any] = {}

    def read(self, root: Any) -> None:
        self.language = root.get("lang") or ""
        for number, element in enumerate(root.iter("html", "meta", "link", "title", "script", "svg")):
            if number > _TAGS:
                break
            match element.tag:
                case "html":
                    self.language = self.language or element.get("lang") or ""
                case "meta":
                    self._read_meta(element)
                case "title" if not self.title and not _is_inside(element, "svg"):
                    self.title = element.text or ""
                case "link":
                    self._read_link(element)
                case "script" if not self.article and _type_of(element) == "application/ld+json":
                    self.article = _article(element.text or "")

    def _read_meta(self, element: Any) -> None:
        content = (element.get("content") or "").strip()
        if content:
            for name in (element.get("property"), element.get("name"), element.get("itemprop")):
                if name:
                    self._keep(name.strip().lower(), content)

    def _keep(self, name: str, content: str) -> None:
        self.metas.setdefault(name, []).append(content)
        # What is said of a picture stands behind it (Open Graph, "Arrays"); some say it before the first one.
        picture = self.pictures[-1]
        if name == "og:image" and picture.written and content not in picture.written:
            picture = _Described()
            self.pictures.append(picture)
        if name in ("og:image", "og:image:secure_url", "og:image:url"):
            if len(picture.written) < _PICTURES:
                picture.written.append(content)
        elif name == "og:image:alt":
            picture.description = picture.description or content

    def _read_link(self, element: Any) -> None:
        relations = (element.get("rel") or "").lower().split()
        if "alternate" in relations and (kind := _type_of(element)) in EMBED_LINKS:
            self.embeds[kind] = self.embeds.get(kind) or self.address(element.get("href"))

    def meta(self, *names: str) -> str:
        return next((content for name in names for content in self.metas.get(name, ())[:1]), "")

    def _pictures(self) -> Iterator[PagePicture]:
        other = self.meta("twitter:image:alt")
        for picture in self.pictures[:_PICTURES]:
            yield from (self._picture(each, picture.description or other) for each in picture.written)
            other = ""
        for name in ("twitter:image", "twitter:image:src"):
            description = self.meta("twitter:image:alt", "og:image:alt")
            yield from (self._picture(each, description) for each in self.metas.get(name, ())[:_PICTURES])
        yield from map(self._picture, _pictures(self.article))

    def _picture(self, written: Any, description: str = "") -> PagePicture:
        return PagePicture(self.address(written), _text(description, DESCRIPTION_LIMIT))

    def address(self, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            return ""
        try:
            return _address(urljoin(self.url, value.strip()))
        except ValueError:
            return ""

    def preview(self) -> Preview:
        article = self.article
        author, publisher = _first(article.get("author")), _first(article.get("publisher"))
        written_by = self.meta("author", "article:author", "og:author", "og:article:author")
        author_url = self.address(written_by) if written_by.startswith(("http://", "https://")) else ""
        player = _player(self.address(self.meta("og:video:secure_url", "og:video:url", "og:video", "twitter:player")))
        return Preview(
            title=_text(
                self.meta("og:title", "twitter:title") or article.get("headline") or article.get("name") or self.title,
                TITLE_LIMIT,
            ),
            description=_text(
                self.meta("og:description", "twitter:description")
                or article.get("description")
                or self.meta("description"),
                DESCRIPTION_LIMIT,
            ),
            type=CardType.VIDEO if player else CardType.LINK,
            language=_language(self.meta("og:locale"), article.get("inLanguage"), self.language),
            author_name=_text("" if author_url else written_by, NAME_LIMIT) or _text(author.get("name"), NAME_LIMIT),
            author_url=author_url or self.address(author.get("url")),
            provider_name=_text(self.meta("og:site_name") or publisher.get("name"), NAME_LIMIT),
            provider_url=self.address(publisher.get("url")),
            creator=_creator(self.meta("fediverse:creator")),
            player_url=player,
            width=_side(self.meta("og:video:width", "twitter:player:width")) if player else 0,
            height=_side(self.meta("og:video:height", "twitter:player:height")) if player else 0,
            pictures=_pictures_of(self._pictures()),
            published_at=_moment(
                self.meta("article:published_time", "og:article:published_time", "og:published_time")
                or article.get("datePublished")
            ),
            embed_url=next((self.embeds[kind] for kind in EMBED_LINKS if self.embeds.get(kind)), ""),
        )


def _is_inside(element: Any, name: str) -> bool:
    return any(ancestor.tag == name for ancestor in element.iterancestors())


def _type_of(element: Any) -> str:
    return (element.get("type") or "").partition(";")[0].strip().lower()


def _article(script: str) -> dict[str, Any]:
    """The description of an article or page in a script of JSON-LD (schema.org)."""
    try:
        found = json.loads(_unwrapped(script[:_SCRIPT_BYTES]))
    except json.JSONDecodeError:
        return {}
    by_kind: dict[str, dict[str, Any]] = {}
    for item in _items(found):
        kinds = item.get("@type")
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            if isinstance(kind, str):
                by_kind.setdefault(kind, item)
    return next((by_kind[kind] for kind in _ARTICLES if kind in by_kind), {})


def _unwrapped(script: str) -> str:
    for start, end in _WRAPPINGS:
        script = script.strip(_COMMENT_SIGNS).removeprefix(start).removesuffix(end)
    return _CONTROLS.sub(" ", script.strip(_COMMENT_SIGNS))


def _items(found: Any) -> Iterator[dict[str, Any]]:
    for item in (found if isinstance(found, list) else [found])[:50]:
        if isinstance(item, dict):
            yield item
            graph = item.get("@graph")
            yield from (each for each in (graph if isinstance(graph, list) else [])[:50] if isinstance(each, dict))


def _first(value: Any) -> dict[str, Any]:
    value = value[0] if isinstance(value, list) and value else value
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, dict):
        return {}
    name = value.get("name")
    return {**value, **name} if isinstance(name, dict) else value


def _pictures(article: dict[str, Any]) -> Iterable[Any]:
    image = article.get("image") or article.get("thumbnailUrl")
    for item in (image if isinstance(image, list) else [image])[:5]:
        yield item.get("url") if isinstance(item, dict) else item


def _text(value: Any, limit: int) -> str:
    """A text as one line of what can be seen, cut to fit; empty for what is none."""
    if not isinstance(value, str):
        return ""
    # Some write references in JSON or twice; more than that is their own affair.
    return visible_text(unescape(value[: limit * 8]))[:limit].strip()


def _address(value: Any) -> str:
    """An address of http or https in its plain spelling; empty for anything else."""
    if not isinstance(value, str):
        return ""
    try:
        url = parse_url(value.strip()).url
    except Refused:
        return ""
    return url if len(url) <= URL_LIMIT else ""


def _player(url: str) -> str:
    """The address, if it is a player of a provider whose frames are shown."""
    if not url.startswith("https://"):
        return ""
    target = parse_url(url)
    start = _PLAYERS.get(target.netloc)
    path = url[len(f"https://{target.netloc}") :]
    return url if start is not None and path.startswith(start) and ".." not in path else ""


def _player_in(html: Any) -> str:
    """The address of the first frame in a provider's HTML, if it is such a player."""
    if not isinstance(html, str) or not html.strip():
        return ""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, recover=True)
    try:
        root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return ""
    frame = next(root.iter("iframe"), None) if root is not None else None
    return _player(_address(frame.get("src"))) if frame is not None else ""


def _side(value: Any) -> int:
    """A width or height in pixels; 0 for none that is of use."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 5:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _SIDE_LIMIT else 0


def _language(*values: Any) -> str | None:
    return next(
        (found for value in values if isinstance(value, str) and (found := known_language(value[:20])) is not None),
        None,
    )


def _moment(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    text = value.strip()[:40]
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            continue
        return moment if 1900 <= moment.year < 2100 else None
    return None


def _creator(value: str) -> str:
    """The address of an account, without its sign; empty for what is none."""
    address = value.strip().removeprefix("@")
    username, at, domain = address.partition("@")
    plain = len(address) <= NAME_LIMIT and address.isprintable() and not re.search(r"[\s/?#]", address)
    return address if username and at and domain and plain else ""
