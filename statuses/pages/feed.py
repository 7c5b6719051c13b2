"""Renders public and unlisted posts as an RSS 2.0 feed, for feed readers."""

import re
from collections.abc import Sequence
from email.utils import format_datetime
from typing import Any, Final
from xml.etree import ElementTree

from django.http import HttpResponse
from django.utils.html import escape
from django.utils.translation import gettext as _

from social.kernel.identity import current_identity
from social.pages.frame import absolute
from statuses.models import MediaType

CONTENT_TYPE: Final = "application/rss+xml; charset=utf-8"
_MEDIA: Final = "http://search.yahoo.com/mrss/"
_MEDIUMS: Final = {
    MediaType.IMAGE.value: "image",
    MediaType.GIFV.value: "video",
    MediaType.VIDEO.value: "video",
    MediaType.AUDIO.value: "audio",
}
# Characters that XML 1.0 forbids, even escaped.
_FORBIDDEN_CHARACTERS: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

ElementTree.register_namespace("media", _MEDIA)


def show_feed(
    *, title: str, url: str, description: str, posts: Sequence[dict[str, Any]], image: str = ""
) -> HttpResponse:
    """Return the feed of the page at `url`, with the posts in the given order; `image` is an address or a path. Files of
    sensitive posts are rated as adult.
    """
    rss = ElementTree.Element("rss", version="2.0")
    channel = ElementTree.SubElement(rss, "channel")
    named = f"{title} – {current_identity().name}"
    for name, text in (("title", named), ("link", url), ("description", description)):
        _add(channel, name, text)
    if posts:
        _add(channel, "lastBuildDate", format_datetime(posts[0]["moment"]))
    if image:
        picture = ElementTree.SubElement(channel, "image")
        for name, text in (("url", absolute(image)), ("title", named), ("link", url)):
            _add(picture, name, text)
    for post in posts:
        _add_item(channel, post)
    return HttpResponse(ElementTree.tostring(rss, "utf-8", xml_declaration=True), content_type=CONTENT_TYPE)


def _add_item(channel: ElementTree.Element, post: dict[str, Any]) -> None:
    item = ElementTree.SubElement(channel, "item")
    url = absolute(post["url"])
    _add(item, "guid", url).set("isPermaLink", "true")
    _add(item, "link", url)
    _add(item, "pubDate", format_datetime(post["moment"]))
    _add(item, "description", _text(post))
    for file in post["files"]:
        medium = _MEDIUMS.get(file["type"])
        if medium is None:
            continue
        content = ElementTree.SubElement(item, f"{{{_MEDIA}}}content", url=absolute(file["url"]), medium=medium)
        covered = post["sensitive"] or post["warning"]
        _add(content, f"{{{_MEDIA}}}rating", "adult" if covered else "nonadult").set("scheme", "urn:simple")
        if file["description"]:
            _add(content, f"{{{_MEDIA}}}description", file["description"]).set("type", "plain")


def _text(post: dict[str, Any]) -> str:
    parts = [str(post["content"])]
    if post["warning"]:
        parts.insert(0, f"<p><strong>{escape(_('Content warning'))}:</strong> {escape(post['warning'])}</p><hr>")
    if post["poll"] is not None:
        options = "".join(f"<li>{escape(option['title'])}</li>" for option in post["poll"]["options"])
        parts.append(f"<ul>{options}</ul>")
    return "".join(parts)


def _add(parent: ElementTree.Element, name: str, text: str) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, name)
    element.text = _FORBIDDEN_CHARACTERS.sub("", text)
    return element
