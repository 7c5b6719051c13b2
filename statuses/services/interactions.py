"""Likes and boosts posts, and takes it back.

Every one may be repeated without effect. Taking back is always allowed to who has done it, even when the post cannot be
read any more; to anybody else such a post does not exist (contract, behaviours section 7 "Undo", SEED-131 and 132).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.db import connection, transaction

from accounts.models import Account, User
from accounts.queries.relations import load_relations
from accounts.services.counters import count_status
from social.kernel import clock
from social.kernel.errors import Forbidden
from social.kernel.events import publish
from social.kernel.ids import parse_id
from social.kernel.locks import lock
from statuses.events import StatusFavourited, StatusPublished, StatusReblogged, StatusUnfavourited
from statuses.models import Favourite, Status
from statuses.policies.interactions import may_favourite, may_reblog, reblog_visibility
from statuses.policies.publishing import REBLOG_CHOICES, choose_visibility
from statuses.queries.statuses import find_status
from statuses.services.counters import bump
from statuses.services.deleting import delete_status
from statuses.services.storing import insert_status

_INSERT_FAVOURITE: Final = """
INSERT INTO statuses_favourite (account_id, status_id, uri, created_at)
VALUES (%(account)s, %(status)s, %(uri)s, %(now)s) ON CONFLICT (account_id, status_id) DO NOTHING RETURNING id
"""


def favourite_status(*, account: Account, status: Status, uri: str | None = None) -> None:
    """Like a post the account may read; of a boost the boosted one. Announces StatusFavourited, once.

    `uri` is the id of a remote Like. Raises Forbidden when the account blocks the author.
    """
    target = status.reblog_of or status
    if not may_favourite(target, load_relations(account.id, [target.account_id])):
        raise Forbidden
    with transaction.atomic():
        with connection.cursor() as cursor:
            values = {"account": account.id, "status": target.id, "uri": uri, "now": clock.now()}
            cursor.execute(_INSERT_FAVOURITE, values)
            made = cursor.fetchone()
        if made is None:
            return
        publish(StatusFavourited(status_id=target.id, account_id=account.id, favourite_id=made[0]))
        bump({(target.id, "favourites_count"): 1})


def unfavourite_status(*, account: Account, status_id: Any) -> Status:
    """Take a like back; the post it was on. Announces StatusUnfavourited if there was one.

    Raises NotFound for a post that does not exist, or that the account may not read and does not like.
    """
    target = _find_existing(status_id)
    with transaction.atomic():
        favourite = (
            Favourite.objects.select_for_update().filter(account=account, status=target).first()
            if target is not None
            else None
        )
        if favourite is not None and target is not None:
            publish(StatusUnfavourited(status_id=target.id, account_id=account.id, favourite_id=favourite.id))
            favourite.delete()
            bump({(target.id, "favourites_count"): -1})
            return target
    return _proper(find_status(status_id, account.id))


def reblog_status(
    *,
    account: Account,
    status: Status,
    visibility: str | None = None,
    uri: str | None = None,
    created_at: datetime | None = None,
) -> Status:
    """Boost a post the account may read; the boost. A second time the first boost is returned.

    `visibility` as asked for, by default the user's own; a private post stays private. Announces StatusPublished for
    the boost and StatusReblogged. Raises Invalid for another visibility, Forbidden for a post that may not be boosted.
    """
    target = _proper(status)
    user: User | None = getattr(account, "user", None)
    chosen = choose_visibility(
        account, visibility, user.default_privacy if user is not None else None, choices=REBLOG_CHOICES
    )
    if not may_reblog(account, target, load_relations(account.id, [target.account_id])):
        raise Forbidden
    with transaction.atomic():
        lock(f"reblog:{account.id}:{target.id}")
        existing = _find_reblog(account.id, target.id)
        if existing is not None:
            return existing
        moment = created_at or clock.now()
        reblog = insert_status(
            Status(
                account=account,
                reblog_of=target,
                visibility=reblog_visibility(target, chosen),
                local=account.local,
                uri=uri,
                created_at=moment,
            )
        )
        publish(
            StatusPublished(status_id=reblog.id, account_id=account.id, local=account.local, reblog=True),
            StatusReblogged(status_id=target.id, account_id=account.id, reblog_id=reblog.id),
        )
        count_status(account.id, 1, moment)
        bump({(target.id, "reblogs_count"): 1})
    return reblog


def unreblog_status(*, account: Account, status_id: Any) -> Status:
    """Take a boost back; the post that was boosted. Announces StatusDeleted for the boost if there was one.

    Raises NotFound for a post that does not exist, or that the account may not read and has not boosted.
    """
    target = _find_existing(status_id)
    reblog = _find_reblog(account.id, target.id) if target is not None else None
    if target is not None and reblog is not None:
        delete_status(status=reblog)
        return target
    return _proper(find_status(status_id, account.id))


def _proper(status: Status) -> Status:
    return status.reblog_of or status


def _find_existing(status_id: Any) -> Status | None:
    """The post with this id, of a boost the boosted one, whoever may read it; None for a deleted one."""
    number = parse_id(status_id)
    if number is None:
        return None
    status = Status.objects.select_related("account", "reblog_of__account").filter(id=number).first()
    if status is None:
        return None
    target = _proper(status)
    return None if target.is_deleted or target.is_author_suspended else target


def _find_reblog(account_id: int, status_id: int) -> Status | None:
    return (
        Status.objects.select_related("account", "reblog_of__account")
        .filter(account_id=account_id, reblog_of_id=status_id, deleted_at=None)
        .first()
    )
