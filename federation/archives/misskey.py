"""Reads the exported notes of Misskey and its forks as ActivityPub documents. The export names neither server nor author."""

import re
from collections.abc import Mapping
from typing import Any, Final

from accounts.transfers.past import Reason
from federation.documents.context import PUBLIC
from federation.documents.reading import time_of
from social.kernel.text.to_html import plain_to_html

AUTHOR: Final = "https://misskey.invalid/users/me"
_ID: Final = re.compile(r"[0-9A-Za-z_-]{1,64}")
_FOLLOWERS: Final = f"{AUTHOR}/followers"
_ADDRESSES: Final[dict[str, tuple[list[str], list[str]]]] = {
    "public": ([PUBLIC], [_FOLLOWERS]),
    "home": ([_FOLLOWERS], [PUBLIC]),
    "followers": ([_FOLLOWERS], []),
}
_TAG: Final = re.compile(r"(?<![\w/&])#(\w{1,100})")


def read(item: Any) -> tuple[dict[str, Any], Reason | None]:
    """Return the ActivityPub document of a note and, if the note cannot be imported, the reason."""
    if not isinstance(item, Mapping):
        return {}, Reason.NO_POST
    number = item.get("id")
    if not isinstance(number, str) or not _ID.fullmatch(number):
        return {}, Reason.UNREADABLE
    note: dict[str, Any] = {"type": "Note", "id": f"https://misskey.invalid/notes/{number}", "attributedTo": AUTHOR}
    text, files, poll = item.get("text"), item.get("files"), item.get("poll")
    if item.get("renoteId") is not None and not text and not files and not poll:
        return note, Reason.BOOST
    published = time_of(item.get("createdAt"))
    if published is None:
        return note, Reason.WRONG_DATE
    kind = item.get("visibility")
    if item.get("localOnly") is True and kind in _ADDRESSES:
        # Notes that were local-only on the old server become followers-only here.
        kind = "followers"
    to, cc = _ADDRESSES.get(str(kind), ([], []))
    text = text if isinstance(text, str) else ""
    note |= {"to": to, "cc": cc, "published": published.isoformat(), "content": plain_to_html(text)}
    note["tag"] = [{"type": "Hashtag", "name": f"#{name}"} for name in dict.fromkeys(_TAG.findall(text))]
    if isinstance(item.get("cw"), str):
        note["summary"] = item["cw"]
    if isinstance(item.get("replyId"), str) and _ID.fullmatch(item["replyId"]):
        note["inReplyTo"] = f"https://misskey.invalid/notes/{item['replyId']}"
    if isinstance(item.get("renoteId"), str) and _ID.fullmatch(item["renoteId"]):
        note["quoteUrl"] = f"https://misskey.invalid/notes/{item['renoteId']}"
    if isinstance(files, list):
        note["attachment"] = [
            {"type": "Document", "url": file.get("url"), "mediaType": file.get("type"), "name": file.get("comment")}
            for file in files
            if isinstance(file, Mapping)
        ]
        note["sensitive"] = any(isinstance(file, Mapping) and file.get("isSensitive") is True for file in files)
    if isinstance(poll, Mapping) and isinstance(poll.get("choices"), list):
        note["type"] = "Question"
        note["anyOf" if poll.get("multiple") is True else "oneOf"] = [
            {"name": choice.get("text"), "replies": {"totalItems": choice.get("votes")}}
            for choice in poll["choices"]
            if isinstance(choice, Mapping)
        ]
        note["endTime"] = poll.get("expiresAt")
    return note, None
