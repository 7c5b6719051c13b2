"""Actions of staff on an account and on its posts: the action, the strike that the person sees, and the report about it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.identity.services import staff
from accounts.models import Account, User
from accounts.models.user import Permission
from accounts.policies.staff import NotPermitted, Staff, require
from accounts.services import sanctions
from accounts.services.audit import because, record_about
from moderation.models import Report, Strike, StrikeAction
from moderation.services.reports import settle_reports
from moderation.services.strikes import issue_strike
from social.kernel.errors import Conflict, FieldError, Invalid, NotFound
from statuses.models import Status
from statuses.services.moderating import mark_statuses_sensitive, remove_statuses

ACTIONS: Final = ("none", "disable", "sensitive", "silence", "suspend")


def act_on_account(
    *,
    by: Staff,
    account: Account,
    action: str,
    text: str = "",
    report: Report | None = None,
    house_rule_ids: Sequence[int] | None = None,
    status_ids: Sequence[int] | None = None,
    notify: bool = True,
) -> Strike:
    """Apply one of ACTIONS to an account, issue a strike, and settle reports: the given `report` for the action `none`,
    otherwise all open reports about the account.

    `house_rule_ids` and `status_ids` are passed to `issue_strike`. Everything happens in one transaction. Raises
    Forbidden, NotFound; Invalid for an unknown action and for a text that is too long; Conflict as `suspend_account` does.
    Source: contract, behaviours section 18.
    """
    if action not in ACTIONS:
        wrong = FieldError("type", "ERR_INCLUSION", _("is not included in the list"))
        blank = FieldError("type", "ERR_BLANK", _("can't be blank"))
        raise Invalid.of([wrong] if action.strip() else [blank, wrong])
    with transaction.atomic():
        _ACTS_ON_ACCOUNTS[action](by, account, text)
        strike = issue_strike(
            by=by,
            target=account,
            action=action,
            text=text,
            report=report,
            house_rule_ids=house_rule_ids,
            status_ids=status_ids,
            notify=notify,
        )
        if action != "none" or report is not None:
            settle_reports(by=by, target=account, only=[report] if action == "none" and report is not None else None)
    return strike


def _warn(by: Staff, account: Account, reason: str) -> None:
    user = User.objects.select_related("role").filter(account_id=account.pk).first()
    require(by, Permission.MANAGE_USERS | Permission.MANAGE_REPORTS, over=user.role if user is not None else None)
    if not Account.objects.filter(pk=account.pk, deleted_at=None).exists():
        raise NotFound
    record_about(by, "warn", account, **because(reason))


def _disable(by: Staff, account: Account, reason: str) -> None:
    user = User.objects.select_related("role", "account").filter(account_id=account.pk).first()
    if user is None:
        raise NotPermitted(_("Only their own server can disable their sign-in."))
    staff.disable(by=by, user=user, reason=reason)


_ACTS_ON_ACCOUNTS: Final[dict[str, Callable[[Staff, Account, str], None]]] = {
    "none": _warn,
    "disable": _disable,
    "sensitive": lambda by, account, why: sanctions.sensitize_account(by=by, account=account, reason=why),
    "silence": lambda by, account, why: sanctions.limit_account(by=by, account=account, reason=why),
    "suspend": lambda by, account, why: sanctions.suspend_account(by=by, account=account, reason=why),
}


def delete_posts(
    *,
    by: Staff,
    account: Account,
    status_ids: Collection[int],
    text: str = "",
    report: Report | None = None,
    settle: bool = True,
    notify: bool = True,
) -> Strike | None:
    """Delete these posts of an account, issue a strike, and, with `settle`, settle the report.

    All of this happens in one transaction. The strike names the posts that were deleted; posts of other accounts and posts
    that are already deleted are skipped. If all of them are gone already, a report is settled without another strike and None
    is returned. Raises Forbidden without MANAGE_REPORTS or a rank above the person's; Conflict when none of the posts exists
    and there is no report; Invalid for a text that is too long. Source: contract, entities "AccountWarning".
    """
    return _act(by, account, status_ids, StrikeAction.DELETE_STATUSES, text, report, settle=settle, notify=notify)


def mark_posts_sensitive(
    *,
    by: Staff,
    account: Account,
    status_ids: Collection[int],
    text: str = "",
    report: Report | None = None,
    settle: bool = True,
    notify: bool = True,
) -> Strike | None:
    """Mark these posts of an account as sensitive; everything else is as in `delete_posts`.

    The strike names the posts that were not marked before: an accepted appeal removes their mark. Posts that have neither
    files nor a link preview are skipped; a report is settled without a strike when its remaining posts are marked already.
    """
    return _act(
        by, account, status_ids, StrikeAction.MARK_STATUSES_AS_SENSITIVE, text, report, settle=settle, notify=notify
    )


_ACTS_ON_POSTS: Final[dict[StrikeAction, Callable[..., list[int]]]] = {
    StrikeAction.DELETE_STATUSES: remove_statuses,
    StrikeAction.MARK_STATUSES_AS_SENSITIVE: mark_statuses_sensitive,
}


def _act(
    by: Staff,
    account: Account,
    status_ids: Collection[int],
    action: StrikeAction,
    text: str,
    report: Report | None,
    *,
    settle: bool,
    notify: bool,
) -> Strike | None:
    user = User.objects.select_related("role").filter(account_id=account.pk).first()
    require(by, Permission.MANAGE_REPORTS, over=user.role if user is not None else None)
    with transaction.atomic():
        own = Status.objects.filter(id__one_of=list(status_ids), account_id=account.pk, deleted_at=None)
        done = _ACTS_ON_POSTS[action](by=by, status_ids=list(own.values_list("id", flat=True)))
        if not done:
            untouched = own if action == StrikeAction.DELETE_STATUSES else own.filter(sensitive=False)
            if report is None or not settle or untouched.exists():
                raise Conflict(_("None of these posts exists any more."))
            # Another report about the same posts was settled first, with a strike, so that there is nothing left to do.
            settle_reports(by=by, target=account, only=[report])
            return None
        strike = issue_strike(
            by=by, target=account, action=action, text=text, report=report, status_ids=done, notify=notify
        )
        if report is not None and settle:
            settle_reports(by=by, target=account, only=[report])
    return strike
