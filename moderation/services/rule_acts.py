"""Actions of spam rules: reports filed as the server's own account, and strikes against the accounts that the rules limit."""

from collections.abc import Sequence
from typing import Final

from django.db import transaction

from accounts.events import SpamRuleMet
from accounts.models import Account
from accounts.services.instance_actor import instance_actor
from accounts.spam.models import SpamRule
from accounts.spam.services.matches import as_staff
from moderation.events import ReportChanged
from moderation.models import Report, ReportCategory, StrikeAction
from moderation.services.reports import store_report
from moderation.services.strikes import issue_strike
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.locks import lock

REPORTED_LIMIT: Final = 100
"""Maximum number of posts that one report of a rule names; further posts of the same account are left out."""


def act_on_matches(events: Sequence[SpamRuleMet]) -> None:
    """Handle SpamRuleMet: issue strikes against limited accounts; report others, with one open report per account and rule."""
    for event in events:
        rule = SpamRule.objects.filter(id=event.rule_id).first()
        target = Account.objects.filter(id=event.account_id, deleted_at=None).first()
        if rule is None or target is None:
            continue
        with transaction.atomic():
            posts = [] if event.status_id is None else [event.status_id]
            if event.limited:
                issue_strike(
                    by=as_staff(rule),
                    target=target,
                    action=StrikeAction.SILENCE,
                    status_ids=posts or None,
                    spam_rule=rule,
                )
            else:
                _report(rule, target, posts)


def _report(rule: SpamRule, target: Account, posts: Sequence[int]) -> None:
    lock(f"reports:{target.id}")
    open_reports = Report.objects.filter(target_account=target, spam_rule=rule, action_taken_at=None)
    report = open_reports.select_for_update(of=("self",)).first()
    if report is None:
        store_report(
            Report(
                account=instance_actor(),
                target_account=target,
                category=ReportCategory.SPAM,
                comment=rule.name,
                status_ids=posts,
                spam_rule=rule,
            )
        )
        return
    added = [number for number in posts if number not in report.status_ids]
    if added and len(report.status_ids) < REPORTED_LIMIT:
        Report.objects.filter(id=report.id).update(status_ids=[*report.status_ids, *added], updated_at=clock.now())
        publish(ReportChanged(report_id=report.id))
