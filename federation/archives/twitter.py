"""Reads the archive of X, formerly Twitter, as ActivityPub documents.

`data/tweets.js` is a list in JSON behind an assignment (`window.YTD.tweets.part0 = `), continued in `tweets-part1.js`. Media
files are named `data/tweets_media/<id of the post>-<name>`. Every post counts as public, because the archive does not show
whether the account was protected.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape, unescape
from typing import Any, Final
from urllib.parse import urlsplit

from accounts.transfers.past import Reason
from federation.documents.context import PUBLIC
from social.kernel.text.to_html import plain_to_html

_LISTS: Final = re.compile(r"tweets?(?:-part[0-9]{1,3})?\.js")
_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,15}")
_ID: Final = re.compile(r"[0-9]{1,20}")
_DATE: Final = "%a %b %d %H:%M:%S %z %Y"
# Ids above this one contain a time in milliseconds since an epoch, followed by other bits.
_FIRST_TIMED_ID: Final = 29_700_859_247
_ID_EPOCH: Final = 1_288_834_974_657
_ID_BITS: Final = 22
_HOST: Final = "https://twitter.com"
_MENTION: Final = re.compile(r"(?<![\w@/])@([A-Za-z0-9_]{1,15})\b")


def is_list(base: str) -> bool:
    return _LISTS.fullmatch(base) is not None


def username_of(item: Any) -> str:
    """Return the username in an item of `account.js`, or `i`, which X accepts in place of any username in addresses."""
    account = item.get("account") if isinstance(item, Mapping) else None
    name = account.get("username") if isinstance(account, Mapping) else None
    return name if isinstance(name, str) and _NAME.fullmatch(name) else "i"


def author_of(username: str) -> str:
    """Return the address that serves as the author's id."""
    return f"{_HOST}/{username}"


def read(item: Any, username: str) -> tuple[dict[str, Any], Reason | None]:
    """Return the ActivityPub document of a post and, if the post cannot be imported, the reason."""
    tweet = item.get("tweet", item) if isinstance(item, Mapping) else None
    if not isinstance(tweet, Mapping):
        return {}, Reason.NO_POST
    number, text = tweet.get("id_str"), tweet.get("full_text") or tweet.get("text")
    if not isinstance(number, str) or not _ID.fullmatch(number) or not isinstance(text, str):
        return {}, Reason.UNREADABLE
    author = author_of(username)
    note: dict[str, Any] = {
        "type": "Note",
        "id": f"{author}/status/{number}",
        "attributedTo": author,
        "to": [PUBLIC],
        "cc": [f"{author}/followers"],
    }
    if text.startswith("RT @"):
        return note, Reason.BOOST
    published = _moment(tweet.get("created_at"), int(number))
    if published is None:
        return note, Reason.WRONG_DATE
    entities = _mapping(tweet.get("entities"))
    text = unescape(text)
    for link in _mappings(entities.get("urls")):
        short, full = link.get("url"), link.get("expanded_url")
        if isinstance(short, str) and isinstance(full, str) and short:
            text = text.replace(short, full)
    files = _mappings(_mapping(tweet.get("extended_entities")).get("media")) or _mappings(entities.get("media"))
    for file in files:
        if isinstance(file.get("url"), str) and file["url"]:
            text = text.replace(file["url"], "")
    answered = tweet.get("in_reply_to_status_id_str")
    answered_name = tweet.get("in_reply_to_screen_name")
    if isinstance(answered, str) and _ID.fullmatch(answered):
        name = answered_name if isinstance(answered_name, str) and _NAME.fullmatch(answered_name) else "i"
        note["inReplyTo"] = f"{_HOST}/{name}/status/{answered}"
    names = [tag.get("text") for tag in _mappings(entities.get("hashtags"))]
    return note | {
        "published": published.isoformat(),
        "content": _MENTION.sub(
            lambda match: f'@<a href="{_HOST}/{match[1]}" class="u-url mention">{escape(match[1])}</a>',
            plain_to_html(text.strip()),
        ),
        "contentMap": {},
        "sensitive": tweet.get("possibly_sensitive") is True,
        "tag": [{"type": "Hashtag", "name": f"#{name}"} for name in names if isinstance(name, str)],
        "attachment": [item for file in files if (item := _file(file, number)) is not None],
    }, None


def _file(file: Mapping[str, Any], number: str) -> dict[str, Any] | None:
    """Return an attachment; for a video, the variant with the highest bit rate, because only that variant is in the archive."""
    address: Any = file.get("media_url_https") or file.get("media_url")
    variants = [
        variant
        for variant in _mappings(_mapping(file.get("video_info")).get("variants"))
        if variant.get("content_type") == "video/mp4" and isinstance(variant.get("url"), str)
    ]
    if variants:
        address = max(variants, key=lambda variant: int(str(variant.get("bitrate") or 0)[:9] or 0))["url"]
    if not isinstance(address, str):
        return None
    name = urlsplit(address).path.rpartition("/")[2]
    return {
        "type": "Document",
        "url": f"tweets_media/{number}-{name}",
        "name": file.get("ext_alt_text") or file.get("alt_text"),
    }


def _moment(value: Any, number: int) -> datetime | None:
    """Return the time of a post, with the milliseconds that newer ids contain, because several posts of a thread may be written
    in the same second.
    """
    try:
        moment = datetime.strptime(value, _DATE).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
    milliseconds = (number >> _ID_BITS) + _ID_EPOCH
    return moment.replace(microsecond=milliseconds % 1000 * 1000) if number > _FIRST_TIMED_ID else moment


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)][:100] if isinstance(value, list) else []
