"""Reads the attachments, pictures and custom emojis of remote posts and accounts (contract, federation sections 5 and 17)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from accounts.emojis.queries import shortcodes_in
from accounts.emojis.services.remote import RemoteEmoji
from federation.documents import reading
from federation.reasons import Reason
from social.kernel.media.types import shown_as, type_of_name
from social.kernel.reasons import leave_out
from statuses.models import MediaType
from statuses.models.attachments import DESCRIPTION_LIMIT
from statuses.services.storing import RemoteFile

EMOJIS_LIMIT: Final = 100
"""Maximum number of emojis that are read from one document; further emojis are ignored."""
SHORTCODE_LIMIT: Final = 2048
_KINDS: Final = {"Image": MediaType.IMAGE, "Video": MediaType.VIDEO, "Audio": MediaType.AUDIO}
_PAGES: Final = frozenset({"text/html", "application/xhtml+xml"})
# Values that senders use when they do not know the type.
_NO_TYPE: Final = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "image/*", "video/*", "audio/*"}
    # WHATWG MIME Sniffing, section 7.
    | {"unknown/unknown", "application/unknown", "*/*"}
)


@dataclass(frozen=True)
class OfferedFile:
    """A representation of an attached file: `item` is the attachment, and `link` is the Link to this representation. If the
    document gives only an address, both contain only that address.
    """

    url: str
    content_type: str
    type: MediaType
    item: Mapping[str, Any]
    link: Mapping[str, Any]


def offered_file(value: Any) -> OfferedFile | None:
    """Return the first file of a known type in an attachment, or else its first file. The attachment may be an object with
    several addresses, or a single address.

    The media type is stated by the Link, or else by the object, or else derived from the file extension. Without a media type,
    the object's type (such as Image) determines the kind of file, or else the kind is unknown until the file is copied. An
    attachment of the type Link without a media type leads to a page (`linked_page`).
    """
    offered = [file for file in _offered_files(value) if file.content_type or "Link" not in reading.kinds_of(file.item)]
    return next((file for file in offered if file.type != MediaType.UNKNOWN), offered[0] if offered else None)


def linked_page(value: Any) -> str | None:
    """Return the address of the page that an attachment links to (FEP-8967); None for any other attachment. Mastodon from 4.7
    on attaches the previewed link in this way; Lemmy and PieFed attach the page that a post is about.
    """
    if not isinstance(value, Mapping) or "Link" not in reading.kinds_of(value) or offered_file(value) is not None:
        return None
    return reading.web_uri(value.get("href") or value.get("url"))


def picture_of(value: Any) -> OfferedFile | None:
    """Return the picture in an icon or image (an object, an address or a list): the first picture of a known type, or else the
    first picture.
    """
    offered = [file for item in reading.many(value) for file in _offered_files(item)]
    return next((file for file in offered if file.type == MediaType.IMAGE), offered[0] if offered else None)


def _offered_files(value: Any) -> Iterator[OfferedFile]:
    item: Mapping[str, Any] = value if isinstance(value, Mapping) else {"url": value}
    for place in reading.many(item.get("url")) or reading.many(item.get("href")):
        link: Mapping[str, Any] = place if isinstance(place, Mapping) else {"href": place}
        url = reading.web_uri(link.get("href") or link.get("url"))
        content_type = _type_of(url or "", link, item)
        # An HTML page is not a media file.
        if url is not None and content_type not in _PAGES:
            kind = shown_as(content_type) if content_type else _KINDS.get(reading.kind_of(item, _KINDS) or "")
            yield OfferedFile(url, content_type, MediaType(kind or MediaType.UNKNOWN), item, link)


def _type_of(url: str, *described: Mapping[str, Any]) -> str:
    media_types = (reading.media_type_of(one.get("mediaType")) for one in described)
    media_type = next((name for name in media_types if name not in _NO_TYPE), "")
    return media_type or type_of_name(url.partition("?")[0]) or ""


def read_file(value: Any) -> RemoteFile | None:
    """Return the file in an attachment with its description and other properties; None if the file has no web address."""
    file = offered_file(value)
    if file is None:
        return None
    item = file.item
    preview = picture_of(item.get("icon"))
    # A blurhash has up to 9 by 9 components, and therefore 6 to 166 characters.
    blurhash = item.get("blurhash")
    plausible = (
        isinstance(blurhash, str) and 6 <= len(blurhash) <= 166 and blurhash.isascii() and blurhash.isprintable()
    )
    return RemoteFile(
        url=file.url,
        type=file.type,
        content_type=file.content_type,
        description=(
            reading.text_member(item, "summary", DESCRIPTION_LIMIT)
            or reading.text_member(item, "name", DESCRIPTION_LIMIT)
            or None
        ),
        blurhash=blurhash if plausible else None,
        meta=_meta(item, file.link),
        preview_url=preview.url if preview is not None else None,
    )


def _meta(item: Mapping[str, Any], link: Mapping[str, Any]) -> dict[str, Any]:
    original: dict[str, Any] = {}
    for described in (link, item):
        width, height = (reading.number_of(described.get(name), 100_000) for name in ("width", "height"))
        if width and height:
            aspect = round(width / height, 6)
            original = {"width": width, "height": height, "size": f"{width}x{height}", "aspect": aspect}
            break
    duration = reading.duration_of(item.get("duration"))
    if duration is not None:
        original["duration"] = duration
    meta: dict[str, Any] = {"original": original} if original else {}
    focal = item.get("focalPoint")
    if isinstance(focal, list) and len(focal) == 2 and all(_is_coordinate(value) for value in focal):
        meta["focus"] = {"x": float(focal[0]), "y": float(focal[1])}
    return meta


def _is_coordinate(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1 <= value <= 1


def read_emojis(document: Mapping[str, Any], *texts: str) -> list[RemoteEmoji]:
    """Return the emojis that the `tag` of a document defines and these texts use, without duplicates."""
    shortcodes = shortcodes_in(*texts)
    emojis: dict[str, RemoteEmoji] = {}
    for item in reading.of_kind(document.get("tag"), "Emoji") if shortcodes else ():
        name = reading.text_of(item.get("name"), SHORTCODE_LIMIT).strip(":")
        icon = picture_of(item.get("icon"))
        if name in shortcodes and icon is not None:
            uri, updated = reading.web_uri(item.get("id")), reading.time_of(item.get("updated"))
            emojis.setdefault(name, RemoteEmoji(name, icon.url, uri, updated))
        elif name in shortcodes or not name:
            leave_out(Reason.EMOJI_UNUSABLE)
    return reading.at_most(list(emojis.values()), EMOJIS_LIMIT, Reason.TOO_MANY_EMOJIS)
