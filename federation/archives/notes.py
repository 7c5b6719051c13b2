"""Checks and reads the posts of an archive."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import quote, unquote

from accounts.models import Visibility
from accounts.transfers.past import Reason
from federation.archives.containers import Container
from federation.archives.formats import names_of
from federation.documents.context import visibility_of
from federation.documents.reading import MAX_DEPTH, first, many, time_of, uri_of
from federation.documents.received_notes import ATTACHMENTS_LIMIT, ReceivedNote, is_vote, read_note
from federation.reasons import Rejected
from social.kernel import clock
from statuses.policies.visibility import is_conversational
from statuses.services.storing import RemoteFile

EARLIEST_YEAR: Final = 1995
_CLOCKS_DIFFER: Final = timedelta(days=1)
_LISTED_FILES_LIMIT: Final = 100
# While a document is read, the files of the archive have addresses with this prefix.
_PLACE: Final = "https://archive.invalid/"


class NotImported(Exception):
    """Raised for a post that is not imported, with the reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class PastNote:
    """A post of an archive that can be imported."""

    note: ReceivedNote
    visibility: Visibility
    published: datetime


def read_past_note(document: Mapping[str, Any], author: str, followers: str) -> PastNote:
    """Read a post by the author of the archive. Raises NotImported."""
    if uri_of(first(document.get("attributedTo"))) != author:
        raise NotImported(Reason.FOREIGN_AUTHOR)
    if is_vote(document):
        raise NotImported(Reason.NO_POST)
    published = time_of(document.get("published"))
    if published is None or published.year < EARLIEST_YEAR or published > clock.now() + _CLOCKS_DIFFER:
        raise NotImported(Reason.WRONG_DATE)
    try:
        note = read_note(document)
    except (Rejected, RecursionError):
        raise NotImported(Reason.UNREADABLE) from None
    visibility = visibility_of(note.to, note.cc, followers or f"{author}/followers")
    if is_conversational(visibility):
        raise NotImported(Reason.DIRECT)
    if not (note.content or note.spoiler_text or note.files or note.poll):
        raise NotImported(Reason.EMPTY)
    return PastNote(note, visibility, min(published, clock.now()))


def with_own_files(document: dict[str, Any], container: Container, root: str) -> tuple[dict[str, Any], list[Reason]]:
    """Return the document with only the attachments that are in the archive, and a reason for each removed part. Attachments
    after the first _LISTED_FILES_LIMIT are ignored.
    """
    attached: list[dict[str, Any]] = []
    reasons: list[Reason] = []
    for item in many(document.get("attachment"))[:_LISTED_FILES_LIMIT]:
        name = _name_of(item, container, root)
        if name is None:
            reasons.append(Reason.FILE_MISSING)
        elif len(attached) == ATTACHMENTS_LIMIT:
            reasons.append(Reason.FILE_REFUSED)
        else:
            described = item if isinstance(item, dict) else {"type": "Document"}
            attached.append({**described, "url": _PLACE + quote(name)})
    return {**document, "attachment": attached}, reasons


def name_of(file: RemoteFile) -> str:
    """Return the name that a file of a post has in the archive."""
    return unquote(file.url.removeprefix(_PLACE))


def _name_of(item: Any, container: Container, root: str) -> str | None:
    places = (many(item.get("url")) or many(item.get("href"))) if isinstance(item, Mapping) else [item]
    for place in places:
        address = place.get("href") if isinstance(place, Mapping) else place
        if isinstance(address, str) and len(address) <= 2000:
            for name in _possible_names(address, root):
                if container.size(name) is not None:
                    return name
    return None


def _possible_names(address: str, root: str) -> list[str]:
    try:
        return names_of(address, root)
    except ValueError:
        return []


def is_too_deep(value: Any) -> bool:
    """Tell whether a value is nested more deeply than is allowed for documents from other servers."""
    level = [value]
    for _depth in range(MAX_DEPTH):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
