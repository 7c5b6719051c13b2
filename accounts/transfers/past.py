"""Limits on imports of a person's own posts from an archive, and reasons why something is not imported."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.transfers.models import PastImport, PastState
from social.kernel import clock
from social.kernel.errors import KernelError

POSTS_LIMIT: Final = 500_000
"""Maximum number of entries in an archive, including entries that are not posts."""
ARCHIVE_ENTRIES_LIMIT: Final = 500_000
"""Maximum number of files in an archive."""
DIRECTORY_LIMIT: Final = 64 * 1024 * 1024
"""Maximum number of bytes of the directory of a zip file, which is held in memory."""
UNPACKED_LIMIT: Final = 64 * 1024**3
"""Maximum number of bytes of an archive when it is unpacked."""
LIST_SIZE_LIMIT: Final = 4 * 1024**3
"""Maximum number of bytes of a list of posts when it is unpacked."""
FREE_SPACE: Final = 2 * 1024**3
"""Number of bytes that must stay free on the disk when an archive is unpacked."""
LISTED_LIMIT: Final = 20_000
"""Maximum number of stored lines about left-out entries; further entries are only counted."""
UPLOAD_LIMIT: Final = 256 * 1024**2
"""Maximum number of bytes of an archive that is uploaded; operators import larger ones with a command."""
UNDO_PERIOD: Final = timedelta(days=30)
"""Time after the end of an import during which it can be undone."""


class Reason(StrEnum):
    """Reasons why an archive, an entry of it, or a part of an entry is not imported."""

    NO_ARCHIVE = "no_archive"
    NO_POSTS = "no_posts"
    NO_JSON = "no_json"
    TOO_LARGE = "too_large"
    TOO_MANY = "too_many"
    LOCKED = "locked"
    NO_SPACE = "no_space"
    OVER_POSTS = "over_posts"
    OVER_BYTES = "over_bytes"

    BOOST = "boost"
    NO_POST = "no_post"
    FOREIGN_AUTHOR = "foreign_author"
    DIRECT = "direct"
    WRONG_DATE = "wrong_date"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    REPEATED = "repeated"
    ALREADY = "already"
    LIKE = "like"
    BOOKMARK = "bookmark"
    FOLLOW = "follow"
    FOLLOWER = "follower"
    LIST_ENTRY = "list_entry"

    FILE_MISSING = "file_missing"
    FILE_REFUSED = "file_refused"
    FILE_NO_ROOM = "file_no_room"
    QUOTE = "quote"
    REPLY_OF_OTHERS = "reply_of_others"


SENTENCES: Final[dict[Reason, str | Promise]] = {
    Reason.NO_ARCHIVE: _(
        "This archive cannot be read: a .zip or .tar.gz file is expected. Tables (CSV) of follows and "
        "lists are imported on the page “Import”."
    ),
    Reason.NO_POSTS: _("There are no posts in this archive that can be read."),
    Reason.NO_JSON: _("The list of posts in this archive is damaged."),
    Reason.TOO_LARGE: _("This archive is too large."),
    Reason.TOO_MANY: _("There are too many files or posts in this archive."),
    Reason.LOCKED: _("This archive is protected by a password."),
    Reason.NO_SPACE: _("This server does not have enough space for this archive."),
    Reason.OVER_POSTS: _("There are more posts in this archive than you may import."),
    Reason.OVER_BYTES: _("The files in this archive are larger than you may import."),
    Reason.BOOST: _("A boost: other people's posts are not imported."),
    Reason.NO_POST: _("This is not a post."),
    Reason.FOREIGN_AUTHOR: _("This post was written by somebody else."),
    Reason.DIRECT: _("A private mention: private mentions are not imported."),
    Reason.WRONG_DATE: _("The date of this post is missing or impossible."),
    Reason.UNREADABLE: _("This post cannot be read."),
    Reason.EMPTY: _("This post is empty."),
    Reason.REPEATED: _("This post is in the archive twice."),
    Reason.ALREADY: _("This post has been imported already."),
    Reason.LIKE: _("A favourite: the author would be notified again."),
    Reason.BOOKMARK: _("A bookmark: import the list of bookmarks as a file of its own."),
    Reason.FOLLOW: _("A follow: import the list of follows as a file of its own, so that people get a new request."),
    Reason.FOLLOWER: _("A follower: your followers are moved when the old account moves here."),
    Reason.LIST_ENTRY: _("A line of a table: import the table (CSV) as a file of its own."),
    Reason.FILE_MISSING: _("The post was imported without a file that is not in the archive."),
    Reason.FILE_REFUSED: _("The post was imported without a file that this server does not accept."),
    Reason.FILE_NO_ROOM: _("The post was imported without a file: your storage is full."),
    Reason.QUOTE: _("The post was imported without the post that it quotes."),
    Reason.REPLY_OF_OTHERS: _("The post was imported, but it is not shown as a reply to another person's post."),
}

PARTS: Final = frozenset(
    {Reason.FILE_MISSING, Reason.FILE_REFUSED, Reason.FILE_NO_ROOM, Reason.QUOTE, Reason.REPLY_OF_OTHERS}
)
"""Reasons that concern only a part of a post; the post is imported without that part."""


def sentence_of(reason: str) -> str:
    """Return the sentence for a stored reason, or the reason itself if another release has stored it."""
    return str(SENTENCES[Reason(reason)]) if reason in SENTENCES else reason


class UnreadableArchive(KernelError):
    """An archive that is refused as a whole."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(SENTENCES[reason]))
        self.reason = reason


def undo_end(found: PastImport) -> datetime | None:
    """Return the time until which an import can be undone; None if it cannot be undone."""
    if found.state != PastState.FINISHED or found.finished_at is None or not found.done:
        return None
    end = found.finished_at + UNDO_PERIOD
    return end if end > clock.now() else None
