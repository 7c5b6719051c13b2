"""Reports by local accounts (contract, parameters "POST /api/v1/reports", behaviours section 18) and by other servers."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.models import Account
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import differences, record_each
from accounts.services.erasing import BATCH_SIZE
from accounts.services.instance_actor import instance_actor
from moderation.events import ReportChanged, ReportFiled
from moderation.models import InstanceRule, Report, ReportCategory
from moderation.models.report import REMOTE_COMMENT_LIMIT
from moderation.policies.reports import ReportDraft, chosen_category, report_errors
from moderation.queries import reports
from social.kernel import clock
from social.kernel.errors import FieldError, NotFound, require_found, require_valid
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.text.names import display_domain
from statuses.models import Status
from statuses.policies.visibility import OPEN_VISIBILITIES
from statuses.queries.statuses import Excerpt, list_excerpts


def file_report(*, account: Account, target: Account, draft: ReportDraft) -> Report:
    """Store a report by a local account, and publish ReportFiled.

    Staff are notified of the first open report about an account, or of every report if MAIL_EVERY_REPORT is set. A report about
    a local account is not forwarded. Raises NotFound for a suspended target, and for posts and collections that do not belong
    to the target or that the reporter may not read. Raises Invalid only after these checks.
    """
    if target.suspended:
        raise NotFound
    status_ids = reports.find_reportable_statuses(target, account.id, draft.status_ids)
    collection_ids = reports.find_reportable_collections(target, draft.collection_ids)
    rule_ids = reports.load_rule_ids(draft.rule_ids)
    category = chosen_category(draft)
    errors = report_errors(draft, category=category, rules_known=rule_ids is not None)
    require_valid(errors)
    domains = _forward_domains(target, status_ids, draft) if draft.forward and not target.local else []
    report = Report(
        account=account,
        target_account=target,
        category=category,
        comment=draft.comment,
        status_ids=status_ids,
        collection_ids=collection_ids,
        rule_ids=rule_ids or None,
        forwarded=bool(domains),
        forward_domains=domains,
    )
    store_report(report)
    return report


def receive_report(
    *,
    account: Account,
    target: Account,
    comment: str,
    status_ids: Sequence[int],
    uri: str,
    collection_ids: Sequence[int] = (),
) -> None:
    """Store a report sent by another server, once per target, in a separate transaction. Posts that cannot have reached that
    server, and posts and collections of other accounts, are left out. `account` has signed the report; it is usually the
    server's instance actor.
    """
    with transaction.atomic():
        lock(f"object:{uri}")
        if Report.objects.filter(uri=uri, target_account=target).exists():
            return
        assert account.domain is not None  # the account is remote: `file_report` stores local reports
        store_report(
            Report(
                account=account,
                target_account=target,
                uri=uri,
                comment=comment[:REMOTE_COMMENT_LIMIT],
                status_ids=reports.find_received_statuses(target, account.domain, status_ids),
                collection_ids=reports.find_owned_collections(target, collection_ids),
            )
        )


def store_report(report: Report) -> None:
    """Store a report that was filed or received, and publish ReportFiled."""
    with transaction.atomic():
        # Without the lock, two simultaneous reports could both count as the first.
        lock(f"reports:{report.target_account_id}")
        others = Report.objects.filter(target_account_id=report.target_account_id, action_taken_at=None)
        first = not others.exists()
        report.save(force_insert=True)
        publish(
            ReportFiled(
                report_id=report.id,
                target_id=report.target_account_id,
                notify=first or settings.MAIL_EVERY_REPORT,
                forwarded=report.forwarded,
            )
        )


def keep_reports_by(account_id: int) -> int:
    """Erasure step: attribute a batch of reports by a deleted account to the server's own account; return how many.

    Staff still have to decide about these reports, and look them up later. Who filed them is forgotten.
    """
    own = instance_actor()
    if account_id == own.pk or not Account.objects.filter(id=account_id, deleted_at__isnull=False).exists():
        return 0
    rows = Report.objects.filter(account_id=account_id).exclude(target_account_id=account_id).order_by("-id")
    ids = list(rows.values_list("pk", flat=True)[:BATCH_SIZE])
    return Report.objects.filter(id__one_of=ids).update(account=own) if ids else 0


def _forward_domains(target: Account, status_ids: Sequence[int], draft: ReportDraft) -> list[str]:
    """Return the servers to which the report is forwarded: the server of the reported account by default. If the reporter has
    chosen servers by name, return the chosen servers among the reported account's server and the servers of the accounts to
    which the reported posts reply. Names are compared without normalising them, which would take seconds for a long list
    (security row 78).
    """
    assert target.domain is not None  # the caller has checked that the account is remote
    if draft.forward_to_domains is None:
        return [target.domain]
    replies = Status.objects.filter(id__one_of=status_ids, in_reply_to_account__domain__isnull=False)
    answered_domains = replies.values_list("in_reply_to_account__domain", flat=True).distinct()
    chosen = {domain.strip().lower() for domain in draft.forward_to_domains}
    offered = dict.fromkeys((target.domain, *filter(None, answered_domains)))
    return [domain for domain in offered if not chosen.isdisjoint((domain, display_domain(domain)))]


def assign_report(*, by: Staff, report: Report) -> None:
    """Assign a report to `by`, even if it was assigned to somebody else. Raises Forbidden."""
    with _handling(by, report, "assign") as current:
        _write(current, assigned_account_id=by.account_id)


def unassign_report(*, by: Staff, report: Report) -> None:
    """Remove the assignment of a report. Raises Forbidden."""
    with _handling(by, report, "unassign") as current:
        _write(current, assigned_account_id=None)


def resolve_report(*, by: Staff, report: Report) -> None:
    """Settle a report; a report that is already settled keeps the moderator who settled it. Raises Forbidden."""
    with _handling(by, report, "resolve") as current:
        if not current.is_resolved:
            _write(current, action_taken_at=clock.now(), action_taken_by_id=by.account_id)


def reopen_report(*, by: Staff, report: Report) -> None:
    """Undo `resolve_report`. Raises Forbidden."""
    with _handling(by, report, "reopen") as current:
        _write(current, action_taken_at=None, action_taken_by_id=None)


def settle_reports(*, by: Staff, target: Account, only: Sequence[Report] | None = None) -> list[int]:
    """Settle all open reports about an account or, with `only`, these; return their ids. The caller has checked the
    permission.
    """
    with transaction.atomic():
        rows = Report.objects.filter(target_account=target, action_taken_at=None)
        if only is not None:
            rows = rows.filter(id__one_of=[report.pk for report in only])
        return _write_each(by, "resolve", rows, action_taken_at=clock.now(), action_taken_by_id=by.account_id)


def reopen_reports(*, by: Staff, report_ids: Sequence[int]) -> None:
    """Reopen the reports among these that are still settled; the caller has checked the permission."""
    with transaction.atomic():
        rows = Report.objects.filter(id__one_of=report_ids, action_taken_at__isnull=False)
        _write_each(by, "reopen", rows, action_taken_at=None, action_taken_by_id=None)


def _write_each(by: Staff, action: str, rows: QuerySet[Report], **values: Any) -> list[int]:
    """Lock and change these reports, and write an audit row for each; return their ids."""
    locked = rows.select_for_update(of=("self",))
    ids = list(locked.order_by("id").values_list("id", flat=True))
    Report.objects.filter(id__one_of=ids).update(**values, updated_at=clock.now())
    record_each(by=by, action=action, target_type="Report", targets=[(number, f"#{number}") for number in ids])
    publish(*(ReportChanged(report_id=number) for number in ids))
    return ids


def update_report(
    *, by: Staff, report: Report, category: str | None = None, rule_ids: Sequence[int] | None = None
) -> None:
    """Change the category and rules of a report; None: unchanged. Raises Forbidden, Invalid (contract, parameters section
    6).
    """
    with _handling(by, report, "update") as current:
        new_category = current.category if category is None else category
        rules = list(current.rule_ids or ()) if rule_ids is None else list(dict.fromkeys(rule_ids))
        if rule_ids is None and new_category != ReportCategory.VIOLATION:
            # Only reports of the category "violation" have rules.
            rules = []
        require_valid(_errors(new_category, rules))
        _write(current, category=new_category, rule_ids=rules or None)


def remove_post(*, by: Staff, target: Account, status_id: int) -> None:
    """Remove a post from every open report about its author; the audit log names the reports. Raises Forbidden, NotFound."""
    require(by, Permission.MANAGE_REPORTS)
    with transaction.atomic():
        named = [report for report in reports.reports_naming(target, [status_id]) if not report.is_resolved]
        require_found(named or None)
        for report in named:
            with _handling(by, report, "remove_post") as current:
                _write(current, status_ids=[number for number in current.status_ids if number != status_id])


def _errors(category: str, rule_ids: list[int]) -> list[FieldError]:
    if category not in ReportCategory.values:
        return [FieldError.not_included("category")]
    if category == ReportCategory.VIOLATION:
        if not rule_ids or InstanceRule.objects.filter(id__one_of=rule_ids).count() < len(rule_ids):
            return [FieldError("rule_ids", "ERR_INVALID", _("does not reference valid rules"))]
    elif rule_ids:
        return [FieldError("rule_ids", "ERR_PRESENT", _("must be blank"))]
    return []


@contextmanager
def _handling(by: Staff, report: Report, action: str) -> Iterator[Report]:
    """Open a transaction: check the permission, lock the row, and write an audit row if something has changed."""
    require(by, Permission.MANAGE_REPORTS)
    with transaction.atomic():
        current = require_found(Report.objects.select_for_update(of=("self",)).filter(pk=report.pk).first())
        before = _state(current)
        yield current
        after = _state(current)
        if after != before:
            publish(ReportChanged(report_id=current.pk))
            changes = differences(before, after)
            record_each(by=by, action=action, target_type="Report", targets=[(report.pk, f"#{report.pk}")], **changes)


def _state(report: Report) -> dict[str, Any]:
    return {
        "assigned_account": None if report.assigned_account_id is None else str(report.assigned_account_id),
        "resolved": report.is_resolved,
        "category": report.category,
        "rules": [str(number) for number in report.rule_ids or ()],
        "posts": [str(number) for number in report.status_ids],
    }


def _write(report: Report, **values: Any) -> None:
    for name, value in values.items():
        setattr(report, name, value)
    report.updated_at = clock.now()
    Report.objects.filter(pk=report.pk).update(**values, updated_at=report.updated_at)


def open_evidence(*, by: Staff, report: Report) -> list[Excerpt]:
    """Return the posts attached to a report, including deleted posts; viewing private posts is logged. Raises Forbidden."""
    require(by, Permission.MANAGE_REPORTS)
    posts = list_excerpts(report.status_ids, report.target_account_id)
    name = f"@{report.target_account.acct}"
    note_posts_seen(by=by, posts=[(post.id, name, post.visibility) for post in posts])
    return posts


def note_posts_seen(*, by: Staff, posts: Iterable[tuple[int, str, str]]) -> None:
    """Record that `by` has seen these posts (id, author's address, visibility), except public posts. One statement."""
    private = [(number, name) for number, name, visibility in posts if visibility not in OPEN_VISIBILITIES]
    if private:
        with transaction.atomic():
            record_each(by=by, action="view", target_type="Status", targets=private)
