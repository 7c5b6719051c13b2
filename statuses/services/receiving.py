"""Stores remote posts, fetched or sent, whose content the caller has sanitised and shortened to the limits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Q, TextField

from accounts.emojis.services.remote import store_emojis
from accounts.models import Account
from social.kernel.batches import BATCH
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.plans import Plan, Slot
from statuses.events import FilesUnmeasured, StatusJoinedThread
from statuses.models import MediaAttachment, Mention, Poll, Processing, Quote, Status, StatusStat, UnknownMention
from statuses.policies.interactions import is_pending
from statuses.policies.visibility import OPEN_VISIBILITIES
from statuses.services.changing import bump, change_statuses
from statuses.services.holding import hold_edit
from statuses.services.polls import refresh_poll
from statuses.services.quotes import changed_policies, write_policies
from statuses.services.revising import store_revision
from statuses.services.screening import UNSCREENED, Screening, limit_author, note_stored, screen_edit
from statuses.services.storing import Composed, RemoteFile, announce, quoted_by, revise_quote, store_status

_URI: Final = Slot("uri", TextField())
_STATUS_IDS: Final = Plan(lambda: Status.objects.filter(uri=_URI).values_list("id", flat=True))
_ORPHAN: Final = Plan(
    lambda: (
        Status.objects.filter(in_reply_to_uri=_URI, in_reply_to=None).order_by("id").values_list("id", flat=True)[:1]
    )
)


def publish_remote_status(*, new: Composed, screening: Screening = UNSCREENED) -> Status | None:
    """Store a remote post, once, and publish StatusPublished; None if its `uri` is already stored. If a spam rule in
    `screening` limits the author, the author is limited. The caller must not pass rules that hold the post for review. Replies
    that arrived earlier are linked to the post (docs/adr/0005), and StatusJoinedThread is published for these replies.
    """
    if new.uri is None:
        raise ValueError("a remote post has an id of its own")
    with transaction.atomic():
        lock(f"status:{new.uri}")
        if _STATUS_IDS.run(uri=new.uri):
            return None
        store_emojis(new.author.domain or "", new.emojis)
        media = MediaAttachment.objects.bulk_create(
            (media_of(new.author, file) for file in new.files), batch_size=BATCH
        )
        new = replace(new, media_ids=[item.id for item in media] or new.media_ids)
        limited_by = limit_author(new, screening)
        orphan = _ORPHAN.first(uri=new.uri)
        status = store_status(replace(new, answered_by=orphan))
        # Replies to a reply that awaits approval join the thread only when it is approved; otherwise others could read these
        # replies there before the approval.
        if orphan is not None and new.asks is None:
            adopt_orphans(status)
        note_stored(status, screening, limited_by)
        _have_measured(status, media)
        _store_counts(status.id, new)
    return status


def announce_fetched(*, status_id: int, new: Composed) -> bool:
    """Publish StatusPublished, once, in the caller's transaction, for a fetched post that its author now sends (as `new`).
    Nothing is published if the post awaits approval. Return whether the event was published. Accounts that only `new` addresses
    get a silent mention.
    """
    status = Status.objects.select_for_update().filter(id=status_id, fetched=True, deleted_at=None).first()
    # A reply that awaits approval is announced when it is approved.
    if status is None or is_pending(status.interaction_policy):
        return False
    change_statuses([status.id], fetched=None)
    mentioned_ids = set(Mention.objects.filter(status=status).values_list("account_id", flat=True))
    mentions = [Mention(status=status, account=one, silent=True) for one in new.mentions if one.id not in mentioned_ids]
    Mention.objects.bulk_create(mentions, batch_size=BATCH)
    announce(status, new)
    return True


def join_mentions(account: Account) -> None:
    """Add a newly known remote account to the mentions of posts that mentioned it before."""
    unknown = UnknownMention.objects.filter(uri=account.uri)
    while ids := list(unknown.values_list("status_id", flat=True)[:BATCH]):
        with transaction.atomic():
            rows = Status.objects.select_for_update(no_key=True).filter(id__one_of=ids).order_by("id")
            posts = list(rows.values_list("id", flat=True))
            mentions = (Mention(status_id=status_id, account=account) for status_id in posts)
            Mention.objects.bulk_create(mentions, batch_size=BATCH, ignore_conflicts=True)
            unknown.filter(status_id__one_of=ids).delete()
            change_statuses(posts)


def revise_remote_status(
    *,
    status_id: int,
    new: Composed,
    edited_at: datetime | None,
    document: Mapping[str, Any] | None = None,
    recipient: Account | None = None,
    from_author: bool = False,
) -> bool:
    """Store an edit of a remote post and publish StatusEdited. Return whether anything has changed.

    `from_author` tells whether the author sent this version; a fetched version may come from a cache. If the version is not an
    edit, or not newer (`_is_newer`), only votes and counts are stored and, unless the version is older, policies
    (QuotePolicyChanged). Visibility and parent do not change. Quoted post and mentions change, except in a reply that awaits
    approval. With the `document` of the edit, spam rules are checked and may hold the edit.
    """
    with transaction.atomic():
        store_emojis(new.author.domain or "", new.emojis)
        status = Status.objects.select_for_update().filter(id=status_id, deleted_at=None).first()
        if status is None:
            return False
        if is_pending(status.interaction_policy):
            new = replace(new, mentions=(), unknown_mentions=(), quote=None)
        if edited_at is None or not _is_newer(status, new, edited_at, from_author=from_author):
            refresh_poll(status, new.poll)
            _store_counts(status.id, new)
            is_older = status.edited_at is not None and (edited_at is None or edited_at < status.edited_at)
            if not is_older:
                write_policies(status, changed_policies(status, new.quote_policy, new.interaction_policy))
            return False
        # Without a `document`, staff have approved the edit already, or its author did not send it.
        screening = UNSCREENED if document is None else screen_edit(status, new)
        if document is not None and screening.held_by is not None:
            hold_edit(status, replace(new, edited_at=edited_at), screening, document=document, recipient=recipient)
            return False
        media, described = _revised_media(status, new)
        counts = revise_quote(status, new.quote)
        changed = store_revision(
            status,
            replace(new, edited_at=edited_at),
            media=media,
            described=described,
            changed=counts is not None,
            screening=screening,
        )
        bump(counts or {})
        _have_measured(status, media)
        _store_counts(status.id, new)
        return changed


def _is_newer(status: Status, new: Composed, edited_at: datetime, *, from_author: bool) -> bool:
    # Whether a version is newer than the last stored edit (contract, federation sections 7 "Update Note" and 17). Dates from
    # many servers have no fractions of a second; therefore the first edit may have the date of the post, and two edits may have
    # the same date. A version with the same date counts as newer if the author sent it and its content differs.
    last = status.edited_at or status.created_at
    if edited_at != last or not (from_author or status.edited_at is None):
        return edited_at > last
    return _differs_from(status, new)


def _differs_from(status: Status, new: Composed) -> bool:
    if any(getattr(status, name) != value for name, value in new.written.items() if name != "text"):
        return True
    files = MediaAttachment.objects.filter(status=status).order_by("position", "id")
    if list(files.values_list("remote_url", "description")) != [(file.url, file.description) for file in new.files]:
        return True
    options = Poll.objects.filter(status=status).values_list("options", flat=True).first()
    quote = Quote.objects.filter(status=status).first()
    return (options, quoted_by(quote)) != (new.poll and list(new.poll.options), quoted_by(new.quote))


def _store_counts(status_id: int, new: Composed) -> None:
    # Counts that the document lacks keep their value. Called last in the caller's transaction, after the counters of the quoted
    # post and the parent, whose ids are lower.
    counts = {
        "remote_reblogs_count": new.reblogs_count,
        "remote_favourites_count": new.favourites_count,
        "remote_replies_count": new.replies_count,
    }
    values = {name: count for name, count in counts.items() if count is not None}
    if any(values.values()):
        StatusStat.objects.update_or_create(status_id=status_id, defaults=values)
    elif values:
        StatusStat.objects.filter(status_id=status_id).update(**values)


def _revised_media(status: Status, new: Composed) -> tuple[list[MediaAttachment], list[int]]:
    """Return the rows of an edited post's files, and the ids of stored rows whose description or focus has changed. The row of
    a file that was already attached is reused.
    """
    rows = MediaAttachment.objects.filter(Q(status=status) | Q(former_status=status)).order_by("-position", "-id")
    known_media = {media.remote_url: media for media in rows}
    media: list[MediaAttachment] = []
    described: list[int] = []
    for file in new.files:
        row = known_media.pop(file.url, None)
        if row is None:
            row = media_of(new.author, file)
            row.save(force_insert=True)
        elif (row.description, row.meta.get("focus")) != (file.description, file.meta.get("focus")):
            row.description, row.meta = file.description, row.meta | file.meta
            described.append(row.id)
        media.append(row)
    return media, described


def _have_measured(status: Status, media: Sequence[MediaAttachment]) -> None:
    if media:
        publish(FilesUnmeasured(status_id=status.id))


def media_of(author: Account, file: RemoteFile) -> MediaAttachment:
    """Return the unsaved row for a file of a remote post."""
    return MediaAttachment(
        account=author,
        type=file.type,
        processing=Processing.COMPLETE,
        content_type=file.content_type,
        remote_url=file.url,
        preview_remote_url=file.preview_url,
        meta=file.meta,
        description=file.description,
        blurhash=file.blurhash,
    )


# Replies that name the post as their parent. The post's ancestors are excluded, because a post must not become its own ancestor
# if two posts name each other as parents. A reply with an unknown parent is the root of its thread.
_ORPHANS = """
    in_reply_to_uri = %(uri)s AND in_reply_to_id IS NULL AND id <> %(root)s AND id <> ALL(%(path)s::bigint[])
"""
# The new path is put before the paths of the reply and of all its descendants.
_SUBTREE_MOVE = f"""
WITH orphan AS (
    SELECT COALESCE(thread_path, ARRAY[id]) AS path FROM statuses_status WHERE {_ORPHANS}
), answers AS (
    SELECT s.id, COALESCE(s.thread_path, ARRAY[s.id]) AS path, cardinality(o.path) AS depth
    FROM orphan o JOIN statuses_status s
      ON s.id = o.path[cardinality(o.path)]
      OR (s.thread_id = o.path[1] AND s.thread_path[1:cardinality(o.path)] = o.path)
)
UPDATE statuses_status s
SET thread_id = %(root)s, thread_path = %(path)s::bigint[] || answers.path[answers.depth:]
FROM answers WHERE s.id = answers.id
"""  # noqa: S608 (constants)
_THREAD_JOIN = f"""
UPDATE statuses_status SET in_reply_to_id = %(parent)s, in_reply_to_account_id = %(author)s, version = version + 1
WHERE {_ORPHANS} RETURNING id, account_id, visibility = ANY(%(counted)s) AND deleted_at IS NULL
"""  # noqa: S608 (constants)

# A thread whose first post got a parent becomes part of the parent's thread.
_MUTE_MOVE = """
WITH moved AS (DELETE FROM statuses_conversationmute WHERE thread_id = ANY(%(roots)s) RETURNING account_id, created_at)
INSERT INTO statuses_conversationmute (account_id, thread_id, created_at)
SELECT DISTINCT ON (account_id) account_id, %(root)s, created_at FROM moved
ON CONFLICT (account_id, thread_id) DO NOTHING
"""


def adopt_replies_to_page(status: Status, page: str) -> None:
    """Link the replies that name a remote post by the address of its page, as replies from personal sites do."""
    with transaction.atomic():
        lock(f"status:{status.uri}")
        if _ORPHAN.first(uri=page) is not None and not is_pending(status.interaction_policy):
            adopt_orphans(status, uri=page)


def adopt_orphans(status: Status, *, uri: str | None = None) -> None:
    """Link replies that arrived before the post and refer to it by `uri`, by default its id. Publishes StatusJoinedThread."""
    values = {
        "uri": uri or status.uri,
        "parent": status.id,
        "author": status.account_id,
        "root": status.thread_root_id,
        "path": status.path,
        "counted": list(OPEN_VISIBILITIES),
    }
    with connection.cursor() as cursor:
        cursor.execute(_SUBTREE_MOVE, values)
        cursor.execute(_THREAD_JOIN, values)
        joined = cursor.fetchall()
        cursor.execute(_MUTE_MOVE, {"root": status.thread_root_id, "roots": [row[0] for row in joined]})
    publish(*(StatusJoinedThread(status_id=number, account_id=account) for number, account, _counts in joined))
    bump({(status.id, "replies_count"): sum(counts for _number, _account, counts in joined)})
