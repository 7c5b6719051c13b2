"""Imposes and ends the sanctions of staff on accounts: limits, sensitive media, suspension, exclusion from suggestions.

Each function checks the permission and rank of `by`, and writes an audit row with the changed values, if any. Source: contract,
behaviours section 18.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts import events
from accounts.identity.policies.sign_up import email_digest
from accounts.identity.services.sessions import end_sessions, publish_user_state
from accounts.identity.services.staff import require_another_administrator
from accounts.identity.services.tokens import close_streams
from accounts.models import Account, CanonicalEmailBlock, SuppressedSuggestion, User
from accounts.models.account import SuspensionOrigin
from accounts.models.relations import SeveranceType
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import reason_details, record_about
from accounts.services.changing import change_account
from accounts.services.erasing import delete_account
from accounts.services.severing import suspension_cause
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden, NotFound, require_found
from social.kernel.events import publish

#: Time for which a suspension by staff can be undone without loss (contract, behaviours section 18, "Deletion windows").
REVERSAL_PERIOD: Final = timedelta(days=30)
_SANCTIONS: Final = Permission.MANAGE_USERS | Permission.MANAGE_REPORTS
_BATCH_SIZE: Final = 200


@dataclass
class _Subject:
    """Account that staff act on, with its row locked, and its user; `after` collects the written values."""

    account: Account
    user: User | None
    after: dict[str, Any]

    def write(self, **values: Any) -> None:
        changed = {name: value for name, value in values.items() if getattr(self.account, name) != value}
        if changed:
            change_account(self.account.id, **changed)
            self.after |= changed


def limit_account(*, by: Staff, account: Account, reason: str = "") -> None:
    """Hide an account from public places ("silence"). The audit log shows `reason`. Raises Forbidden, NotFound."""
    with _acting(by, account, "limit", _SANCTIONS, **reason_details(reason)) as subject:
        subject.write(limited_at=subject.account.limited_at or clock.now())


def unlimit_account(*, by: Staff, account: Account) -> None:
    """Undo `limit_account`. Raises Forbidden, NotFound."""
    with _acting(by, account, "unlimit", Permission.MANAGE_USERS) as subject:
        subject.write(limited_at=None)


def sensitize_account(*, by: Staff, account: Account, reason: str = "") -> None:
    """Show all media of an account as sensitive to others. Raises Forbidden, NotFound."""
    with _acting(by, account, "sensitize", _SANCTIONS, **reason_details(reason)) as subject:
        subject.write(sensitized_at=subject.account.sensitized_at or clock.now())


def unsensitize_account(*, by: Staff, account: Account) -> None:
    """Undo `sensitize_account`. Raises Forbidden, NotFound."""
    with _acting(by, account, "unsensitize", Permission.MANAGE_USERS) as subject:
        subject.write(sensitized_at=None)


def suspend_account(*, by: Staff, account: Account, reason: str = "") -> None:
    """Suspend an account: it is hidden and cannot be used until the suspension is undone; after REVERSAL_PERIOD, it is erased.

    Sessions and streams end; requests with a token get status 403; the e-mail address is blocked for sign-up. Raises
    Forbidden, NotFound, and Conflict for the last administrator. Publishes AccountSuspended.
    """
    with _acting(by, account, "suspend", _SANCTIONS, **reason_details(reason)) as subject:
        current, user = subject.account, subject.user
        if current.suspended and current.suspension_origin == SuspensionOrigin.LOCAL:
            return
        if user is not None:
            require_another_administrator(user)
        now = clock.now()
        subject.write(suspended_at=now, suspension_origin=SuspensionOrigin.LOCAL)
        if user is not None:
            block = CanonicalEmailBlock(digest=email_digest(user.email), account=current)
            CanonicalEmailBlock.objects.bulk_create([block], ignore_conflicts=True)
            end_sessions(user=user)
            close_streams(user=user)
            publish_user_state(user=user)
        _publish_suspended(current, SeveranceType.ACCOUNT_SUSPENSION, suspension_cause(current.id, now))


def unsuspend_account(*, by: Staff, account: Account) -> None:
    """Undo a suspension; an account that was erased meanwhile comes back empty. Publishes AccountUnsuspended.

    Raises Forbidden, also for an account that staff have not suspended; NotFound.
    """
    with _acting(by, account, "unsuspend", Permission.MANAGE_USERS) as subject:
        if not subject.account.suspended or subject.account.suspension_origin != SuspensionOrigin.LOCAL:
            raise Forbidden
        _end_suspension(subject)


def delete_suspended_account(*, by: Staff, account: Account) -> None:
    """Delete an account whose suspension could still be undone; reports about it stay. Raises Forbidden, NotFound."""
    with transaction.atomic():
        current = require_found(Account.objects.select_for_update(no_key=True).filter(pk=account.pk).first())
        require(by, Permission.DELETE_USER_DATA)
        if not current.suspended_for_a_time:
            raise Forbidden
        change_account(current.id, erased_at=clock.now())
        delete_account(by=by, account=current)


def hold_account(*, by: Staff, account: Account, reason: str) -> None:
    """Keep all data of an account until the hold is released, even if it is deleted. Raises Forbidden, NotFound."""
    with _acting(by, account, "hold", Permission.DELETE_USER_DATA, reason=reason) as subject:
        subject.write(held_at=subject.account.held_at or clock.now())


def release_account(*, by: Staff, account: Account) -> None:
    """Undo `hold_account`; an erasure that the hold has stopped is continued. Raises Forbidden, NotFound."""
    with _acting(by, account, "release", Permission.DELETE_USER_DATA) as subject:
        subject.write(held_at=None)
        if subject.after and (subject.account.deleted_at or subject.account.erased_at):
            publish(events.AccountErasureDue(account_id=subject.account.id))


def apply_domain_rule(
    *, account_id: int, limited_since: datetime | None, suspended_since: datetime | None, before: datetime, cause: str
) -> None:
    """Apply the rule for a server to one of its accounts, and undo the sanctions of the previous rule.

    The previous sanctions are recognised by their time, `before`; sanctions of staff on the account itself stay.
    `cause` names the rule in the record of ended follows.
    """
    with transaction.atomic():
        account = Account.objects.select_for_update(no_key=True).filter(pk=account_id, deleted_at=None).first()
        if account is None or account.local:
            return
        subject = _Subject(account, None, {})
        if account.suspended_at == before and suspended_since is None:
            _end_suspension(subject)
        elif suspended_since is not None and not account.suspended:
            subject.write(suspended_at=suspended_since, suspension_origin=SuspensionOrigin.LOCAL)
            _publish_suspended(account, SeveranceType.DOMAIN_BLOCK, cause)
        elif suspended_since is not None and account.suspended_at == before:
            # If the rule was removed and immediately created again, the account stays suspended, now by the new rule.
            subject.write(suspended_at=suspended_since)
        if limited_since is not None and account.limited_at in (None, before):
            subject.write(limited_at=limited_since)
        elif limited_since is None and account.limited_at == before:
            subject.write(limited_at=None)


def erase_suspended() -> int:
    """Start the erasure of accounts suspended longer than REVERSAL_PERIOD ago; return how many. Run by the scheduler.

    The rows of the accounts stay, so that the suspension lasts. Accounts on hold are left out.
    """
    due = Account.objects.filter(
        suspended_at__lte=clock.now() - REVERSAL_PERIOD,
        suspension_origin=SuspensionOrigin.LOCAL,
        deleted_at=None,
        erased_at=None,
        held_at=None,
    )
    begun = 0
    for account_id in due.order_by("suspended_at").values_list("id", flat=True)[:_BATCH_SIZE]:
        with transaction.atomic():
            account = due.select_for_update(no_key=True).filter(pk=account_id).first()
            if account is not None:
                change_account(account.id, erased_at=clock.now())
                publish(events.AccountDeleted(account_id=account.id, local=account.local))
                begun += 1
    return begun


def _publish_suspended(account: Account, severance_type: SeveranceType, cause: str) -> None:
    publish(
        events.AccountSuspended(
            account_id=account.id, local=account.local, severance_type=str(severance_type), cause=cause
        )
    )
    if account.local:
        publish(events.ProfileUpdated(account_id=account.id))


def _end_suspension(subject: _Subject) -> None:
    account, user = subject.account, subject.user
    subject.write(suspended_at=None, suspension_origin=None, erased_at=None)
    CanonicalEmailBlock.objects.filter(account=account).delete()
    if user is not None:
        publish_user_state(user=user)
    publish(events.AccountUnsuspended(account_id=account.id))
    if account.local:
        publish(events.ProfileUpdated(account_id=account.id))


@contextmanager
def _acting(by: Staff, account: Account, action: str, permission: Permission, **details: Any) -> Iterator[_Subject]:
    """Open a transaction: lock the account's row, check the permission of `by` under the lock, and write the audit row."""
    with transaction.atomic():
        current = Account.objects.select_for_update(no_key=True).filter(pk=account.pk).first()
        user = User.objects.select_related("role", "account").filter(account_id=account.pk).first()
        require(by, permission, over=user.role if user is not None else None)
        if current is None or (current.deleted_at is not None and action not in ("hold", "release")):
            raise NotFound
        if current.local and user is None:
            raise Conflict(_("This is the server's own account: it signs for the server and stays."))
        subject = _Subject(current, user, {})
        yield subject
        if not subject.after:
            return
        # Suspending and unsuspending publish ProfileUpdated, which is enough for the subscribers.
        if current.local and "suspended_at" not in subject.after:
            publish(events.AccountSanctioned(account_id=current.pk))
        record_about(
            by,
            action,
            current,
            before={name: _plain(getattr(current, name)) for name in subject.after},
            after={name: _plain(value) for name, value in subject.after.items()},
            **details,
        )


def _plain(value: Any) -> str | None:
    if isinstance(value, datetime):
        return clock.iso(value)
    return None if value is None else str(value)


def suppress_suggestions(*, by: Staff, account: Account) -> None:
    """Stop suggesting an account, except where staff suggest it. Raises Forbidden without MANAGE_TAXONOMIES."""
    require(by, Permission.MANAGE_TAXONOMIES)
    with transaction.atomic():
        _row, created = SuppressedSuggestion.objects.get_or_create(account=account)
        if created:
            record_about(by, "suppress_suggestions", account)


def restore_suggestions(*, by: Staff, account: Account) -> None:
    """Undo `suppress_suggestions`. Raises Forbidden without MANAGE_TAXONOMIES."""
    require(by, Permission.MANAGE_TAXONOMIES)
    with transaction.atomic():
        deleted, _rows = SuppressedSuggestion.objects.filter(account=account).delete()
        if deleted:
            record_about(by, "restore_suggestions", account)
