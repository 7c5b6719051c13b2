"""Deletes accounts for good, and erases their data in steps that can be interrupted and resumed.

Source: DESIGN "Erasure"; contract, federation section 7 "Delete actor". Services remove what others see or count;
`social.kernel.references` removes the remaining rows.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Model
from django.utils.translation import gettext as _

from accounts.copies.models import CopyPurpose
from accounts.copies.services.removal import forget_copies
from accounts.events import AccountDeleted, AccountErasureDue
from accounts.identity.services.sessions import sign_out_everywhere
from accounts.identity.services.staff import require_another_administrator
from accounts.models import (
    Account,
    AccountStat,
    CanonicalEmailBlock,
    Follow,
    FollowRequest,
    KeyPair,
    RetiredUsername,
    SeveredFollow,
    User,
)
from accounts.models.account import SuspensionOrigin
from accounts.models.user import Permission
from accounts.policies.staff import NotPermitted, Staff, require
from accounts.queries.site_settings import find_registrations
from accounts.services.audit import record, record_about
from accounts.services.changing import change_account
from accounts.services.following import end_following, pair_name
from accounts.services.profile_pictures import remove_replaced
from accounts.services.severing import forget_severed, sever_erased
from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.errors import Conflict, require_found
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.references import erase_related, erase_some

#: Maximum number of rows that a step handles, and seconds after which a call ends and leaves the rest to the next call.
BATCH_SIZE: Final = 100
TURN_SECONDS: Final = 5.0

HOLD_CHECK_INTERVAL: Final = timedelta(minutes=5)
Step = Callable[[int], int]
"""Removes at most BATCH_SIZE rows or files of the account with this id, and returns how many; 0 when nothing is left.

Each call uses one or several transactions of its own.
"""


@dataclass(frozen=True)
class Hold:
    """Reason to keep an account's rows in the tables `kept` while `is_needed` returns True.

    Unless `lasts` is True, the hold keeps the account's keys as well, and is checked again after HOLD_CHECK_INTERVAL.
    """

    kept: tuple[type[Model], ...]
    is_needed: Callable[[int], bool]
    lasts: bool = False


_steps: list[Step] = []
_holds: list[Hold] = []
_retained_of_suspended: set[type[Model]] = {KeyPair, AccountStat, User, CanonicalEmailBlock, SeveredFollow}


def register(*steps: Step) -> None:
    """Register steps, at the start of a process. Steps of higher apps run before the steps of the apps they build on."""
    _steps[:0] = [step for step in steps if step not in _steps]


def register_hold(hold: Hold) -> None:
    """Register a hold, at the start of a process."""
    if hold not in _holds:
        _holds.append(hold)


def retain_rows_of_suspended(*tables: type[Model]) -> None:
    """Register, at the start of a process, tables whose rows about a suspended account stay when the account is erased."""
    _retained_of_suspended.update(tables)


def begin_erasure(events: Sequence[AccountDeleted]) -> None:
    """Handle AccountDeleted. Publishes AccountErasureDue, which is handled after all other reactions to AccountDeleted."""
    publish(*(AccountErasureDue(account_id=event.account_id) for event in events))


def go_on_erasing(events: Sequence[AccountErasureDue]) -> None:
    """Handle AccountErasureDue: erase the accounts."""
    for account_id in dict.fromkeys(event.account_id for event in events):
        erase_account(account_id)


def erase_account(account_id: int) -> bool:
    """Spend at most TURN_SECONDS on erasing an account; return whether nothing is left. Publishes AccountErasureDue otherwise.

    A step begins when the steps before it find nothing more. The row of a suspended account stays, as do the rows about it in
    the tables of `retain_rows_of_suspended`. The row of a deleted account stays as long as a registered `Hold` is needed.
    Nothing is done for an account whose suspension was lifted or that staff have put on hold (`held_at`); releasing the account
    publishes AccountErasureDue again.
    """
    account = Account.objects.filter(id=account_id).only("deleted_at", "erased_at", "held_at").first()
    if account is None:
        return True
    if account.held_at is not None or (account.deleted_at is None and account.erased_at is None):
        return False
    stays = account.deleted_at is None
    end = time.monotonic() + TURN_SECONDS
    due_at = None
    while True:
        if all(not step(account_id) for step in _steps):
            needed = [hold for hold in _holds if hold.is_needed(account_id)]
            waits = any(not hold.lasts for hold in needed)
            kept = {table for hold in needed for table in hold.kept}
            kept |= _retained_of_suspended if stays else {KeyPair} if waits else set()
            if not needed and not stays:
                if erase_some(Account, [account_id]):
                    return True
            elif erase_related(Account, [account_id], kept=kept):
                if not waits:
                    return True
                due_at = clock.now() + HOLD_CHECK_INTERVAL
                break
        if time.monotonic() >= end:
            break
    with transaction.atomic():
        publish(AccountErasureDue(account_id=account_id), due_at=due_at)
    return False


def _record_ended_follows(account_id: int) -> int:
    """End a batch of follows of or by a suspended account, and record them; return 1 if there were any."""
    account = Account.objects.filter(id=account_id, deleted_at=None).first()
    return int(account is not None and sever_erased(account))


def _forget_severed_follows(account_id: int) -> int:
    """Delete a batch of records of ended follows, unless the row of the remote account stays; return how many."""
    outlasts = Account.objects.filter(id=account_id, deleted_at=None, domain__isnull=False).exists()
    return 0 if outlasts else forget_severed(account_id)


def _end_relations(account_id: int) -> int:
    pairs: list[tuple[int, int]] = []
    for model in (Follow, FollowRequest):
        # There is one query for each index, because a query with both conditions would read rows of other accounts.
        for column, other in (("account_id", "target_id"), ("target_id", "id")):
            rows = model._default_manager.filter(**{column: account_id}).order_by(column, other)
            pairs += rows.values_list("account_id", "target_id")[:BATCH_SIZE]
    for follower_id, target_id in sorted(set(pairs)):
        with transaction.atomic():
            lock(pair_name(follower_id, target_id))
            end_following(follower_id, target_id, ended_by_id=account_id)
    return len(pairs)


#: Columns of a profile, with their empty values.
_BLANK: Final = {
    "display_name": "",
    "note": "",
    "note_html": "",
    "fields": [],
    "avatar": "",
    "avatar_static": "",
    "avatar_remote_url": "",
    "avatar_description": "",
    "header": "",
    "header_static": "",
    "header_remote_url": "",
    "header_description": "",
    "also_known_as": [],
    "attribution_domains": [],
}


def _blank_profile(account_id: int) -> int:
    """Clear the texts and pictures of a profile, whose row may have to stay; return 1 if there were any."""
    with transaction.atomic():
        account = Account.objects.select_for_update(no_key=True).filter(id=account_id).first()
        if account is None or all(getattr(account, name) == value for name, value in _BLANK.items()):
            return 0
        remove_replaced(account, _BLANK)
        urls = [url for url in (account.avatar_remote_url, account.header_remote_url) if url]
        forget_copies(purposes=(CopyPurpose.AVATAR, CopyPurpose.HEADER), urls=urls)
        change_account(account_id, **_BLANK)
    return 1


register(_record_ended_follows, _forget_severed_follows, _end_relations, _blank_profile)


def delete_user(*, user: User) -> None:
    """Delete a local account on behalf of its owner or of an operator.

    Publishes AccountDeleted. Doing it twice changes nothing.

    The account is hidden immediately, and its sessions, tokens and streams end; its username can never be chosen again
    (security row 18). Its data are erased in the background. Raises Conflict for the last administrator.
    """
    _end_user(user, keep_one=True)


def refusal_to_close() -> str:
    """Return the reason (open registrations) why `close_server` refuses; an empty text when it does not refuse."""
    return "" if find_registrations() == "closed" else _("People can still sign up: set REGISTRATIONS=closed first.")


def close_server(*, by: Staff) -> Iterator[str]:
    """Delete every local account as `delete_user` does, including the last administrator; yield their names.

    Each account is deleted in a transaction of its own, with an audit row; an interrupted run can be repeated. The first step
    raises Forbidden, or Conflict while people can sign up.
    """
    require(by, Permission.ADMINISTRATOR)
    if refusal := refusal_to_close():
        raise Conflict(refusal)
    waiting = User.objects.select_related("account").filter(account__deleted_at=None)
    while batch := list(waiting.order_by("pk")[:BATCH]):
        for user in batch:
            with transaction.atomic():
                _end_user(user, keep_one=False)
                name = f"@{user.account.username}"
                record(by=by, action="delete", target_type="Account", target_id=user.account_id, target_name=name)
            yield name


def _end_user(user: User, *, keep_one: bool) -> None:
    with transaction.atomic():
        # The account is read after the lock is granted, because a joined row would show the state before the wait for the lock.
        locked = User.objects.select_for_update(of=("self",)).select_related("role").filter(pk=user.pk).first()
        account = Account.objects.get(id=locked.account_id) if locked is not None else None
        if locked is None or account is None or account.deleted_at is not None:
            return
        if keep_one:
            require_another_administrator(locked)
        User.objects.filter(pk=locked.pk).update(disabled_at=locked.disabled_at or clock.now())
        retired = RetiredUsername(username=account.username.lower())
        RetiredUsername.objects.bulk_create([retired], ignore_conflicts=True)
        sign_out_everywhere(user=locked)
        end_account(account=account, origin=SuspensionOrigin.LOCAL)


def reject_user(*, by: Staff, user: User) -> None:
    """Delete a user who is waiting for approval. Raises Forbidden, also for an approved user; NotFound for a deleted user."""
    with transaction.atomic():
        row = User.objects.select_for_update(of=("self",)).select_related("role").filter(pk=user.pk).first()
        require(by, Permission.MANAGE_USERS, over=user.role if row is None else row.role)
        locked = require_found(row)
        if locked.approved:
            raise NotPermitted(_("This user has been approved already."))
        account = require_found(Account.objects.filter(id=locked.account_id, deleted_at=None).first())
        record(by=by, action="reject", target_type="User", target_id=locked.pk, target_name=f"@{account.username}")
        delete_user(user=locked)


def delete_account(*, by: Staff, account: Account) -> None:
    """Delete a local or remote account on behalf of staff.

    A remote account may be stored again later. Publishes AccountDeleted.

    Raises Forbidden; Conflict for the server's own account and the last administrator. Doing it twice changes nothing.
    """
    with transaction.atomic():
        user = User.objects.select_related("role").filter(account=account).first()
        require(by, Permission.DELETE_USER_DATA, over=user.role if user is not None else None)
        current = Account.objects.filter(pk=account.pk, deleted_at=None).first()
        if current is None:
            return
        if user is not None:
            delete_user(user=user)
        elif current.local:
            raise Conflict(_("This is the server's own account: it signs for the server and stays."))
        else:
            # Staff are the origin, so that the account's own server cannot lift the suspension by sending the account again.
            end_account(account=current, origin=SuspensionOrigin.LOCAL)
        record_about(by, "delete", account)


def end_account(*, account: Account, origin: SuspensionOrigin) -> None:
    """Hide an account immediately, and start the erasure of its data, in the caller's transaction. Publishes AccountDeleted."""
    current = Account.objects.select_for_update(no_key=True).filter(pk=account.pk, deleted_at=None).first()
    if current is None:
        return
    now = clock.now()
    values: dict[str, Any] = {"deleted_at": now}
    if not current.suspended:
        values |= {"suspended_at": now, "suspension_origin": origin}
    change_account(current.id, **values)
    publish(AccountDeleted(account_id=current.id, local=current.local))
