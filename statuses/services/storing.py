"""Writes a post with all that hangs on it: the one way in, for what is written here and for what other servers send."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.db import IntegrityError, connection, transaction

from accounts.models import Account
from accounts.services.counters import count_status
from accounts.services.featured_tags import count_featured_use
from accounts.services.tags import count_use, ensure_tags
from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.errors import Unavailable
from social.kernel.events import publish
from social.kernel.ids import snowflake_at
from statuses.events import StatusPublished
from statuses.models import MediaAttachment, Mention, Status, StatusTag
from statuses.policies.publishing import check_media, missing_media, missing_parent
from statuses.policies.visibility import is_counted, is_listed
from statuses.queries.threads import Place
from statuses.services.counters import bump
from statuses.services.locking import lock_status

PATH_LIMIT: Final = 4096
"""How many generations a thread's path remembers: as many as anybody is ever shown (behaviours section 7)."""

_ATTEMPTS: Final = 5


@dataclass(frozen=True)
class NewStatus:
    """A post to be stored. Of a remote one `uri` and `created_at` are given, and its text is sanitised already.

    `mentions` are all accounts it addresses; the ids in `silent` stand in the addressing only. `tags` are
    (normalised, as written). `parent` is what it answers, never a boost; an unknown one is named by `in_reply_to_uri`.
    An old post that was fetched rather than sent is not `announced`: it is there, and nobody is told.
    """

    author: Account
    content: str
    visibility: str
    text: str = ""
    spoiler_text: str = ""
    sensitive: bool = False
    language: str | None = None
    parent: Place | Status | None = None
    in_reply_to_uri: str | None = None
    mentions: Sequence[Account] = ()
    silent: Collection[int] = ()
    tags: Sequence[tuple[str, str]] = ()
    media_ids: Sequence[int] = ()
    application_id: int | None = None
    has_link: bool = False
    uri: str | None = None
    url: str | None = None
    conversation_uri: str | None = None
    created_at: datetime = field(default_factory=clock.now)
    announced: bool = True

    @property
    def is_counted(self) -> bool:
        """Whether it shows in its author's number of posts: what is addressed to some people only does not."""
        return is_counted(self.visibility)


def store_status(new: NewStatus) -> Status:
    """Write a post, its mentions, hashtags, files and thread keys, announce StatusPublished, count last.

    The caller holds a transaction and has checked everything but the files. Raises Invalid for files that are not
    there for the author, or not to be attached together, NotFound when the post it answers was deleted meanwhile
    (Unavailable for one from elsewhere: read again, it is an answer to nothing known), and IntegrityError for a `uri`
    that exists already.
    """
    if new.parent is not None and not lock_status(new.parent.id):
        raise missing_parent() if new.author.local else Unavailable("the post it answers was deleted meanwhile")
    media = _lock_media(new)
    status = _insert(new)
    Mention.objects.bulk_create(
        (Mention(status=status, account=account, silent=account.id in new.silent) for account in new.mentions),
        batch_size=BATCH,
    )
    if new.tags:
        tags = ensure_tags(new.tags)
        StatusTag.objects.bulk_create((StatusTag(status=status, tag=tag) for tag in tags), batch_size=BATCH)
    for position, item in enumerate(media):
        item.status, item.position = status, position
    if media:
        MediaAttachment.objects.bulk_update(media, ["status", "position"], batch_size=BATCH)
    if new.announced:
        publish(
            StatusPublished(
                status_id=status.id,
                account_id=status.account_id,
                local=status.local,
                reply=status.in_reply_to_id is not None or status.in_reply_to_uri is not None,
                mentions=bool(new.mentions),
                link=new.has_link,
            )
        )
    if new.tags and new.author.local and status.is_public:
        count_featured_use(status.account_id, [tag.id for tag in tags], status.created_at, 1)
    if new.tags and is_listed(status.visibility):
        count_use(tags=tags, account_id=status.account_id, used_at=status.created_at)
    if new.is_counted:
        count_status(status.account_id, 1, status.created_at)
    if new.parent is not None and status.is_public:
        bump({(new.parent.id, "replies_count"): 1})
    return status


def _insert(new: NewStatus) -> Status:
    parent = new.parent
    status = Status(
        account=new.author,
        uri=new.uri,
        url=new.url,
        text=new.text,
        content=new.content,
        spoiler_text=new.spoiler_text,
        sensitive=new.sensitive,
        visibility=new.visibility,
        language=new.language,
        local=new.author.local,
        in_reply_to_id=parent.id if parent is not None else None,
        in_reply_to_account_id=_answered_account_id(new.author, parent),
        in_reply_to_uri=new.in_reply_to_uri,
        conversation_uri=new.conversation_uri or (parent.conversation_uri if parent is not None else None),
        application_id=new.application_id,
        created_at=new.created_at,
    )
    return insert_status(status, parent)


def insert_status(status: Status, parent: Place | Status | None = None) -> Status:
    """Write the row of a post or boost, with the thread keys that follow from `parent`.

    A local one gets the database's id. A remote one gets an id of its own time, and another one while that is taken.
    Raises IntegrityError for a `uri` that exists already.
    """
    if status.local:
        if parent is not None:
            # The path names the post itself, so its id is needed before it is written.
            status.id = _next_id()
            _place_in_thread(status, parent)
        status.save(force_insert=True)
        return status
    for attempt in range(_ATTEMPTS):
        status.id = snowflake_at(min(status.created_at, clock.now()))
        if parent is not None:
            _place_in_thread(status, parent)
        try:
            with transaction.atomic():
                status.save(force_insert=True)
                break
        except IntegrityError as error:
            constraint = getattr(getattr(error.__cause__, "diag", None), "constraint_name", "")
            if constraint != "statuses_status_pkey" or attempt == _ATTEMPTS - 1:
                raise
    return status


def _next_id() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT timestamp_id('statuses_status')")
        (number,) = cursor.fetchone()
    return int(number)


def _place_in_thread(status: Status, parent: Place | Status) -> None:
    """Give a reply the thread keys that follow from its parent (docs/adr/0005)."""
    status.thread_id = parent.thread_root_id
    status.thread_path = [*parent.path, status.id][-PATH_LIMIT:]


def _answered_account_id(author: Account, parent: Place | Status | None) -> int | None:
    """Whom a reply answers: in a thread with oneself, whoever the parent answers (contract, entities "Status")."""
    if parent is None:
        return None
    if parent.account_id == author.id and parent.in_reply_to_account_id is not None:
        return parent.in_reply_to_account_id
    return parent.account_id


def _lock_media(new: NewStatus) -> list[MediaAttachment]:
    """The author's own, unattached files, in the author's order, held until the transaction ends."""
    if not new.media_ids:
        return []
    found = {
        media.id: media
        for media in MediaAttachment.objects.select_for_update()
        .filter(id__one_of=new.media_ids, account_id=new.author.id, status=None)
        .order_by("id")
    }
    missing = [media_id for media_id in new.media_ids if media_id not in found]
    if missing:
        raise missing_media(missing)
    media = [found[media_id] for media_id in new.media_ids]
    if new.author.local:
        # What other servers let their people attach together is theirs to say.
        check_media(media)
    return media
