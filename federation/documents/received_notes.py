"""Reads remote posts (contract, federation sections 5, 6 and 16)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.utils.html import escape

from accounts.emojis.services.remote import RemoteEmoji
from accounts.models.tag import TAG_LIMIT
from accounts.queries.accounts import split_address
from federation.documents import context, reading, received_files
from federation.reasons import Reason, Rejected
from social.kernel import clock, reasons
from social.kernel.http.content import ACTIVITY_TYPES, is_acceptable
from social.kernel.links import actor_uri
from social.kernel.text import languages, markdown, markup, to_html
from social.kernel.text.names import is_hashtag, normalise_hashtag
from social.kernel.text.sanitize import MAX_BYTES, sanitize
from statuses.models.attachments import OPTIONS_LIMIT
from statuses.models.status import COLLECTIONS_LIMIT
from statuses.policies.cards import card_url, find_link
from statuses.policies.polls import RemotePoll
from statuses.policies.posts import COLUMN_LIMITS, AuthorColumns
from statuses.services.storing import RemoteFile

NOTES: Final = frozenset({"Note", "Question"})
CONVERTED: Final = frozenset({"Image", "Audio", "Video", "Article", "Page", "Event"})
TYPES: Final = NOTES | CONVERTED
ATTACHMENTS_LIMIT: Final = 4
REPLIES_LIMIT: Final = 5
TOTAL_LIMIT: Final = 1_000_000
"""Limit on the numbers of boosts, favourites and replies in a document, which are shown although nobody can verify them."""
MENTIONS_LIMIT: Final = 100
TAGS_LIMIT: Final = 100
OPTION_LENGTH: Final = 400
# In order of precedence (contract, federation section 5).
_QUOTES: Final = ("quote", "_misskey_quote", "quoteUrl", "quoteUri")
# Full names of the terms above. A Link in `tag` is a quote if its `rel` is one of these names.
_QUOTE_RELATIONS: Final = frozenset(
    {
        "https://w3id.org/fep/044f#quote",
        "https://misskey-hub.net/ns#_misskey_quote",
        "https://www.w3.org/ns/activitystreams#quoteUrl",
        "http://fedibird.com/ns#quoteUri",
    }
)


@dataclass(frozen=True)
class ReceivedNote(AuthorColumns):
    """A post document with values of known types, sanitised HTML and limited lengths."""

    uri: str
    author_uri: str
    content: str
    sensitive: bool
    language: str | None
    published: datetime
    # The time of the last edit, if the document states it.
    updated: datetime | None
    url: str
    in_reply_to: str | None
    conversation: str | None
    to: list[str]
    cc: list[str]
    mentioned: list[str] = field(default_factory=list)
    tags: list[tuple[str, str]] = field(default_factory=list)
    # The ids of the collections of accounts that the post links to (FEP-7aa9); other members of these tags are not trusted.
    collections: list[str] = field(default_factory=list)
    files: list[RemoteFile] = field(default_factory=list)
    emojis: list[RemoteEmoji] = field(default_factory=list)
    # The id of the quoted post; `legacy_quote` is True if only a term older than FEP-044f names it. A deleted quoted post may
    # have no id.
    quoted: str | None = None
    quoted_deleted: bool = False
    legacy_quote: bool = False
    quote_authorization: str | None = None
    automatic_approval: list[str] = field(default_factory=list)
    manual_approval: list[str] = field(default_factory=list)
    # Who may favourite, reply to and boost the post: the `interactionPolicy` as received (`policies.read_policy` reads it).
    interaction_policy: Any = None
    poll: RemotePoll | None = None
    # The ids of the first replies that the post lists, if they are on the post's own server.
    replies: list[str] = field(default_factory=list)
    # The numbers of boosts, favourites and replies, if the document states them.
    shares: int | None = None
    likes: int | None = None
    replies_count: int | None = None
    # The document as it was received.
    document: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def addressed(self) -> list[str]:
        """The ids of the recipients of the post, except the public collection. A mention alone does not add a recipient
        (security row 22).
        """
        return [uri for uri in dict.fromkeys([*self.to, *self.cc]) if uri not in context.PUBLIC_NAMES]


def is_note(document: Any) -> bool:
    """Tell whether a document is stored as a post. A vote in a poll is not stored as a post, although its type is Note."""
    return isinstance(document, Mapping) and reading.kind_of(document, TYPES) is not None and not is_vote(document)


def is_vote(document: Mapping[str, Any]) -> bool:
    """Tell whether a document is a vote: a Note with a name but without content (contract, federation sections 7 and 17)."""
    is_named_answer = bool(document.get("name")) and bool(document.get("inReplyTo"))
    has_content = any(document.get(name) for name in ("content", "contentMap", "attachment"))
    return is_named_answer and "Note" in reading.kinds_of(document) and not has_content


def author_ids(document: Mapping[str, Any]) -> list[str]:
    """Return the ids of the authors that a post names. Links are left out, because they often lead to pages."""
    items = reading.many(document.get("attributedTo"))
    return reading.uris_of([item for item in items if not isinstance(item, Mapping) or "id" in item])


def read_sent_note(
    document: Mapping[str, Any], sender_uri: str, activity: Mapping[str, Any] | None = None
) -> ReceivedNote:
    """Read a post that the actor `sender_uri` has sent as its own, possibly in an `activity`. Raises the errors of `read_note`.

    The sender counts as the author if the sender is one of several authors, or if the post names no author. `to` and `cc` may
    be stated only in the activity (contract, federation section 17). Either member is taken from the activity if the post lacks
    that member, or if the post addresses nobody.
    """
    authors = author_ids(document)
    own = {"attributedTo": sender_uri} if sender_uri in authors or not authors else {}
    activity_members = activity or {}
    names_nobody = not any(reading.uris_of(document.get(name)) for name in ("to", "cc"))
    addressing = {
        name: activity_members[name]
        for name in ("to", "cc")
        if name in activity_members and (names_nobody or document.get(name) is None)
    }
    return read_note({**document, **addressing, **own})


def read_note(document: Mapping[str, Any]) -> ReceivedNote:
    """Read a post. The author is the first of the named authors on the post's server who is not a group, or else the first
    group on that server. Raises Rejected when the post has no id, or no author on its own server (security row 8).
    """
    uri = reading.web_uri(document.get("id"))
    if uri is None:
        raise Rejected(Reason.NOTE_WITHOUT_ID)
    kind = reading.kind_of(document, TYPES)
    if kind is None:
        raise Rejected(Reason.NO_NOTE)
    authors = [author for author in _authors_of(document) if reading.same_origin(author, uri)]
    if not authors:
        raise Rejected(Reason.AUTHOR_OF_OTHER_SERVER)
    to, cc = reading.uris_of(document.get("to")), reading.uris_of(document.get("cc"))
    url = reading.link_of(document.get("url")) or uri
    content = _html_of(reading.text_member(document, "content", MAX_BYTES), document)
    pages = _linked_pages(document)
    if kind in CONVERTED:
        content = _html_of_article(document, content, url, pages)
    quoted = _quoted_uri(document)
    conversation = document.get("conversation") or document.get("context")
    poll = _read_poll(document) if "Question" in reading.kinds_of(document) else None
    content = sanitize(content)
    if kind in NOTES and find_link(content) is None:
        # `card_url` refuses pages of this server, which get no preview.
        content += "".join(
            sanitize(_html_of_link(page)) for page in pages[:1] if card_url(page) and not _is_linked(page, content)
        )
    members = context.AUTHOR_MEMBERS.items() if kind in NOTES else ()
    parts = [item for item in [document, *reading.many(document.get("attachment"))] if isinstance(item, Mapping)]
    columns = AuthorColumns(**{name: reading.text_member(document, it, COLUMN_LIMITS[name]) for name, it in members})
    return ReceivedNote(
        uri=uri,
        author_uri=authors[0],
        content=content,
        **columns.author_columns,
        sensitive=bool(columns.spoiler_text) or any(reading.flag_of(item.get("sensitive")) for item in parts),
        language=_language_of(document),
        published=reading.moment_of(document.get("published")),
        updated=reading.past_of(document.get("updated")),
        url=url,
        in_reply_to=next(iter(reading.uris_of(document.get("inReplyTo"))), None),
        conversation=reading.uri_of(conversation),
        to=to,
        cc=cc,
        mentioned=_tagged_uris(document, "Mention", MENTIONS_LIMIT),
        tags=_read_tags(document),
        collections=_read_collections(document),
        files=_read_files(document),
        emojis=received_files.read_emojis(
            document, content, *columns.read_texts, *(poll.options if poll is not None else ())
        ),
        quoted=quoted,
        quoted_deleted=any(
            isinstance(item, Mapping) and "Tombstone" in reading.kinds_of(item)
            for item in reading.many(document.get("quote"))
        ),
        legacy_quote=quoted is not None and reading.web_uri(document.get("quote")) is None,
        quote_authorization=reading.web_uri(document.get("quoteAuthorization")),
        automatic_approval=_approving(document, "automaticApproval"),
        manual_approval=_approving(document, "manualApproval"),
        interaction_policy=document.get("interactionPolicy"),
        poll=poll,
        replies=_read_replies(document.get("replies"), uri),
        shares=_total(document.get("shares"), TOTAL_LIMIT),
        likes=_total(document.get("likes"), TOTAL_LIMIT),
        replies_count=_total(document.get("replies"), TOTAL_LIMIT),
        document=document,
    )


def _authors_of(document: Mapping[str, Any]) -> list[str]:
    """Return the ids of the authors, groups last, because PeerTube names both the channel (a group) and its owner."""
    authors = sorted(
        reading.many(document.get("attributedTo")),
        key=lambda item: isinstance(item, Mapping) and "Group" in reading.kinds_of(item),
    )
    return [uri for item in authors if (uri := reading.web_uri(item)) is not None]


def _quoted_uri(document: Mapping[str, Any]) -> str | None:
    links = (link.get("href") for link in reading.of_kind(document.get("tag"), "Link") if _is_quote(link))
    members = (document.get(name) for name in _QUOTES)
    return next((uri for value in (*members, *links) if (uri := reading.web_uri(value)) is not None), None)


def _is_quote(link: Mapping[str, Any]) -> bool:
    """Tell whether a Link is a quote: it has the relation of a quote or, if Bridgy sends it, an ActivityPub media type and no
    relation.
    """
    relations = {word for relation in reading.many(link.get("rel")) for word in reading.text_of(relation, 2048).split()}
    if relations:
        return not relations.isdisjoint(_QUOTE_RELATIONS)
    return is_acceptable(reading.text_of(link.get("mediaType"), 200), ACTIVITY_TYPES)


def _total(collection: Any, limit: int = reading.MAX_COUNT) -> int | None:
    return reading.number_of(collection.get("totalItems"), limit) if isinstance(collection, Mapping) else None


def _option(item: Mapping[str, Any]) -> str:
    """Return the text of an option of a poll: its name, or else its content, as in Mastodon."""
    texts = (reading.text_member(item, member, OPTION_LENGTH).strip() for member in ("name", "content"))
    return next(filter(None, texts), "")


def _read_replies(collection: Any, uri: str) -> list[str]:
    page = collection.get("first") if isinstance(collection, Mapping) else None
    uris = reading.uris_of(page.get("items") or page.get("orderedItems")) if isinstance(page, Mapping) else []
    return [answer for answer in uris if reading.same_origin(answer, uri)][:REPLIES_LIMIT]


def _read_poll(document: Mapping[str, Any]) -> RemotePoll | None:
    multiple = bool(document.get("anyOf"))
    items = [item for item in reading.many(document.get("anyOf" if multiple else "oneOf")) if isinstance(item, Mapping)]
    named_items = [(name, item) for item in items if (name := _option(item))]
    if not named_items:
        return None
    named_items = reading.at_most(named_items, OPTIONS_LIMIT, Reason.TOO_MANY_OPTIONS)
    totals = [_total(item.get("replies")) for _name, item in named_items]
    closed = document.get("closed")
    end = (
        reading.time_of(closed) or reading.time_of(document.get("endTime")) or (clock.now() if closed is True else None)
    )
    return RemotePoll(
        options=[name for name, _item in named_items],
        tallies=[total or 0 for total in totals],
        voters_count=reading.number_of(document.get("votersCount")),
        multiple=multiple,
        hide_totals=None in totals,
        expires_at=end,
    )


def _approving(document: Mapping[str, Any], name: str) -> list[str]:
    policy = document.get("interactionPolicy")
    rules = policy.get("canQuote") if isinstance(policy, Mapping) else None
    return reading.uris_of(rules.get(name)) if isinstance(rules, Mapping) else []


def _language_of(document: Mapping[str, Any]) -> str | None:
    code = _code_of_language(document)
    language = languages.known_language(code)
    reasons.leave_out(Reason.UNREADABLE_LANGUAGE, bool(code) and language is None and code != "und")
    return language


def _code_of_language(document: Mapping[str, Any]) -> str | None:
    """Return the language of the translation that equals the text itself, or else the language of the first translation.
    Without translations, return the code in `language`, as Lemmy sends it.
    """
    for name in ("content", "name", "summary"):
        texts = reading.translations(document, name, MAX_BYTES)
        if texts:
            written = reading.text_of(document.get(name), MAX_BYTES)
            same = [code for code, text in texts.items() if text == written] or list(texts)[:1]
            return next(filter(languages.known_language, same), same[0])
    language = document.get("language")
    return reading.text_of(language.get("identifier"), 100) if isinstance(language, Mapping) else None


def _html_of(content: str, document: Mapping[str, Any]) -> str:
    """Return the content as unsanitised HTML; Markdown and plain text (according to `mediaType`) are converted."""
    kind = reading.media_type_of(document.get("mediaType"))
    if kind in ("text/markdown", "text/x-markdown"):
        return markdown.markdown_to_html(content)
    return to_html.plain_to_html(content) if kind == "text/plain" else content


def _html_of_link(url: str) -> str:
    return f'<p><a href="{escape(url)}">{escape(url)}</a></p>'


def _is_linked(page: str, html: str) -> bool:
    return f'"{escape(page)}"' in html


def _html_of_article(document: Mapping[str, Any], content: str, url: str, pages: list[str]) -> str:
    """Return an article or video as HTML: a heading, links to `pages`, the summary or else the content, and a link to `url`."""
    name = reading.text_member(document, "name", 2048)
    summary = reading.text_member(document, "summary", COLUMN_LIMITS["spoiler_text"])
    heading = f"<h2>{escape(name)}</h2>" if name else ""
    body = content if not summary else summary if markup.is_markup(summary) else to_html.plain_to_html(summary)
    about = "".join(_html_of_link(page) for page in pages if page != url and not _is_linked(page, body))
    return f"{heading}{about}{body}{_html_of_link(url)}"


def _tagged_uris(document: Mapping[str, Any], kind: str, limit: int) -> list[str]:
    hrefs = [_account_in(item) for item in reading.of_kind(document.get("tag"), kind)]
    uris = reading.readable(hrefs, Reason.MENTION_WITHOUT_ADDRESS)
    return reading.at_most(list(dict.fromkeys(uris)), limit, Reason.TOO_MANY_MENTIONS)


def _account_in(mention: Mapping[str, Any]) -> str | None:
    """Return the id in a Mention; a local account is also found by its address."""
    href = reading.uri_of(mention.get("href") or mention.get("id") or mention.get("url"))
    address = (href or reading.text_of(mention.get("name"), 2048)).removeprefix("acct:").removeprefix("@")
    pair = split_address(address) if "@" in address and "/" not in address else None
    return actor_uri(pair[0]) if pair is not None and pair[1] is None else href


def _read_tags(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    hashtags = reading.of_kind(document.get("tag"), "Hashtag")
    names = dict.fromkeys(reading.text_of(item.get("name"), 200).removeprefix("#") for item in hashtags)
    spellings: dict[str, str] = {}
    # The number of hashtags is limited before they are normalised, because normalising is slow (security row 78).
    for spelling in reading.at_most(list(filter(None, names)), TAGS_LIMIT, Reason.TOO_MANY_TAGS):
        name = normalise_hashtag(spelling)
        if is_hashtag(name) and len(name) <= TAG_LIMIT:
            spellings.setdefault(name, spelling)
        else:
            reasons.leave_out(Reason.TAG_WITHOUT_NAME)
    return list(spellings.items())


def _read_collections(document: Mapping[str, Any]) -> list[str]:
    uris = (reading.web_uri(item.get("id")) for item in reading.of_kind(document.get("tag"), "FeaturedCollection"))
    return list(dict.fromkeys(uri for uri in uris if uri is not None))[:COLLECTIONS_LIMIT]


def _linked_pages(document: Mapping[str, Any]) -> list[str]:
    pages = (received_files.linked_page(item) for item in reading.many(document.get("attachment")))
    return list(dict.fromkeys(page for page in pages if page is not None))[:ATTACHMENTS_LIMIT]


def _read_files(document: Mapping[str, Any]) -> list[RemoteFile]:
    items = [item for item in reading.many(document.get("attachment")) if received_files.linked_page(item) is None]
    files = reading.readable([received_files.read_file(item) for item in items], Reason.ATTACHMENT_WITHOUT_ADDRESS)
    return reading.at_most(files, ATTACHMENTS_LIMIT, Reason.TOO_MANY_ATTACHMENTS)
