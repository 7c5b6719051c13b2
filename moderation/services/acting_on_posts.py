"""What staff do to somebody's posts: the act, the strike the person sees, and the report it settles."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account, User
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from moderation.models import Report, Strike, StrikeAction
from moderation.services.handling import settle_reports
from moderation.services.strikes import issue_strike
from social.kernel.errors import Conflict
from statuses.models import Status
from statuses.services.moderating import mark_statuses_sensitive, remove_statuses


def delete_posts(
    *,
    by: Staff,
    account: Account,
    status_ids: Collection[int],
    text: str = "",
    report: Report | None = None,
    notify: bool = True,
) -> Strike:
    """Delete these posts of an account, write the strike down, and settle the report.

    All or nothing. The strike names the posts that were deleted; posts of others and deleted ones are passed over. Raises
    Forbidden without MANAGE_REPORTS or the rank above the person; Conflict when none of the posts is there; Invalid for a
    text that is too long. Source: contract, entities "AccountWarning".
    """
    return _act(by, account, status_ids, StrikeAction.DELETE_STATUSES, text, report, notify=notify)


def mark_posts_sensitive(
    *,
    by: Staff,
    account: Account,
    status_ids: Collection[int],
    text: str = "",
    report: Report | None = None,
    notify: bool = True,
) -> Strike:
    """Mark these posts of an account as sensitive; everything else as `delete_posts`.

    The strike names those that were not marked before: an accepted appeal takes the mark from them. Posts without files and
    preview are passed over.
    """
    return _act(by, account, status_ids, StrikeAction.MARK_STATUSES_AS_SENSITIVE, text, report, notify=notify)


_do: Final[dict[StrikeAction, Callable[..., list[int]]]] = {
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
    notify: bool,
) -> Strike:
    user = User.objects.select_related("role").filter(account_id=account.pk).first()
    require(by, Permission.MANAGE_REPORTS, over=user.role if user is not None else None)
    with transaction.atomic():
        own = Status.objects.filter(id__one_of=list(status_ids), account_id=account.pk, deleted_at=None)
        done = _do[action](by=by, status_ids=list(own.values_list("id", flat=True)))
        if not done:
            raise Conflict(_("None of these posts is there to act on."))
        strike = issue_strike(
            by=by, target=account, action=action, text=text, report=report, status_ids=done, notify=notify
        )
        if report is not None:
            settle_reports(by=by, target=account, only=report)
    return strike
