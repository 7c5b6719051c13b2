"""Takes reports (contract, parameters "POST /api/v1/reports", behaviours section 18)."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import transaction

from accounts.models import Account
from moderation.events import ReportFiled
from moderation.models import Report
from moderation.models.report import REMOTE_COMMENT_LIMIT
from moderation.policies.reports import ReportDraft, chosen_category, report_errors
from moderation.queries.reports import (
    find_received_statuses,
    find_reportable_collections,
    find_reportable_statuses,
    load_rule_ids,
)
from social.kernel.errors import Invalid, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.text.names import normalise_domain
from statuses.models import Status


def file_report(*, account: Account, target: Account, draft: ReportDraft) -> Report:
    """Store a report by somebody of this server, and publish ReportFiled.

    Staff are notified of the first open report on an account; of each with MAIL_EVERY_REPORT. Of an account of this server
    nothing is forwarded. Raises NotFound for a suspended target, for posts and collections that are not the target's or
    that the reporter may not read; after that Invalid.
    """
    if target.suspended:
        raise NotFound
    status_ids = find_reportable_statuses(target, account.id, draft.status_ids)
    collection_ids = find_reportable_collections(target, draft.collection_ids)
    rule_ids = load_rule_ids(draft.rule_ids)
    category = chosen_category(draft)
    errors = report_errors(draft, category=category, rules_known=rule_ids is not None)
    if errors:
        raise Invalid.of(errors)
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


def receive_report(*, account: Account, target: Account, comment: str, status_ids: Sequence[int], uri: str) -> None:
    """Store a report that another server has sent, once for each target; posts that it may not have are left out.

    Works in a transaction of its own. `account` is who signed it, as a rule the actor of that server.
    """
    with transaction.atomic():
        lock(f"object:{uri}")
        if Report.objects.filter(uri=uri, target_account=target).exists():
            return
        assert account.domain is not None  # of another server: what people here send goes through `file_report`
        store_report(
            Report(
                account=account,
                target_account=target,
                uri=uri,
                comment=comment[:REMOTE_COMMENT_LIMIT],
                status_ids=find_received_statuses(target, account.domain, status_ids),
            )
        )


def store_report(report: Report) -> None:
    """Store a report that was made or received, and publish ReportFiled."""
    with transaction.atomic():
        # Of two at the same moment one is the first.
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


def _forward_domains(target: Account, status_ids: Sequence[int], draft: ReportDraft) -> list[str]:
    """The servers of the account and of those whom its reported posts answer, as far as the reporter names them."""
    assert target.domain is not None  # of another server: the caller has looked
    if draft.forward_domains is None:
        return [target.domain]
    answered = (
        Status.objects.filter(id__one_of=list(status_ids), in_reply_to_account__domain__isnull=False)
        .values_list("in_reply_to_account__domain", flat=True)
        .distinct()
        if status_ids
        else ()
    )
    named = {normalise_domain(domain) for domain in draft.forward_domains}
    return [domain for domain in dict.fromkeys((target.domain, *answered)) if domain in named]
