"""Posts as they are read: the post (`Post`), its author (`Author`) and its content (`PostBody`). Posts are plain values,
loaded by `statuses.queries.posts`, from which the client API, streams, ActivityPub, pages, feeds and search are built.
`AuthorColumns` is also a base of the classes for posts that are to be written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from social.kernel import links
from social.kernel.text.markup import split_hidden
from statuses.models import MediaAttachment
from statuses.policies.publishing import PLAIN_TEXT

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Author:
    """Author of a post: the values that decide whether the post is visible, and counters."""

    id: int
    version: int
    username: str
    domain: str | None
    uri: str
    is_suspended: bool
    is_limited: bool
    is_sensitized: bool
    followers_count: int = 0
    following_count: int = 0
    statuses_count: int = 0
    last_status_on: str | None = None


@dataclass(slots=True)
class Post:
    """A post without its body: the values that decide who sees the post, and the values that change too often to be cached.

    `original` is the boosted post. `quoted` is the quoted post in any state of the quote (`quote_state`, None without a quote).
    `addressed_ids` are the accounts that the post mentions, silently or not; a boost addresses nobody. `collection_ids` are the
    collections that the post links to, in the order of its text.
    """

    id: int
    account_id: int
    created_ms: int
    in_reply_to_id: int | None
    in_reply_to_account_id: int | None
    reblog_of_id: int | None
    application_id: int | None
    version: int
    quote_policy: int
    interaction_policy: int
    visibility: str
    uri: str | None
    language: str | None
    is_deleted: bool
    local: bool
    sensitive: bool
    is_orphan: bool
    imported: bool
    local_only: bool
    author: Author
    replies_count: int = 0
    reblogs_count: int = 0
    favourites_count: int = 0
    quotes_count: int = 0
    poll_id: int | None = None
    quote_state: str | None = None
    quoted_status_id: int | None = None
    card_id: int | None = None
    addressed_ids: list[int] = field(default_factory=list)
    collection_ids: list[int] = field(default_factory=list)
    original: "Post | None" = None
    quoted: "Post | None" = None

    @property
    def username(self) -> str:
        return self.author.username

    @property
    def domain(self) -> str | None:
        """Domain of the author's server, None for this server."""
        return self.author.domain

    @property
    def object_uri(self) -> str:
        """ActivityPub id of the post."""
        return self.uri or links.status_uri(self.username, self.id)

    @property
    def created_at(self) -> datetime:
        """Time at which the post was written."""
        return _EPOCH + timedelta(milliseconds=self.created_ms)

    @property
    def proper(self) -> "Post":
        """The post whose content is shown: this post, or the boosted post of a boost."""
        return self.original if self.original is not None else self

    @property
    def mentioned_ids(self) -> list[int]:
        """Accounts that `proper` addresses, silently or not, as `can_see` expects them."""
        return self.proper.addressed_ids

    @property
    def quotes(self) -> "list[Post]":
        """The post that `proper` quotes, and the post quoted by the quoted post, because both decide how the quote is shown."""
        quoted = self.proper.quoted
        if quoted is None:
            return []
        return [quoted] if quoted.quoted is None else [quoted, quoted.quoted]

    @property
    def is_reply(self) -> bool:
        """Tell whether the post is a reply, even if its parent is unknown or was deleted."""
        return self.in_reply_to_id is not None or self.is_orphan or self.in_reply_to_account_id is not None

    def count_favourite(self, change: int) -> None:
        """Adjust the counter for a favourite that was created (1) or undone (-1) after the post was read."""
        self.favourites_count = max(0, self.favourites_count + change)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorColumns:
    """Columns of a post that its author fills in, by their names in the table (`Written`). Base of `Draft` (a post as a client
    sends it), `ReceivedNote` (as another server sends it), `Composed` (as it is stored) and `PostBody` (as it is read).

    Each column is a JSON value with a default; an edit that leaves a column out resets the column to its default. `text` is the
    source, empty for a remote post; the other columns are members of the entity and of its versions, under the same names. The
    metadata `limit` of a text is its maximum number of characters. A longer text is refused if a client sends it, and truncated
    if another server sends it.
    """

    text: str = ""
    spoiler_text: str = field(default="", metadata={"limit": 10_000})

    @property
    def author_columns(self) -> dict[str, Any]:
        """Values of AUTHOR_COLUMNS, keyed by name."""
        return {name: getattr(self, name) for name in AUTHOR_COLUMNS}

    @property
    def shown_columns(self) -> dict[str, Any]:
        """Values of SHOWN_COLUMNS, keyed by name."""
        return {name: getattr(self, name) for name in SHOWN_COLUMNS}

    @property
    def read_texts(self) -> list[str]:
        return [getattr(self, name) for name in READ_COLUMNS]


AUTHOR_COLUMNS: Final = tuple(each.name for each in fields(AuthorColumns))
SHOWN_COLUMNS: Final = tuple(name for name in AUTHOR_COLUMNS if name != "text")
"""Columns among AUTHOR_COLUMNS that every reader sees, in addition to the content."""
COLUMN_LIMITS: Final = {each.name: int(each.metadata["limit"]) for each in fields(AuthorColumns) if each.metadata}
READ_COLUMNS: Final[Mapping[str, Any]] = {"spoiler_text": _("Content warning")}
"""Columns among AUTHOR_COLUMNS that contain text for readers, in addition to the content, with their titles for staff. These
columns are used by filters, search, spam rules and their dry runs, emojis, excerpts and staff pages. Web pages and feeds,
mails, Web Push, trends and the character limit (`check_text`) use only the content warning.
"""
VERSION_COLUMNS: Final = ("content", *AUTHOR_COLUMNS)
"""Columns that earlier versions of a post store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostBody(AuthorColumns):
    """Content of a post, the same for every viewer, its place in a thread, and the application that wrote it.

    `addressed` are the accounts that the post mentions: id, username, domain, url, uri, whether the mention is `silent`, and
    for a group the id of the collection of its followers (`group_followers`). `tags` are normalised names, in the order of the
    text. `quote` has the identifiers of the quote for other servers (its id, `quoted_uri` and `approval_uri`). For a reply that
    needed approval, `approval` has the same identifiers, and the id of the account that approved the reply (`author_uri`).
    `thread_root_id` is the first known post of the thread. `imported_uri` and `imported_url` are the id and the page that
    an imported post had on its former server.
    """

    id: int
    url: str | None = None
    content_type: str = PLAIN_TEXT
    content: str = ""
    edited_at: datetime | None = None
    thread_root_id: int = 0
    conversation_uri: str | None = None
    in_reply_to_uri: str | None = None
    quote: dict[str, Any] | None = None
    approval: dict[str, Any] | None = None
    addressed: list[dict[str, Any]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    media: list[MediaAttachment] = field(default_factory=list)
    poll_options: list[str] = field(default_factory=list)
    application_name: str | None = None
    application_website: str | None = None
    imported_uri: str | None = None
    imported_url: str | None = None

    @property
    def mentions(self) -> list[dict[str, Any]]:
        """Addressed accounts that the text mentions."""
        return [account for account in self.addressed if not account["silent"]]

    def texts(self, *, local: bool) -> tuple[str, ...]:
        """Return the texts that may contain emojis: the source of a local post or the HTML of a remote post, the texts of
        READ_COLUMNS, and the options of the poll.
        """
        return (self.text if local else self.content, *self.read_texts, *self.poll_options)


def read_as_text(texts: Iterable[str], content: str, *others: str | None) -> str:
    """Return all text that readers see in a post: the texts of READ_COLUMNS, the content, poll options and descriptions.
    Addresses that links show only in part come last, because only the beginning of the text is searched.
    """
    text, addresses = split_hidden(content)
    return "\n\n".join(part for part in (*texts, text, *others, *addresses) if part)
