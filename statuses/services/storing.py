"""Stores new posts, local and remote, with their mentions, hashtags and files."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from accounts.emojis.services.remote import RemoteEmoji
from accounts.models import Account, Tag
from accounts.queries.relations import is_awaited
from accounts.services.changing import count_status
from accounts.services.tags import count_featured_use, count_use, ensure_tags
from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.errors import Unavailable
from social.kernel.events import publish
from statuses import models
from statuses.events import InteractionRequested, StatusFetched, StatusImported, StatusPublished, StatusQuoted
from statuses.models.status import COLLECTIONS_LIMIT
from statuses.policies.polls import PollDraft, RemotePoll
from statuses.policies.posts import AUTHOR_COLUMNS, AuthorColumns
from statuses.policies.publishing import PLAIN_TEXT, check_media, check_tags, missing_media, missing_parent
from statuses.policies.quotes import missing_quoted
from statuses.policies.visibility import FOLLOWER_VISIBILITIES, is_counted, is_for_anybody, is_listed
from statuses.queries.media import attachable
from statuses.services.changing import Counter, bump, lock_status
from statuses.services.inserting import insert_status
from statuses.services.polls import store_poll

# Columns that are copied from a Composed, for new posts and for edits.
_WRITTEN_COLUMNS: Final = (*AUTHOR_COLUMNS, "content", "content_type", "sensitive", "language")


@dataclass(frozen=True)
class NewQuote:
    """Checked quote that is to be stored. The quoted post is never a boost. `page_url` is the page of the quoted post. In a
    remote post, `quoted_uri` is the ActivityPub id of the quoted post, and `quoted_id` is its local id, if the post is known
    here.
    """

    quoted_id: int | None = None
    account_id: int | None = None
    visibility: str = ""
    local_only: bool = False
    page_url: str | None = None
    quoted_uri: str | None = None
    state: models.QuoteState = models.QuoteState.PENDING
    request_uri: str | None = None
    approval_uri: str | None = None
    legacy: bool = False


@dataclass(frozen=True)
class NewRequest:
    """Request for approval of a reply, with the visibility and mentions that the reply gets after approval."""

    target_id: int
    visibility: str
    mentioned_ids: Sequence[int]
    silent_ids: Sequence[int]
    uri: str | None
    request_uri: str | None


@dataclass(frozen=True)
class RemoteFile:
    """Remote file with its metadata; `meta` is the `meta` of the MediaAttachment entity."""

    url: str
    type: str = models.MediaType.UNKNOWN
    content_type: str = ""
    description: str | None = None
    blurhash: str | None = None
    preview_url: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Composed(AuthorColumns):
    """Checked content of a post or of an edit, composed from a draft, or by federation from a document.

    A remote post has `uri` and `created_at`, its text is sanitised, and its `files` and `emojis` come from its document; a
    local post has the files `media_ids`. With a `quote_policy` of None, nobody may quote a new post; with an
    `interaction_policy` of None, everybody may interact with it; in an edit, None means no change. A reply with `asks` awaits
    approval. An edit never changes the visibility, the parent, or the quote of a local post. `collections` are the collections
    to which the post links: ids of known collections, ActivityPub ids of unknown collections.

    `mentions` are all addressed accounts; the text does not mention the accounts with ids in `silent`. `unknown_mentions` are
    the ActivityPub ids of mentioned accounts that this server does not know. `tags` are pairs (normalised hashtag, hashtag as
    written). `parent` is the post to which this post replies, never a boost; `in_reply_to_uri` names a parent that this server
    does not know.

    An old post that was fetched rather than sent has `publish_event` False: StatusFetched is published instead of
    StatusPublished. An `imported` post comes from an archive of its local author: it gets an id that corresponds to its time,
    its files need not be processed yet, and only StatusImported is published. `answered_by` is the id of the first stored
    reply. The counts are reported by the post's server; `named_count` is the number of known and unknown accounts that the text
    mentions.
    """

    author: Account
    content: str
    visibility: str
    local_only: bool = False
    content_type: str = PLAIN_TEXT
    sensitive: bool = False
    language: str | None = None
    parent: models.Status | None = None
    in_reply_to_uri: str | None = None
    mentions: Sequence[Account] = ()
    silent: Collection[int] = ()
    unknown_mentions: Sequence[str] = ()
    tags: Sequence[tuple[str, str]] = ()
    media_ids: Sequence[int] = ()
    files: Sequence[RemoteFile] = ()
    emojis: Sequence[RemoteEmoji] = ()
    poll: PollDraft | RemotePoll | None = None
    quote_policy: int | None = None
    interaction_policy: int | None = None
    asks: NewRequest | None = None
    quote: NewQuote | None = None
    collections: Sequence[int | str] = ()
    application_id: int | None = None
    has_link: bool = False
    uri: str | None = None
    url: str | None = None
    conversation_uri: str | None = None
    created_at: datetime = field(default_factory=clock.now)
    edited_at: datetime | None = None
    publish_event: bool = True
    imported: bool = False
    answered_by: int | None = None
    reblogs_count: int | None = None
    favourites_count: int | None = None
    replies_count: int | None = None
    named_count: int = 0

    @property
    def written(self) -> dict[str, Any]:
        """Values of the columns that new posts and edits write, keyed by the column's name."""
        return {name: getattr(self, name) for name in _WRITTEN_COLUMNS}


def store_status(new: Composed) -> models.Status:
    """Store a post with all its rows in the caller's transaction, publish StatusPublished (or StatusFetched or StatusImported),
    and update the counters last. The caller has checked everything except files and hashtags.

    Raises Invalid for files that the author does not own or that cannot be attached together, and for hashtags that staff
    disallow; NotFound if the parent or the quoted post was deleted in the meantime (for a remote post Unavailable, because a
    retry can store it without the deleted post); IntegrityError for a `uri` that already exists.
    """
    if new.parent is not None and not lock_status(new.parent.id):
        raise missing_parent() if new.author.local else Unavailable("the post it answers was deleted meanwhile")
    if new.quote is not None and new.quote.quoted_id is not None and not lock_status(new.quote.quoted_id):
        raise missing_quoted() if new.author.local else Unavailable("the post it quotes was deleted meanwhile")
    media = lock_media(new.author, new.media_ids, checked=new.author.local and not new.imported)
    status = _insert(new)
    _store_mentions(status, new)
    tags = _store_tags(status, new)
    store_linked(status.id, new.collections)
    _attach_media(status, media)
    if new.poll is not None:
        store_poll(status, new.poll)
    if new.imported:
        publish(StatusImported(status_id=status.id, account_id=status.account_id))
    elif new.asks is not None:
        _store_request(status, new.asks)
    elif new.publish_event:
        announce(status, new)
    else:
        publish(StatusFetched(status_id=status.id, account_id=status.account_id))
    if new.quote is not None:
        store_quote(status, new.quote)
    count_stored(status, new, tags)
    return status


def _store_request(status: models.Status, asks: NewRequest) -> None:
    request = models.InteractionRequest.objects.create(
        status_id=status.in_reply_to_id or 0,  # a reply has a parent
        account_id=status.account_id,
        kind=models.Interaction.REPLY,
        answer=status,
        **vars(asks),
    )
    publish(InteractionRequested(request_id=request.id, account_id=status.account_id))


def store_quote(status: models.Status, new: NewQuote) -> models.Quote:
    """Store the quote of a new post; the caller updates the counter last. Publishes StatusQuoted if the quote is accepted."""
    quote = models.Quote.objects.create(
        status=status,
        quoted_status_id=new.quoted_id,
        quoted_uri=new.quoted_uri,
        state=new.state,
        request_uri=new.request_uri,
        approval_uri=new.approval_uri,
        legacy=new.legacy,
    )
    if quote.state == models.QuoteState.ACCEPTED and quote.quoted_status_id is not None:
        publish(StatusQuoted(status_id=quote.quoted_status_id, quote_id=quote.id, account_id=status.account_id))
    return quote


def revise_quote(status: models.Status, new: NewQuote | None) -> dict[tuple[int, Counter], int] | None:
    """Replace the quote of an edited remote post, in the caller's transaction. Return the counter changes, which the caller
    applies last; None if the quote is unchanged. The previous quote is deleted with its authorization (security row 36).
    """
    before = models.Quote.objects.select_for_update().filter(status=status).first()
    if quoted_by(before) == quoted_by(new):
        return None
    changes: dict[tuple[int, Counter], int] = {}
    if before is not None:
        if before.quoted_status_id is not None and before.state == models.QuoteState.ACCEPTED:
            changes[before.quoted_status_id, "quotes_count"] = -1
        before.delete()
    if new is not None:
        quoted = new.quoted_id if new.quoted_id is None or lock_status(new.quoted_id) else None
        quote = store_quote(status, replace(new, quoted_id=quoted))
        if quoted is not None and quote.state == models.QuoteState.ACCEPTED:
            changes[quoted, "quotes_count"] = 1
    return changes


def quoted_by(quote: models.Quote | NewQuote | None) -> tuple[str | None, bool]:
    """Return what an edit can change about a quote: the id of the quoted post, and whether that post is reported as deleted."""
    return (None, False) if quote is None else (quote.quoted_uri, quote.state == models.QuoteState.DELETED)


def _store_mentions(status: models.Status, new: Composed) -> None:
    store_unknown_mentions(status.id, new.unknown_mentions)
    models.Mention.objects.bulk_create(
        (models.Mention(status=status, account=account, silent=account.id in new.silent) for account in new.mentions),
        batch_size=BATCH,
    )


def store_unknown_mentions(status_id: int, uris: Sequence[str]) -> None:
    """Store the ids of mentioned accounts that this server does not know, in the caller's transaction."""
    models.UnknownMention.objects.bulk_create(
        (models.UnknownMention(status_id=status_id, uri=uri) for uri in uris), batch_size=BATCH
    )


def _store_tags(status: models.Status, new: Composed) -> list[Tag]:
    private = not is_for_anybody(new.visibility)
    tags = ensure_tags(new.tags, private=private, local_only=new.local_only) if new.tags else []
    if new.imported:
        tags = [tag for tag in tags if tag.usable]
    elif new.author.local:
        check_tags(tags)
    models.StatusTag.objects.bulk_create((models.StatusTag(status=status, tag=tag) for tag in tags), batch_size=BATCH)
    return tags


def store_linked(status_id: int, collections: Sequence[int | str]) -> None:
    """Store the first COLLECTIONS_LIMIT collections that a post links to, in the caller's transaction."""
    rows = (
        models.LinkedCollection(
            status_id=status_id, **({"collection_id": one} if isinstance(one, int) else {"uri": one})
        )
        for one in list(dict.fromkeys(collections))[:COLLECTIONS_LIMIT]
    )
    models.LinkedCollection.objects.bulk_create(rows, batch_size=BATCH)


def _attach_media(status: models.Status, media: Sequence[models.MediaAttachment]) -> None:
    for position, item in enumerate(media):
        item.status, item.position = status, position
    if media:
        models.MediaAttachment.objects.bulk_update(media, ["status", "position"], batch_size=BATCH)


def announce(status: models.Status, new: Composed) -> None:
    """Publish StatusPublished, in the caller's transaction."""
    publish(
        StatusPublished(
            status_id=status.id,
            account_id=status.account_id,
            local=status.local,
            awaited=status.visibility in FOLLOWER_VISIBILITIES and is_awaited(status.account_id),
            mentions=bool(new.mentions),
            link=new.has_link,
        )
    )


def count_stored(status: models.Status, new: Composed, tags: Sequence[Tag]) -> None:
    """Update the counters of hashtags, author, parent and quoted post; called last, because many transactions lock them."""
    if tags and new.author.local and status.is_for_anybody:
        count_featured_use(status.account_id, [tag.id for tag in tags], status.created_at, 1)
    if tags and is_listed(status.visibility) and not (new.imported or new.local_only):
        count_use(tags=tags, account_id=status.account_id, used_at=status.created_at)
    if is_counted(new.visibility):
        count_status(status.account_id, 1, status.created_at)
    changes: dict[tuple[int, Counter], int] = {}
    if new.parent is not None and status.is_for_anybody:
        changes[new.parent.id, "replies_count"] = 1
        if new.author.local and not new.parent.local:
            changes[new.parent.id, "remote_replies_count"] = 1
    if new.quote is not None and new.quote.quoted_id is not None and new.quote.state == models.QuoteState.ACCEPTED:
        changes[new.quote.quoted_id, "quotes_count"] = 1
    bump(changes)


def _insert(new: Composed) -> models.Status:
    parent = new.parent
    status = models.Status(
        account=new.author,
        uri=new.uri,
        url=new.url,
        **new.written,
        visibility=new.visibility,
        local_only=new.local_only,
        local=new.author.local,
        in_reply_to_id=parent.id if parent is not None else None,
        in_reply_to_account_id=_answered_account_id(new.author, parent),
        in_reply_to_uri=new.in_reply_to_uri,
        conversation_uri=new.conversation_uri or (parent.conversation_uri if parent is not None else None),
        quote_policy=new.quote_policy or 0,
        interaction_policy=new.interaction_policy or 0,
        fetched=None if new.publish_event else True,
        from_archive=new.imported,
        application_id=new.application_id,
        created_at=new.created_at,
        edited_at=new.edited_at,
    )
    return insert_status(status, parent, answered_by=new.answered_by)


def _answered_account_id(author: Account, parent: models.Status | None) -> int | None:
    # For a reply to the author's own post, this is the account to which the parent replies (contract, entities "Status").
    if parent is None:
        return None
    if parent.account_id == author.id and parent.in_reply_to_account_id is not None:
        return parent.in_reply_to_account_id
    return parent.account_id


def lock_media(
    author: Account, media_ids: Sequence[int], *, of_status_id: int | None = None, checked: bool | None = None
) -> list[models.MediaAttachment]:
    """Lock the author's own unattached files and return them in the order of `media_ids`.

    With `of_status_id`, the post being edited, files that this post shows or has shown are allowed too. Raises Invalid for
    files that the author does not own, that are scheduled or, with `checked` (by default for local authors), that cannot be
    attached together.
    """
    if not media_ids:
        return []
    free = attachable(author.id, of_status_id=of_status_id).filter(id__one_of=media_ids)
    found = {media.id: media for media in free.select_for_update(of=("self",)).order_by("id")}
    missing_ids = [media_id for media_id in media_ids if media_id not in found]
    if missing_ids:
        raise missing_media(missing_ids)
    media = [found[media_id] for media_id in media_ids]
    if author.local if checked is None else checked:
        check_media(media)
    return media
