"""What staff do to somebody because of how they behave: the act, the strike the person sees, and the reports it settles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account, User
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services import sanctions, staff
from accounts.services.audit import record
from moderation.models import Report
from moderation.services.handling import settle_reports
from moderation.services.strikes import issue_strike
from social.kernel.errors import FieldError, Forbidden, Invalid, NotFound

ACTIONS: Final = ("none", "disable", "sensitive", "silence", "suspend")


def act_on_account(
    *, by: Staff, account: Account, action: str, text: str = "", report: Report | None = None, notify: bool = True
) -> None:
    """Do one of ACTIONS, write the strike down, and settle reports: with `none` the given one, else all open ones.

    Everything in one transaction. Raises Forbidden, NotFound; Invalid for another word and for a text that is too long;
    Conflict as `suspend_account`. Source: contract, behaviours section 18.
    """
    if action not in ACTIONS:
        wrong = FieldError("type", "ERR_INCLUSION", _("is not included in the list"))
        blank = FieldError("type", "ERR_BLANK", _("can't be blank"))
        raise Invalid.of([wrong] if action.strip() else [blank, wrong])
    with transaction.atomic():
        _do[action](by, account)
        issue_strike(by=by, target=account, action=action, text=text, report=report, notify=notify)
        if action != "none" or report is not None:
            settle_reports(by=by, target=account, only=report if action == "none" else None)


def _warn(by: Staff, account: Account) -> None:
    user = User.objects.select_related("role").filter(account_id=account.pk).first()
    require(by, Permission.MANAGE_USERS | Permission.MANAGE_REPORTS, over=user.role if user is not None else None)
    if not Account.objects.filter(pk=account.pk, deleted_at=None).exists():
        raise NotFound
    record(by=by, action="warn", target_type="Account", target_id=account.pk, target_name=f"@{account.acct}")


def _disable(by: Staff, account: Account) -> None:
    user = User.objects.select_related("role", "account").filter(account_id=account.pk).first()
    if user is None:
        raise Forbidden
    staff.disable(by=by, user=user)


_do: Final[dict[str, Callable[[Staff, Account], None]]] = {
    "none": _warn,
    "disable": _disable,
    "sensitive": lambda by, account: sanctions.sensitize_account(by=by, account=account),
    "silence": lambda by, account: sanctions.limit_account(by=by, account=account),
    "suspend": lambda by, account: sanctions.suspend_account(by=by, account=account),
}
