"""Decisions of staff about reported accounts: several actions taken together, which can be undone for UNDO_PERIOD."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account, User
from accounts.models.account import SuspensionOrigin
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.users import find_role
from accounts.services.audit import record
from moderation.events import DecisionEnded, StrikeIssued
from moderation.models import Decision, Report, Strike, StrikeAction
from moderation.models.report import UNDO_PERIOD
from moderation.queries.reports import reports_naming
from moderation.services.acting import act_on_account, act_on_posts, write_note
from moderation.services.reports import assign_report, reopen_reports, settle_reports
from moderation.services.strikes import take_back
from social.kernel import clock
from social.kernel.errors import Conflict, FieldError, Invalid, require_found
from social.kernel.events import publish

#: All actions in the order in which they are carried out.
ACTS: Final = ("assign", "mark", "warn", "sensitive", "silence", "disable", "suspend", "delete", "resolve")
#: Actions that settle every open report about the account (contract, behaviours section 18).
SANCTIONS: Final = ("sensitive", "silence", "disable", "suspend")
_STATES: Final[dict[str, Callable[[Account, User | None], bool]]] = {
    "sensitive": lambda account, user: account.sensitized_at is not None,
    "silence": lambda account, user: account.limited_at is not None,
    "disable": lambda account, user: user is None or user.disabled_at is not None,
    "suspend": lambda account, user: account.suspended and account.suspension_origin == SuspensionOrigin.LOCAL,
}


def decide(
    *,
    by: Staff,
    target: Account,
    report_ids: Collection[int],
    acts: Collection[str],
    status_ids: Collection[int] = (),
    text: str = "",
    note: str = "",
    settle: bool = True,
) -> Decision:
    """Carry out several of ACTS on an account and these reports about it, all or none. Actions on posts concern the posts
    `status_ids`, each of which a report about the account must name. The strikes name these posts or, without `status_ids`, the
    posts of the first report. Posts are deleted, and the person gets a mail, when the decision can no longer be undone;
    everything else happens immediately. Every action except `assign` settles the reports, unless `settle` is false, and a
    sanction settles every open report about the account. A sanction that is already in force is skipped. `text` is sent to the
    person; `note` is for colleagues. A decision that only assigns a report or adds a note cannot be undone.

    Publishes StrikeIssued, and DecisionEnded if posts are to be deleted, both due when the decision can no longer be undone.
    Raises Forbidden without MANAGE_REPORTS or, for any action on the person, a rank above the person's; NotFound for a report
    that is not about the account, and for a post that no report about it names; Invalid if there is neither an action nor a
    note, for an unknown action, and for a text that is too long; Conflict when there are no posts to act on, and when one of
    the reports has been settled meanwhile.
    """
    unknown = [act for act in acts if act not in ACTS]
    if unknown or not (acts or note.strip()):
        raise Invalid.of([FieldError("acts", "ERR_INCLUSION", _("Choose at least one action, or write a note."))])
    user = User.objects.select_related("role", "account").filter(account_id=target.pk).first()
    concerned = user is not None and any(act not in ("assign", "resolve") for act in acts)
    require(by, Permission.MANAGE_REPORTS, over=user.role if user is not None and concerned else None)
    with transaction.atomic():
        reports = _lock_reports(target, report_ids)
        posts = sorted(set(status_ids))
        named = reports_naming(target, posts)
        require_found(
            len({number for report in named for number in report.status_ids}.intersection(posts)) == len(posts) or None
        )
        is_open = [report.action_taken_at is None for report in reports]
        if set(acts) - {"assign"} and not all(is_open):
            if any(is_open):
                raise Conflict(_("Somebody has resolved some of these reports in the meantime, so nothing was done."))
            raise Conflict(_("Somebody has already resolved these reports."))
        open_ids = Report.objects.filter(target_account=target, action_taken_at=None).values_list("id", flat=True)
        before = set(open_ids)
        strikes = [
            strike.pk
            for act in ACTS
            if act in acts
            and (strike := _carry_out(act, by, target, user, reports, posts, named, text, settle=settle)) is not None
        ]
        if note.strip():
            write_note(by=by, account=target, text=note)
        if settle and set(acts) - {"assign"}:
            settle_reports(by=by, target=target, only=None if set(acts) & set(SANCTIONS) else reports)
        settled = before - set(open_ids.all())
        now = clock.now()
        deleted = posts if "delete" in acts else []
        decision = Decision(
            account_id=by.account_id,
            target_account=target,
            acts=[act for act in ACTS if act in acts],
            text=text,
            report_ids=sorted(settled),
            strike_ids=strikes,
            status_ids=deleted,
            created_at=now,
            ends_at=now + UNDO_PERIOD if settled or strikes or deleted else now,
        )
        decision.save(force_insert=True)
        issued = [StrikeIssued(strike_id=strike, account_id=target.id, notify=target.local) for strike in strikes]
        publish(*issued, due_at=decision.ends_at)
        if decision.status_ids:
            publish(DecisionEnded(decision_id=decision.id, account_id=target.id), due_at=decision.ends_at)
    return decision


def undo_decision(*, by: Staff, decision: Decision) -> None:
    """Undo a decision: reopen its reports, end its sanctions, and neither delete its posts nor mail the person; its note stays.
    Raises Forbidden in the same cases as `decide`; NotFound; Conflict when the decision cannot be undone any more.
    """
    with transaction.atomic():
        current = require_found(
            Decision.objects.select_for_update(of=("self",))
            .select_related("target_account")
            .filter(pk=decision.pk)
            .first()
        )
        role = find_role(current.target_account_id)
        require(by, Permission.MANAGE_REPORTS, over=role if current.strike_ids else None)
        if current.undone_at is not None:
            raise Conflict(_("This has been undone already."))
        now = clock.now()
        if now >= current.ends_at:
            raise Conflict(_("It is too late to undo this."))
        Decision.objects.filter(pk=current.pk).update(undone_at=now)
        strikes = Strike.objects.filter(id__one_of=current.strike_ids, overruled_at=None)
        for strike in strikes.select_related("target_account__user").order_by("-id"):
            take_back(by, strike)
        strikes.update(overruled_at=now)
        reopen_reports(by=by, report_ids=current.report_ids)
        record(
            by=by,
            action="undo",
            target_type="Decision",
            target_id=current.pk,
            target_name=f"@{current.target_account.acct}",
            acts=current.acts,
        )


def carry_out(events: Sequence[DecisionEnded]) -> None:
    """Delete the posts of decisions that were not undone, as an action of the member of staff who decided; idempotent."""
    ids = [event.decision_id for event in events]
    decisions = Decision.objects.select_related("account", "target_account").filter(id__one_of=ids, undone_at=None)
    for decision in decisions.order_by("id"):
        settled = Report.objects.filter(id__one_of=decision.report_ids).order_by("id").first()
        named = reports_naming(decision.target_account, decision.status_ids)
        # The permission was checked when the decision was made.
        name = f"@{decision.account.username}" if decision.account is not None else "operator"
        by = Staff(decision.account_id, name, Permission.MANAGE_REPORTS, position=None)
        # If the author has deleted all of these posts, there is nothing to do.
        with suppress(Conflict):
            act_on_posts(
                by=by,
                account=decision.target_account,
                action=StrikeAction.DELETE_STATUSES,
                status_ids=decision.status_ids,
                text=decision.text,
                report=settled or next(iter(named), None),
                settle=settled is not None,
            )


def _lock_reports(target: Account, report_ids: Collection[int]) -> list[Report]:
    ids = list(dict.fromkeys(report_ids))
    rows = Report.objects.select_for_update(of=("self",)).filter(id__one_of=ids, target_account=target)
    reports = list(rows.order_by("id")) if ids else []
    require_found(len(reports) == len(ids) or None)
    return reports


def _carry_out(
    act: str,
    by: Staff,
    target: Account,
    user: User | None,
    reports: Sequence[Report],
    posts: list[int],
    naming: Sequence[Report],
    text: str,
    *,
    settle: bool,
) -> Strike | None:
    """Carry out one action without notifying the person yet. Return the strike, if any. The strike refers to the first report
    of `reports`; without `reports`, a strike for posts refers to the first report of `naming`.
    """
    first, named = next(iter(reports), None), posts or None
    if act == "assign":
        for report in reports:
            assign_report(by=by, report=report)
    elif act in ("mark", "delete") and not posts:
        raise Conflict(_("Choose the posts."))
    elif act == "mark":
        return act_on_posts(
            by=by,
            account=target,
            action=StrikeAction.MARK_STATUSES_AS_SENSITIVE,
            status_ids=posts,
            text=text,
            report=first or next(iter(naming), None),
            settle=settle and first is not None,
            notify=False,
        )
    elif act == "warn" or (act in _STATES and not _STATES[act](target, user)):
        action = "none" if act == "warn" else act
        return act_on_account(
            by=by, account=target, action=action, text=text, report=first, status_ids=named, notify=False
        )
    return None
