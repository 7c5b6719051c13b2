"""Creates and undoes favourites, bookmarks, boosts and conversation mutes. Repeated calls have no effect. An account may always
undo its own action, even on a post that it may no longer read (behaviours section 7 "Undo", SEED-131 and 132).
"""

from datetime import datetime
from typing import Any, Final

from django.db import connection, transaction

from accounts.models import Account, User
from accounts.policies.relations import Relations
from accounts.queries.relations import load_relations
from accounts.services.changing import count_status
from social.kernel import clock
from social.kernel.errors import Forbidden, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock
from statuses.events import StatusFavourited, StatusPublished, StatusReblogged, StatusUnfavourited
from statuses.models import Bookmark, ConversationMute, Favourite, Interaction, InteractionRequest, RequestState, Status
from statuses.policies.audience import may_favourite, may_reblog
from statuses.policies.posts import Post
from statuses.policies.publishing import REBLOG_CHOICES, choose_visibility
from statuses.policies.visibility import boost_visibility
from statuses.queries.statuses import find_existing, load_existing, require_readable
from statuses.services.asking import ask
from statuses.services.changing import bump, lock_status
from statuses.services.deleting import delete_status
from statuses.services.inserting import insert_status

# Takes the same lock as `lock_status`, in the same statement.
_INSERT_FAVOURITE: Final = """
INSERT INTO statuses_favourite (account_id, status_id, uri, created_at)
SELECT %(account)s, id, %(uri)s, %(now)s FROM statuses_status WHERE id = %(status)s AND deleted_at IS NULL FOR KEY SHARE
ON CONFLICT (account_id, status_id) DO NOTHING RETURNING id
"""
_DELETE_FAVOURITE: Final = "DELETE FROM statuses_favourite WHERE account_id = %s AND status_id = %s RETURNING id"
_DELETE_FAVOURITES: Final = """
WITH gone AS (
    DELETE FROM statuses_favourite
     WHERE id = ANY(ARRAY(
       SELECT id FROM statuses_favourite WHERE account_id = %s ORDER BY account_id, status_id LIMIT %s))
    RETURNING id, status_id)
SELECT gone.id, gone.status_id, s.local, s.deleted_at IS NULL FROM gone JOIN statuses_status s ON s.id = gone.status_id
 ORDER BY gone.id
"""


def favourite_status(
    *,
    account_id: int,
    status: Post | Status,
    relations: Relations | None = None,
    uri: str | None = None,
    approved: bool = False,
) -> bool:
    """Favourite a post that the account may read, or the boosted post if it is a boost. Publishes StatusFavourited, once.

    Returns True for a new favourite, which is also added to the count in `status` if that is a Post; False if the favourite
    existed already, if the post was deleted, or if a request was sent to the author instead (`ask`; not with `approved`).
    `relations` to the author are loaded if not given. `uri` is the id of a remote Like, and is removed from any other favourite
    of the account. Raises Forbidden if the account blocks the author, and the errors of `ask`.
    """
    target = status.original or status
    relations = relations or load_relations(account_id, [target.account_id])
    if not may_favourite(target, relations):
        raise Forbidden
    asking = not approved and target.interaction_policy
    if asking and not ask(account_id=account_id, post=target, kind=Interaction.FAVOURITE, relations=relations, uri=uri):
        return False
    with transaction.atomic():
        if uri is not None:
            Favourite.objects.filter(uri=uri, account_id=account_id).exclude(status_id=target.id).update(uri=None)
        favourite_id = _one_id(
            _INSERT_FAVOURITE, {"account": account_id, "status": target.id, "uri": uri, "now": clock.now()}
        )
        if favourite_id is not None:
            publish(
                StatusFavourited(
                    status_id=target.id, account_id=account_id, favourite_id=favourite_id, local=target.local
                )
            )
            bump({(target.id, "favourites_count"): 1})
            if isinstance(target, Post):
                target.count_favourite(1)
    return favourite_id is not None


def unfavourite_status(*, account_id: int, status_id: Any) -> Post:
    """Undo a favourite and return the updated post. Publishes StatusUnfavourited if there was a favourite. If `status_id` is
    the id of a boost, nothing is undone (contract, parameters section 3 "Other status calls"). Raises NotFound for a post that
    does not exist, or that the account may not read and has not favourited.
    """
    row = load_existing(status_id)
    target = row if row is not None and row.original is None else None
    with transaction.atomic():
        favourite_id = _one_id(_DELETE_FAVOURITE, [account_id, target.id if target is not None else 0])
        if favourite_id is not None and target is not None:
            publish(
                StatusUnfavourited(
                    status_id=target.id, account_id=account_id, favourite_id=favourite_id, local=target.local
                )
            )
            bump({(target.id, "favourites_count"): -1})
            target.count_favourite(-1)
            return target
    if target is not None:
        _withdraw(account_id, target, Interaction.FAVOURITE)
    readable = require_readable(row, account_id)
    # Another request may have undone favourites since the row was read, so the row is read again.
    return find_existing(readable.id)


def take_back_favourites(*, account_id: int, limit: int) -> int:
    """Undo the oldest favourites of an account, at most `limit`, and return how many. Favourites of unreadable posts are
    included. Takes one transaction with a constant number of statements. Publishes StatusUnfavourited for posts that are not
    deleted.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_DELETE_FAVOURITES, [account_id, limit])
            deleted_rows = cursor.fetchall()
        there = [(number, status_id, local) for number, status_id, local, exists in deleted_rows if exists]
        publish(
            *(
                StatusUnfavourited(status_id=status_id, account_id=account_id, favourite_id=number, local=local)
                for number, status_id, local in there
            )
        )
        bump({(status_id, "favourites_count"): -1 for _number, status_id, _local in there})
    return len(deleted_rows)


def bookmark_status(*, account_id: int, status: Post) -> None:
    """Bookmark a readable post, or the boosted post of a boost; nobody is notified. Raises NotFound if the post was deleted."""
    with transaction.atomic():
        if not lock_status(status.proper.id):
            raise NotFound
        Bookmark.objects.bulk_create(
            [Bookmark(account_id=account_id, status_id=status.proper.id)], batch_size=1, ignore_conflicts=True
        )


def unbookmark_status(*, account_id: int, status_id: Any) -> Post:
    """Undo a bookmark and return the post. If `status_id` is the id of a boost, nothing is undone. Raises NotFound for a post
    that does not exist, or that the account may not read and has not bookmarked.
    """
    row = load_existing(status_id)
    target_id = row.id if row is not None and row.original is None else 0
    removed, _rows = Bookmark.objects.filter(account_id=account_id, status_id=target_id).delete()
    if row is not None and removed:
        return row
    return require_readable(row, account_id)


def reblog_status(
    *,
    account: Account,
    status: Post | Status,
    relations: Relations | None = None,
    visibility: str | None = None,
    uri: str | None = None,
    created_at: datetime | None = None,
    approved: bool = False,
) -> int | None:
    """Boost a post that the account may read, and return the id of the boost, which may exist already; None if a request was
    sent to the author instead (`ask`; not with `approved`). Publishes StatusPublished for the boost and StatusReblogged.

    `relations` to the author are loaded if not given. `visibility` is by default the user's default visibility; a boost of a
    private post is private. Raises Invalid for a visibility that boosts may not have, Forbidden for a post that may not be
    boosted, NotFound for a post deleted in the meantime, and the errors of `ask`.
    """
    target = status.original or status
    user: User | None = getattr(account, "user", None)
    reblog_visibility = choose_visibility(
        account, visibility, user.default_privacy if user is not None else None, choices=REBLOG_CHOICES
    )
    relations = relations or load_relations(account.id, [target.account_id])
    if not may_reblog(account, target, relations):
        raise Forbidden
    asking = not approved and target.interaction_policy
    if asking and not ask(
        account_id=account.id,
        post=target,
        kind=Interaction.REBLOG,
        relations=relations,
        visibility=reblog_visibility,
        uri=uri,
    ):
        return None
    with transaction.atomic():
        if not lock_status(target.id):
            raise NotFound
        lock(f"reblog:{account.id}:{target.id}")
        existing = _find_reblog(account.id, target.id)
        if existing is not None:
            return existing
        moment = created_at or clock.now()
        reblog = insert_status(
            Status(
                account=account,
                reblog_of_id=target.id,
                visibility=boost_visibility(target.visibility, reblog_visibility),
                local_only=target.local_only,
                local=account.local,
                uri=uri,
                created_at=moment,
            )
        )
        publish(
            StatusPublished(status_id=reblog.id, account_id=account.id, local=account.local, reblog=True),
            StatusReblogged(status_id=target.id, account_id=account.id, reblog_id=reblog.id),
        )
        if target.interaction_policy:
            # The authorization was given for an earlier boost, which was undone, and is used for this boost.
            accepted = InteractionRequest.objects.filter(status_id=target.id, account_id=account.id)
            accepted.filter(kind=Interaction.REBLOG, state=RequestState.ACCEPTED).update(answer_id=reblog.id)
        count_status(account.id, 1, moment)
        bump({(target.id, "reblogs_count"): 1})
    return reblog.id


def unreblog_status(*, account_id: int, status_id: Any) -> Post:
    """Undo a boost and return the boosted post with its new counts. Publishes StatusDeleted if there was a boost. Raises
    NotFound for a post that does not exist, or that the account may not read and has not boosted.
    """
    row = load_existing(status_id)
    reblog_id = _find_reblog(account_id, row.proper.id if row is not None else 0)
    if row is not None and reblog_id is None:
        _withdraw(account_id, row.proper, Interaction.REBLOG)
    if row is None or reblog_id is None:
        return require_readable(row, account_id).proper
    delete_status(status_id=reblog_id)
    return find_existing(row.proper.id)


def _withdraw(account_id: int, post: Post, kind: Interaction) -> None:
    if post.interaction_policy:
        InteractionRequest.objects.filter(
            account_id=account_id, status_id=post.id, kind=kind, state=RequestState.PENDING
        ).delete()


def _find_reblog(account_id: int, status_id: int) -> int | None:
    found = Status.objects.filter(account_id=account_id, reblog_of_id=status_id, deleted_at=None)
    return found.values_list("id", flat=True).first()


def _one_id(sql: str, parameters: Any) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def mute_conversation(*, account_id: int, status: Post) -> None:
    """Mute the conversation of a post (for a boost, of the boosted post) that the account may read. Idempotent."""
    mute = ConversationMute(account_id=account_id, thread_id=_thread_of(status))
    ConversationMute.objects.bulk_create([mute], batch_size=1, ignore_conflicts=True)


def unmute_conversation(*, account_id: int, status: Post) -> None:
    """Unmute the conversation of a post. Idempotent."""
    ConversationMute.objects.filter(account_id=account_id, thread_id=_thread_of(status)).delete()


def _thread_of(status: Post) -> int:
    found = Status.objects.filter(id=status.proper.id).values_list("thread_id", flat=True).first()
    return found or status.proper.id
