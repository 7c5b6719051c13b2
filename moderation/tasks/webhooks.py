"""Queues calls of webhooks for events, with the same entities that the API for staff returns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from accounts.events import AccountCreated, AccountSanctioned, ProfileUpdated, UserActivated
from accounts.models import Account, User
from moderation.events import ReportChanged, ReportFiled
from moderation.models import Report, WebhookEvent
from moderation.queries.reports import load_rules, people_of
from moderation.queries.webhooks import find_webhooks, is_awaited
from moderation.serializers.admin import AdminReportSerializer, present_admin_accounts
from moderation.services.webhooks import queue_calls
from statuses.events import StatusEdited, StatusPublished
from statuses.policies.audience import is_for_everybody
from statuses.queries.page import fill, of_rows
from statuses.queries.posts import load_posts
from statuses.serializers.presenting import present_by_id

_Present = Callable[[Sequence[int]], Mapping[int, Any]]


def call_about_new_accounts(events: Sequence[AccountCreated]) -> None:
    """Notify webhooks of accounts that people have signed up for."""
    _call(WebhookEvent.ACCOUNT_CREATED, (event.account_id for event in events), _accounts)


def call_about_activations(events: Sequence[UserActivated]) -> None:
    """Notify webhooks of accounts that became active."""
    user_ids = [event.user_id for event in events]
    accounts = User.objects.filter(id__one_of=user_ids).order_by("id").values_list("account_id", flat=True)
    _call(WebhookEvent.ACCOUNT_APPROVED, accounts, _accounts)


def call_about_changed_accounts(events: Sequence[ProfileUpdated | AccountSanctioned]) -> None:
    """Notify webhooks of changed local accounts."""
    _call(WebhookEvent.ACCOUNT_UPDATED, (event.account_id for event in events), _accounts)


def call_about_reports(events: Sequence[ReportFiled]) -> None:
    """Notify webhooks of reports that were filed."""
    _call(WebhookEvent.REPORT_CREATED, (event.report_id for event in events), _reports)


def call_about_changed_reports(events: Sequence[ReportChanged]) -> None:
    """Notify webhooks of changed reports."""
    _call(WebhookEvent.REPORT_UPDATED, (event.report_id for event in events), _reports)


def await_posts(event: StatusPublished) -> bool:
    """Tell whether a webhook is notified of a post. Otherwise the event is not stored for webhooks."""
    return event.local and is_awaited(WebhookEvent.STATUS_CREATED)


def await_edited_posts(event: StatusEdited) -> bool:
    """Tell whether a webhook is notified of an edit."""
    return event.local and is_awaited(WebhookEvent.STATUS_UPDATED)


def call_about_posts(events: Sequence[StatusPublished]) -> None:
    """Notify webhooks of public and unlisted posts by local accounts, except local-only posts."""
    _call(WebhookEvent.STATUS_CREATED, (event.status_id for event in events), _statuses)


def call_about_edited_posts(events: Sequence[StatusEdited]) -> None:
    """Notify webhooks of edits of public and unlisted posts by local accounts, except local-only posts."""
    _call(WebhookEvent.STATUS_UPDATED, (event.status_id for event in events), _statuses)


def _call(event: WebhookEvent, ids: Iterable[int], present: _Present) -> None:
    """Queue a call for each of these objects that still exists. No entity is built if no webhook is notified of the event."""
    webhooks = find_webhooks(event)
    if webhooks:
        queue_calls(event, webhooks, present(list(dict.fromkeys(ids))).values())


def _accounts(account_ids: Sequence[int]) -> Mapping[int, Any]:
    local = Account.objects.filter(id__one_of=account_ids, domain=None).order_by("id").values_list("id", flat=True)
    return present_admin_accounts(local, None)


def _reports(report_ids: Sequence[int]) -> Mapping[int, Any]:
    """Return the entities of reports, without posts that not everybody may read, because viewing such posts is logged."""
    reports = list(Report.objects.filter(id__one_of=report_ids).order_by("id"))
    context = {
        "accounts": present_admin_accounts((account for report in reports for account in people_of(report)), None),
        "statuses": _open({number for report in reports for number in report.status_ids}, of_this_server=False),
        "rules": load_rules(reports),
    }
    return {report.id: AdminReportSerializer(report, context=context).data for report in reports}


def _open(status_ids: Iterable[int], *, of_this_server: bool) -> Mapping[int, Any]:
    posts = [
        post
        for post in load_posts(status_ids)
        if is_for_everybody(post) and (post.domain is None or not of_this_server)
    ]
    return present_by_id(fill(of_rows(posts, None))) if posts else {}


_statuses: Final[_Present] = partial(_open, of_this_server=True)
