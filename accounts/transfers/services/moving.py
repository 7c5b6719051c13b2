"""Moves a person from one account to another: aliases, the move, and its consequences on this server.

Source: contract, federation sections 7 and 15, behaviours section 3. The federation app notifies other servers.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.events import AccountMoved, CarryOverDue, ProfileUpdated
from accounts.identity.services.sessions import publish_user_state
from accounts.identity.services.tokens import close_streams
from accounts.models import Account, AccountNote, Follow, User
from accounts.models.relations import COMMENT_LIMIT
from accounts.policies.audience import is_present
from accounts.ports import remote_accounts
from accounts.queries.relations import list_blocks_of, list_mutes_of, load_relations
from accounts.services.blocking import block_account, mute_account
from accounts.services.changing import change_account
from accounts.services.following import FollowChange, follow_account, unfollow_account
from accounts.services.private import write_note
from accounts.transfers.models import Move
from social.kernel import clock
from social.kernel.errors import FieldError, Forbidden, Invalid, KernelError
from social.kernel.events import publish

ALIASES_LIMIT: Final = 20
MOVE_INTERVAL: Final = timedelta(days=30)
"""Minimum time between two moves of a local account."""
REMOTE_MOVE_INTERVAL: Final = timedelta(days=7)
"""Minimum time between two moves of a remote account."""
BATCH_SIZE: Final = 100


def add_alias(*, account: Account, alias: Account) -> None:
    """Let the person's other account move to `account`. Raises Invalid, also for too many aliases. Publishes ProfileUpdated."""
    with transaction.atomic():
        locked = Account.objects.select_for_update(no_key=True).get(id=account.id)
        if alias.id == account.id:
            raise _refused("alias", "ERR_SELF", _("cannot be this account"))
        if alias.uri in locked.also_known_as:
            return
        if len(locked.also_known_as) >= ALIASES_LIMIT:
            message = _("are too many (maximum is %(count)d)") % {"count": ALIASES_LIMIT}
            raise _refused("alias", "ERR_TOO_MANY", message)
        _set_aliases(locked, [*locked.also_known_as, alias.uri])


def remove_alias(*, account: Account, uri: str) -> None:
    """Remove an alias, if there is one. Publishes ProfileUpdated."""
    with transaction.atomic():
        locked = Account.objects.select_for_update(no_key=True).get(id=account.id)
        if uri in locked.also_known_as:
            _set_aliases(locked, [other for other in locked.also_known_as if other != uri])


def _set_aliases(account: Account, uris: Sequence[str]) -> None:
    change_account(account.id, also_known_as=list(uris))
    publish(ProfileUpdated(account_id=account.id))


def next_move_at(account: Account) -> datetime | None:
    """Return when the account may move again; None if it may now."""
    last = Move.objects.filter(account=account).order_by("-created_at").first()
    moment = last.created_at + MOVE_INTERVAL if last is not None else None
    return moment if moment is not None and moment > clock.now() else None


def move_account(*, user: User, target: Account) -> Move:
    """Move the user's account to `target`, which must have it as an alias; a remote target is fetched again first.

    Nobody can follow the account any more, and its tokens work only for endpoints that need no user. Local followers
    are moved in the background. Publishes AccountMoved and ProfileUpdated. Raises Invalid with `details`; Unavailable
    when the other server does not respond.
    """
    finder = remote_accounts.find()
    if not target.local and finder is not None:
        # The stored account may be a day old, and its owner has probably just added the alias.
        target = finder.refresh(target)
    with transaction.atomic():
        # Both rows are locked in the order of their ids, so that two accounts that move to each other do not deadlock.
        ids = sorted({user.account_id, target.id})
        rows = Account.objects.select_for_update(no_key=True).filter(id__one_of=ids).order_by("id")
        locked = {row.id: row for row in rows}
        account = locked[user.account_id]
        _check_move(account, locked[target.id])
        move = _move(account, target)
        close_streams(user=user)
        publish_user_state(user=user)
    return move


def receive_move(*, account: Account, target: Account) -> Move:
    """Apply a remote account's move to `target`, which has it as an alias. Publishes AccountMoved and ProfileUpdated.

    Raises Forbidden for a second move within REMOTE_MOVE_INTERVAL.
    """
    with transaction.atomic():
        locked = Account.objects.select_for_update(no_key=True).get(id=account.id)
        if Move.objects.filter(account=locked, created_at__gt=clock.now() - REMOTE_MOVE_INTERVAL).exists():
            raise Forbidden
        return _move(locked, target)


def _move(account: Account, target: Account) -> Move:
    change_account(account.id, moved_to=target)
    address = f"{target.username}@{target.domain}" if target.domain else target.username
    followers = Follow.objects.filter(target=account).count()
    move = Move.objects.create(account=account, target=target, target_address=address, followers_count=followers)
    publish(
        AccountMoved(account_id=account.id, target_id=target.id, local=account.local),
        ProfileUpdated(account_id=account.id),
    )
    return move


def _check_move(account: Account, target: Account) -> None:
    if target.id == account.id:
        raise _refused("acct", "ERR_SELF", _("cannot be this account"))
    if account.moved_to_id is not None:
        raise _refused("acct", "ERR_MOVED", _("cannot be chosen: this account has moved already"))
    if next_move_at(account) is not None:
        raise _refused("acct", "ERR_TOO_SOON", _("cannot be chosen yet: you have moved recently"))
    if target.suspended:
        raise _refused("acct", "ERR_NOT_FOUND", _("cannot be found"))
    if target.moved_to_id is not None:
        raise _refused("acct", "ERR_MOVED", _("has itself moved to another account"))
    if account.uri not in target.also_known_as:
        raise _refused("acct", "ERR_NO_ALIAS", _("does not name this account as one of its other accounts"))


def _refused(field: str, code: str, message: str) -> Invalid:
    return Invalid.of([FieldError(field, code, message, _("The account"))], details=True)


def cancel_move(*, user: User) -> None:
    """Cancel a move, if there is one; moved followers keep following the other account. Publishes ProfileUpdated."""
    with transaction.atomic():
        account = Account.objects.select_for_update(no_key=True).get(id=user.account_id)
        if account.moved_to_id is None:
            return
        change_account(account.id, moved_to=None)
        publish(ProfileUpdated(account_id=account.id))
        publish_user_state(user=user)


def begin_carrying_over(events: Sequence[AccountMoved]) -> None:
    """Handle AccountMoved: publish CarryOverDue for each kind of relation of local accounts to the old account."""
    publish(
        *(
            CarryOverDue(account_id=event.account_id, target_id=event.target_id, what=what)
            for event in events
            for what in _TRANSFERS
        )
    )


def carry_over(events: Sequence[CarryOverDue]) -> None:
    """Handle CarryOverDue: copy blocks, mutes and notes of local accounts to the new account, and move follows.

    Handles at most BATCH_SIZE rows for each event, and publishes the event again if there may be more rows. A row that a
    service refuses is skipped. The transfer ends when the move is cancelled.
    """
    for event in events:
        moved = Account.objects.filter(id=event.account_id, moved_to_id=event.target_id).exists()
        target = Account.objects.filter(is_present(), id=event.target_id, moved_to=None).first()
        if not moved or target is None:
            continue
        list_rows, carry = _TRANSFERS[event.what]
        rows = list_rows(event.account_id).select_related("account", "target").exclude(account_id=target.id)
        batch = list(rows.filter(account__domain=None, id__gt=event.after).order_by("id")[:BATCH_SIZE])
        for row in batch:
            if not row.account.suspended:
                with contextlib.suppress(KernelError):
                    carry(row, target)
        if len(batch) == BATCH_SIZE:
            with transaction.atomic():
                publish(replace(event, after=batch[-1].id))


def _carry_block(row: Any, target: Account) -> None:
    if target.id not in load_relations(row.account_id, [target.id]).following:
        block_account(account=row.account, target=target)


def _carry_mute(row: Any, target: Account) -> None:
    relations = load_relations(row.account_id, [target.id])
    if target.id not in relations.muting and target.id not in relations.following:
        left = (row.expires_at - clock.now()).total_seconds() if row.expires_at is not None else 0
        mute_account(
            account=row.account,
            target=target,
            hide_notifications=row.hide_notifications,
            duration=max(int(left), 1) if row.expires_at is not None else 0,
        )


def _carry_note(row: AccountNote, target: Account) -> None:
    """Append the note about the old account to the note about the new account."""
    comment = load_relations(row.account_id, [target.id]).notes.get(target.id, "")
    if row.comment not in comment:
        joined = "\n".join(filter(None, [comment, row.comment]))
        write_note(account=row.account, target=target, comment=joined[:COMMENT_LIMIT])


def _carry_follow(row: Follow, target: Account) -> None:
    relations = load_relations(row.account_id, [target.id])
    if target.id not in relations.following and target.id not in relations.requested:
        change = FollowChange(reblogs=row.show_reblogs, notify=row.notify, languages=row.languages)
        follow_account(account=row.account, target=target, change=change, limited=False)
    unfollow_account(account=row.account, target=row.target)


#: Relations that are carried over: the query of rows that name the old account, and the function for each row.
_TRANSFERS: Final[Mapping[str, tuple[Callable[[int], QuerySet[Any]], Callable[[Any, Account], None]]]] = {
    "blocks": (list_blocks_of, _carry_block),
    "mutes": (list_mutes_of, _carry_mute),
    "notes": (lambda account_id: AccountNote.objects.filter(target_id=account_id), _carry_note),
    "follows": (lambda account_id: Follow.objects.filter(target_id=account_id), _carry_follow),
}
