"""Ends accounts for good; what they leave is removed in the background (`accounts.services.erasing`)."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.events import AccountDeleted
from accounts.models import Account, RetiredUsername, User
from accounts.models.account import SuspensionOrigin
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from accounts.services.changing import change_account
from accounts.services.sessions import sign_out_everywhere
from accounts.services.staff import keep_one_administrator
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden, NotFound
from social.kernel.events import publish


def delete_user(*, user: User) -> None:
    """End an account of this server: its owner's word, or an operator's.

    From the commit on nothing of it is shown, nobody signs in, and its sessions, tokens and streams are ended (within a
    second); its name is never free again (security row 18). Everything else is removed in the background. Doing it twice
    changes nothing. Raises Conflict for the last one who may do everything here. Announces AccountDeleted.
    """
    with transaction.atomic():
        # The account is read after the lock: joined to it, its row would be as it was before the wait for the lock.
        locked = User.objects.select_for_update(of=("self",)).select_related("role").filter(pk=user.pk).first()
        account = Account.objects.get(id=locked.account_id) if locked is not None else None
        if locked is None or account is None or account.deleted_at is not None:
            return
        keep_one_administrator(locked)
        User.objects.filter(pk=locked.pk).update(disabled_at=locked.disabled_at or clock.now())
        retired = RetiredUsername(username=account.username.lower())
        RetiredUsername.objects.bulk_create([retired], ignore_conflicts=True)
        sign_out_everywhere(user=locked)
        end_account(account=account, origin=SuspensionOrigin.LOCAL)


def reject_user(*, by: Staff, user: User) -> None:
    """Delete somebody who waits for approval. Raises Forbidden, also for who is approved; NotFound for who is deleted."""
    with transaction.atomic():
        locked = User.objects.select_for_update(of=("self",)).select_related("role").filter(pk=user.pk).first()
        require(by, Permission.MANAGE_USERS, over=user.role if locked is None else locked.role)
        if locked is None or locked.approved:
            raise Forbidden
        account = Account.objects.filter(id=locked.account_id, deleted_at=None).first()
        if account is None:
            raise NotFound
        record(by=by, action="reject", target_type="User", target_id=locked.pk, target_name=f"@{account.username}")
        delete_user(user=locked)


def delete_account(*, by: Staff, account: Account) -> None:
    """End an account, of this server or of another one: staff's or an operator's word (`delete_user`, `end_account`).

    One of another server may come back when it is met again. Raises Forbidden; Conflict for the server's own account and
    for the last one who may do everything here. Doing it twice changes nothing. Publishes AccountDeleted.
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
            # Its own server, which may describe it again meanwhile, does not open it any more.
            end_account(account=current, origin=SuspensionOrigin.LOCAL)
        record(by=by, action="delete", target_type="Account", target_id=account.pk, target_name=f"@{account.acct}")


def end_account(*, account: Account, origin: SuspensionOrigin) -> None:
    """Hide an account at once and have it removed, one of another server too. Announces AccountDeleted, once.

    The caller holds a transaction.
    """
    now = clock.now()
    values: dict[str, Any] = {"deleted_at": now}
    if account.suspended_at is None:
        values |= {"suspended_at": now, "suspension_origin": origin}
    change_account(account.id, **values)
    publish(AccountDeleted(account_id=account.id, local=account.local))
