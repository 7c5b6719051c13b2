"""Actions of staff on an account and its posts, which issue strikes and settle reports; notes about accounts."""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.identity.services import staff
from accounts.models import Account, User
from accounts.models.user import Permission
from accounts.policies.staff import NotPermitted, Staff, require
from accounts.queries.users import find_role
from accounts.services import sanctions
from accounts.services.audit import reason_details, record_about
from moderation.models import Report, StaffNote, Strike, StrikeAction
from moderation.models.report import NOTE_LIMIT
from moderation.services.reports import settle_reports
from moderation.services.strikes import issue_strike
from social.kernel.errors import Conflict, FieldError, Invalid, NotFound, require_found
from statuses.models import Status
from statuses.services.moderating import mark_statuses_sensitive, remove_statuses

_MODERATE: Final = Permission.MANAGE_USERS | Permission.MANAGE_REPORTS


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
    """Warn an account (`action`: `none`) or apply a sanction to it (`disable`, `sensitive`, `silence` or `suspend`), issue
    a strike, and settle reports: for `none` the given `report`, otherwise all open reports about the account.
    `house_rule_ids` and `status_ids` are passed to `issue_strike`. One transaction. Raises Forbidden, NotFound; Invalid for
    an unknown action and for a text that is too long; Conflict as `suspend_account` does. Source: contract, behaviours
    section 18.
    """
    if action not in _ACTS_ON_ACCOUNTS:
        blank = [] if action.strip() else [FieldError.blank("type")]
        raise Invalid.of([*blank, FieldError.not_included("type")])
    with transaction.atomic():
        _ACTS_ON_ACCOUNTS[action](by=by, account=account, reason=text)
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


def _warn(*, by: Staff, account: Account, reason: str) -> None:
    require(by, _MODERATE, over=find_role(account.pk))
    if not Account.objects.filter(pk=account.pk, deleted_at=None).exists():
        raise NotFound
    record_about(by, "warn", account, **reason_details(reason))


def _disable(*, by: Staff, account: Account, reason: str) -> None:
    user = User.objects.select_related("role", "account").filter(account_id=account.pk).first()
    if user is None:
        raise NotPermitted(_("Only their own server can disable their sign-in."))
    staff.disable(by=by, user=user, reason=reason)


_ACTS_ON_ACCOUNTS: Final[dict[str, Callable[..., None]]] = {
    "none": _warn,
    "disable": _disable,
    "sensitive": sanctions.sensitize_account,
    "silence": sanctions.limit_account,
    "suspend": sanctions.suspend_account,
}
_ACTS_ON_POSTS: Final[dict[str, Callable[..., list[int]]]] = {
    StrikeAction.DELETE_STATUSES: remove_statuses,
    StrikeAction.MARK_STATUSES_AS_SENSITIVE: mark_statuses_sensitive,
}


def act_on_posts(
    *,
    by: Staff,
    account: Account,
    action: str,
    status_ids: Collection[int],
    text: str = "",
    report: Report | None = None,
    settle: bool = True,
    notify: bool = True,
) -> Strike | None:
    """Delete these posts of an account, or mark them as sensitive (`action`: `delete_statuses` or
    `mark_statuses_as_sensitive`), issue a strike, and, with `settle`, settle the report, in one transaction. The strike names
    only posts that were deleted or newly marked, because an accepted appeal removes the marks of its posts. Posts of other
    accounts, deleted posts, and posts that cannot be marked are skipped. If nothing is left to do, a report is settled without
    another strike and None is returned. Raises Forbidden without MANAGE_REPORTS or a rank above the person's; Conflict when
    none of the posts exists and there is no report; Invalid for a text that is too long. Source: contract, entities
    "AccountWarning".
    """
    require(by, Permission.MANAGE_REPORTS, over=find_role(account.pk))
    with transaction.atomic():
        own = Status.objects.filter(id__one_of=list(status_ids), account_id=account.pk, deleted_at=None)
        done = _ACTS_ON_POSTS[action](by=by, status_ids=list(own.values_list("id", flat=True)))
        if not done:
            untouched = own if action == StrikeAction.DELETE_STATUSES else own.filter(sensitive=False)
            if report is None or not settle or untouched.exists():
                raise Conflict(_("None of these posts exists any more."))
            # Another report about the same posts was settled first, with a strike; therefore there is nothing left to do.
            settle_reports(by=by, target=account, only=[report])
            return None
        strike = issue_strike(
            by=by, target=account, action=action, text=text, report=report, status_ids=done, notify=notify
        )
        if report is not None and settle:
            settle_reports(by=by, target=account, only=[report])
    return strike


def write_note(*, by: Staff, account: Account, text: str) -> StaffNote:
    """Store a note about an account for colleagues. Raises Forbidden; Invalid for an empty or too long text."""
    require(by, _MODERATE)
    stripped = text.strip()
    if not stripped:
        raise Invalid.of([FieldError.blank("text")])
    if len(stripped) > NOTE_LIMIT:
        raise Invalid.of([FieldError.too_long("text", NOTE_LIMIT)])
    with transaction.atomic():
        note = StaffNote(account=account, author_id=by.account_id, text=stripped)
        note.save(force_insert=True)
        record_about(by, "write_note", account)
    return note


def remove_note(*, by: Staff, note_id: int) -> None:
    """Remove a note; its text stays in the audit log. Raises Forbidden, NotFound."""
    require(by, _MODERATE)
    with transaction.atomic():
        row = StaffNote.objects.select_for_update(of=("self",)).select_related("account").filter(id=note_id).first()
        note = require_found(row)
        record_about(by, "remove_note", note.account, text=note.text)
        note.delete()
