"""Reads the oEmbed document of a page."""

import codecs
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from lxml import etree

from social.kernel import json
from statuses.models import CardType
from statuses.models.card import NAME_LIMIT, TITLE_LIMIT
from statuses.policies.preview_values import address_of, player_of, side_of, text_of
from statuses.policies.previews import PagePicture, Preview, first_pictures, parse_html

EMBED_BYTES: Final = 256 * 1024


def read_embed(body: bytes, preview: Preview) -> Preview:
    """Return the preview of a page, in which values of its oEmbed document take precedence. Never raises."""
    found = _embed(body)
    kind = found.get("type")
    # Some providers write addresses that are relative to the document, or to its scheme.
    address = partial(address_of, base=preview.embed_url)
    preview = replace(
        preview,
        title=text_of(found.get("title"), TITLE_LIMIT) or preview.title,
        author_name=text_of(found.get("author_name"), NAME_LIMIT) or preview.author_name,
        author_url=address(found.get("author_url")) or preview.author_url,
        provider_name=text_of(found.get("provider_name"), NAME_LIMIT) or preview.provider_name,
        provider_url=address(found.get("provider_url")) or preview.provider_url,
        pictures=_with_first_picture(address(found.get("thumbnail_url")), preview.pictures),
    )
    if kind == "photo" and (picture := address(found.get("url"))):
        return replace(preview, type=CardType.PHOTO, pictures=_with_first_picture(picture, preview.pictures))
    if kind == "video" and (player := _player_in(found.get("html"), preview.embed_url)):
        return replace(
            preview,
            type=CardType.VIDEO,
            player_url=player,
            width=side_of(found.get("width")),
            height=side_of(found.get("height")),
        )
    return preview


def _with_first_picture(url: str, pictures: tuple[PagePicture, ...]) -> tuple[PagePicture, ...]:
    """Put the picture of an oEmbed document first, with the description of the page's first picture."""
    description = pictures[0].description if pictures else ""
    return first_pictures([PagePicture(url, description), *pictures])


def _embed(body: bytes) -> Mapping[str, Any]:
    """Parse an oEmbed document as JSON or XML, whatever its media type; empty if it is neither."""
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


def _player_in(html: Any, base: str) -> str:
    """Return the address of the first frame in a provider's HTML, if it is an allowed player."""
    root = parse_html(html) if isinstance(html, str) else None
    frame = next(root.iter("iframe"), None) if root is not None else None
    return player_of(address_of(frame.get("src"), base)) if frame is not None else ""
