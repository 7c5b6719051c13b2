"""Reads a page's metadata from oEmbed, Open Graph, JSON-LD or HTML, in order of preference (behaviours section 9 "Cards")."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from lxml import etree

from social.kernel import json
from social.kernel.reasons import Reason
from social.kernel.text.charsets import decode_page
from statuses.models import CardType
from statuses.models.card import DESCRIPTION_LIMIT, NAME_LIMIT, TITLE_LIMIT
from statuses.policies import preview_values

PAGE_BYTES: Final = 1 << 20
"""Maximum number of bytes that are read from a page; the metadata is at the beginning."""
PAGE_TYPES: Final = ("text/html", "application/xhtml+xml")
EMBED_LINKS: Final = ("application/json+oembed", "text/json+oembed", "text/xml+oembed", "application/xml+oembed")
"""Types of a page's links to its oEmbed document (oEmbed, section 4), the preferred type first."""
IMAGE_BYTES: Final = 8 * 1024 * 1024
"""Maximum size in bytes of a picture (contract, federation section 16 "Card image")."""
PICTURES_TRIED: Final = 3
"""Maximum number of pictures of a page that are tried, one after the other, until one can be shown."""

_TAGS: Final = 20_000
_PICTURES_READ: Final = 10
# Some pages wrap JSON in comments for old HTML and XML parsers. The longest known wrapping is Drupal's
# `<!--//--><![CDATA[//><!--`.
_WRAPPINGS: Final = (("<!--", "-->"), ("-->", "<!"), ("<![CDATA[", "]]>"), (">", ""))
_WRAPPED_AT_MOST: Final = 3
_COMMENT_SIGNS: Final = " \t\r\n\xa0\ufeff/*;"
_CONTROLS: Final = re.compile(r"[\x00-\x1f]+")
_ARTICLES: Final = ("NewsArticle", "Article", "BlogPosting", "ReportageNewsArticle", "VideoObject", "WebPage")
# Other schema.org types with these endings, such as `TechArticle` and `LiveBlogPosting`, are subtypes of the types above.
_KINDS_OF_ARTICLES: Final = ("Article", "Posting")
_SCRIPT_BYTES: Final = 200_000


class PageReason(Reason):
    """Reasons not to show a page or its picture; `social.kernel.http.errors.FetchReason` has the reasons why a fetch failed."""

    PAGE_MISSING = "its server does not give the page", "HTTP status other than 200: there is nothing to show"
    PAGE_WITHOUT_TITLE = "the page has no title", "Mastodon does so: a card has a title", "pages that scripts fill in"
    PICTURE_MISSING = "the picture of the page cannot be had", "contract 16: 8 MB, kinds that are decoded here"


@dataclass(frozen=True)
class PagePicture:
    """Address of a picture, and the description that its page gives."""

    url: str
    description: str = ""


@dataclass(frozen=True)
class Preview:
    """Preview of a page; a value that the page does not give is empty or 0. `embed_url` leads to its oEmbed document."""

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
    """Return the preview of the HTML page at `url`. Never raises: metadata that cannot be parsed is ignored."""
    page = _Page(url)
    root = parse_html(decode_page(body[:PAGE_BYTES], content_type))
    if root is not None:
        page.read(root)
    return page.preview()


def parse_html(text: str) -> Any:
    """Return the root of an HTML text without comments; None if the text has no elements or cannot be parsed."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, recover=True)
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None


def first_pictures(pictures: Iterable[PagePicture]) -> tuple[PagePicture, ...]:
    """Return the first PICTURES_TRIED distinct pictures that have an address."""
    found: dict[str, PagePicture] = {}
    for each in pictures:
        if each.url:
            found.setdefault(each.url, each)
        if len(found) == PICTURES_TRIED:
            break
    return tuple(found.values())


@dataclass
class _OpenGraphPicture:
    addresses: list[str] = field(default_factory=list)
    description: str = ""


class _Page:
    """Metadata read from a page; if several entries have the same name, the first entry is used."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.metas: dict[str, list[str]] = {}
        self.pictures = [_OpenGraphPicture()]
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
                case "title" if not self.title and next(element.iterancestors("svg"), None) is None:
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
        # The properties of a picture follow its address (Open Graph, "Arrays"). Properties that precede the first
        # address count for the first picture, because some pages write them there.
        picture = self.pictures[-1]
        if name == "og:image" and picture.addresses and content not in picture.addresses:
            picture = _OpenGraphPicture()
            self.pictures.append(picture)
        if name in ("og:image", "og:image:secure_url", "og:image:url"):
            if len(picture.addresses) < _PICTURES_READ:
                picture.addresses.append(content)
        elif name == "og:image:alt":
            picture.description = picture.description or content

    def _read_link(self, element: Any) -> None:
        relations = (element.get("rel") or "").lower().split()
        if "alternate" in relations and (kind := _type_of(element)) in EMBED_LINKS:
            self.embeds[kind] = self.embeds.get(kind) or self.address(element.get("href"))

    def meta(self, *names: str) -> str:
        return next((self.metas[name][0] for name in names if name in self.metas), "")

    def _all_pictures(self) -> Iterator[PagePicture]:
        other = self.meta("twitter:image:alt")
        for picture in self.pictures[:_PICTURES_READ]:
            yield from (self._picture(each, picture.description or other) for each in picture.addresses)
            other = ""
        for name in ("twitter:image", "twitter:image:src"):
            description = self.meta("twitter:image:alt", "og:image:alt")
            yield from (self._picture(each, description) for each in self.metas.get(name, ())[:_PICTURES_READ])
        yield from map(self._picture, _article_pictures(self.article))

    def _picture(self, value: Any, description: str = "") -> PagePicture:
        return PagePicture(self.address(value), preview_values.text_of(description, DESCRIPTION_LIMIT))

    def address(self, value: Any) -> str:
        return preview_values.address_of(value, self.url)

    def preview(self) -> Preview:
        article = self.article
        author, publisher = _first_object(article.get("author")), _first_object(article.get("publisher"))
        written_by = self.meta("author", "article:author", "og:author", "og:article:author")
        author_url = self.address(written_by) if written_by.startswith(("http://", "https://")) else ""
        player = preview_values.player_of(
            self.address(self.meta("og:video:secure_url", "og:video:url", "og:video", "twitter:player"))
        )
        return Preview(
            title=preview_values.first_text(
                TITLE_LIMIT,
                self.meta("og:title"),
                self.meta("twitter:title"),
                article.get("headline"),
                article.get("name"),
                self.title,
            ),
            description=preview_values.first_text(
                DESCRIPTION_LIMIT,
                self.meta("og:description"),
                self.meta("twitter:description"),
                article.get("description"),
                self.meta("description"),
            ),
            type=CardType.VIDEO if player else CardType.LINK,
            language=preview_values.language_of(
                self.meta("og:locale"), *_languages_of(article.get("inLanguage")), self.language
            ),
            author_name=preview_values.text_of("" if author_url else written_by, NAME_LIMIT)
            or preview_values.text_of(author.get("name"), NAME_LIMIT),
            author_url=author_url or self.address(author.get("url")),
            provider_name=preview_values.text_of(self.meta("og:site_name") or publisher.get("name"), NAME_LIMIT),
            provider_url=self.address(publisher.get("url")),
            creator=preview_values.creator_of(self.meta("fediverse:creator")),
            player_url=player,
            width=preview_values.side_of(self.meta("og:video:width", "twitter:player:width")) if player else 0,
            height=preview_values.side_of(self.meta("og:video:height", "twitter:player:height")) if player else 0,
            pictures=first_pictures(self._all_pictures()),
            published_at=preview_values.moment_of(
                self.meta("article:published_time", "og:article:published_time", "og:published_time")
                or article.get("datePublished")
            ),
            embed_url=next((self.embeds[kind] for kind in EMBED_LINKS if self.embeds.get(kind)), ""),
        )


def _type_of(element: Any) -> str:
    return (element.get("type") or "").partition(";")[0].strip().lower()


def _article(script: str) -> dict[str, Any]:
    """Return the description of an article or page in a JSON-LD script (schema.org)."""
    try:
        found = json.loads(_without_wrapper(script[:_SCRIPT_BYTES]))
    except json.JSONDecodeError:
        return {}
    by_kind: dict[str, dict[str, Any]] = {}
    by_id: dict[str, dict[str, Any]] = {}
    for item in _items(found):
        if isinstance(item.get("@id"), str):
            by_id.setdefault(item["@id"], item)
        kinds = item.get("@type")
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            if isinstance(kind, str):
                # Removes the namespace from names such as `https://schema.org/Article` and `schema:Article`.
                by_kind.setdefault(re.split("[/#:]", kind)[-1], item)
    others = (kind for kind in by_kind if kind.endswith(_KINDS_OF_ARTICLES))
    article = next((by_kind[kind] for kind in (*_ARTICLES, *others) if kind in by_kind), {})
    # If the author, the publisher or the picture is a separate item of the graph, the article contains only the id of that
    # item.
    people = {name: _first_object(article.get(name)) for name in ("author", "publisher") if name in article}
    found_people = {name: by_id.get(str(person.get("@id")), {}) | person for name, person in people.items()}
    pictures = [
        by_id.get(str(item.get("@id")), {}) | item if isinstance(item, dict) else item for item in _images(article)
    ]
    return article | found_people | {"image": pictures}


def _without_wrapper(script: str) -> str:
    for start, end in _WRAPPINGS * _WRAPPED_AT_MOST:
        script = script.strip(_COMMENT_SIGNS).removeprefix(start).removesuffix(end)
    return _CONTROLS.sub(" ", script.strip(_COMMENT_SIGNS))


def _items(found: Any) -> Iterator[dict[str, Any]]:
    for item in (found if isinstance(found, list) else [found])[:50]:
        if isinstance(item, dict):
            yield item
            graph = item.get("@graph")
            yield from (each for each in (graph if isinstance(graph, list) else [graph])[:50] if isinstance(each, dict))


def _first_object(value: Any) -> dict[str, Any]:
    value = value[0] if isinstance(value, list) and value else value
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, dict):
        return {}
    name = value.get("name")
    return {**value, **name} if isinstance(name, dict) else value


def _languages_of(value: Any) -> list[Any]:
    # The value may be a code, a Language with a code, or a list of these.
    value = value[0] if isinstance(value, list) and value else value
    return [value.get("alternateName"), value.get("name")] if isinstance(value, dict) else [value]


def _images(article: dict[str, Any]) -> list[Any]:
    image = article.get("image") or article.get("thumbnailUrl")
    return (image if isinstance(image, list) else [image])[:5]


def _article_pictures(article: dict[str, Any]) -> Iterable[Any]:
    for item in _images(article):
        address = (item.get("url") or item.get("contentUrl")) if isinstance(item, dict) else item
        yield address[0] if isinstance(address, list) and address else address
