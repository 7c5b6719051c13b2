"""Mails to staff about pending decisions, and to people about decisions of staff, sent through the outbox."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from textwrap import shorten
from typing import Any, Final

from django.db import transaction
from django.urls import reverse

from accounts.events import UserWaiting
from accounts.identity.services.mails import Letter, send_all
from accounts.models import User
from accounts.models.user import Permission
from accounts.policies.audience import is_present
from accounts.policies.mails import DIGEST, SIGN_UPS, STAFF, is_on
from accounts.queries.users import list_staff
from accounts.services.preferences import PreferencesChange, change_preferences
from moderation.events import AppealDecided, AppealFiled, ReportFiled, StaffMailDue, StrikeIssued
from moderation.models import Appeal, Report, Strike, StrikeAction
from moderation.policies.reports import strike_link
from moderation.policies.statements import read_statement
from moderation.queries.waiting import DECISION_PERMISSIONS, count_waiting_for
from social.api import admission
from social.api.limits import Rule
from social.kernel import clock, links
from social.kernel.clock import find_zone
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.mail import quoted
from statuses.queries.statuses import list_excerpts

_POSTS_SHOWN: Final = 20

DIGEST_HOUR: Final = 7
"""Hour of the day from which the mail about pending decisions is sent."""

STAFF_MAILS: Final = Rule("staff_mails", 30, 3600, "account")
"""Rate limit per member of staff on mails that strangers can cause. Further reports and sign-ups are only shown in the admin.
"""


@dataclass(frozen=True)
class _StaffMail:
    """Mail to all staff with a permission; `context` returns the values of the template, or None if no mail is to be sent."""

    permission: Permission
    switch: str
    context: Callable[[int], dict[str, Any] | None]


def _sign_up_context(user_id: int) -> dict[str, Any] | None:
    unapproved = User.objects.filter(is_present("account"), pk=user_id, approved=False, disabled_at=None)
    user = unapproved.select_related("account").first()
    return (
        None
        if user is None
        else {
            "person": user.account.username,
            "reason": quoted(user.sign_up_reason),
            "link": links.web_url(reverse("admin:accounts_user_change", args=[user.pk])),
        }
    )


def _report_context(report_id: int) -> dict[str, Any] | None:
    report = Report.objects.select_related("account", "target_account").filter(id=report_id).first()
    return (
        None
        if report is None
        else {
            "target": report.target_account.acct,
            "reporter": report.account.acct,
            "category": report.category,
            "comment": quoted(report.comment),
            "link": links.web_url(reverse("admin:moderation_report_change", args=[report.id])),
        }
    )


def _appeal_context(appeal_id: int) -> dict[str, Any] | None:
    undecided = Appeal.objects.filter(id=appeal_id, approved_at=None, rejected_at=None)
    appeal = undecided.select_related("account").first()
    return (
        None
        if appeal is None
        else {
            "author": appeal.account.acct,
            "text": quoted(appeal.text),
            "link": links.web_url(reverse("admin:moderation_appeal_change", args=[appeal.id])),
        }
    )


def _digest_context(user_id: int) -> dict[str, Any] | None:
    user = list_staff(DECISION_PERMISSIONS).filter(pk=user_id).first()
    counts = count_waiting_for(user) if user is not None else []
    total = sum(count for _title, count in counts)
    return {"counts": counts, "total": total, "link": links.web_url(reverse("admin:index"))} if counts else None


_STAFF_MAILS: Final[Mapping[str, _StaffMail]] = {
    "sign_up": _StaffMail(Permission.MANAGE_USERS, SIGN_UPS, _sign_up_context),
    "report": _StaffMail(Permission.MANAGE_REPORTS, STAFF, _report_context),
    "appeal": _StaffMail(Permission.MANAGE_APPEALS, STAFF, _appeal_context),
    "waiting": _StaffMail(DECISION_PERMISSIONS, DIGEST, _digest_context),
}


def send_sign_up_mails(events: Sequence[UserWaiting]) -> None:
    """Handle UserWaiting: send mails about undecided sign-ups to staff who manage users (contract, behaviours section 6)."""
    _queue_mails("sign_up", [event.user_id for event in events])


def send_report_mails(events: Sequence[ReportFiled]) -> None:
    """Handle ReportFiled: send mails to staff who manage reports (SEED-143)."""
    _queue_mails("report", [event.report_id for event in events])


def send_appeal_mails(events: Sequence[AppealFiled]) -> None:
    """Handle AppealFiled: send mails to staff who manage appeals."""
    _queue_mails("appeal", [event.appeal_id for event in events])


def queue_digests() -> int:
    """Queue the daily mail about pending decisions for the staff who want it and whose time zone has reached DIGEST_HOUR;
    return the number of mails.

    The scheduler runs this hourly. Publishes StaffMailDue.
    """
    queued = 0
    with transaction.atomic():
        lock("staff_digests")
        for user in list_staff(DECISION_PERMISSIONS):
            local_time = clock.now().astimezone(find_zone(user.time_zone) or UTC)
            today = local_time.date().isoformat()
            if not is_on(user.preferences, DIGEST) or local_time.hour < DIGEST_HOUR:
                continue
            if user.preferences.get("digest_on") != today:
                change_preferences(user=user, change=PreferencesChange(digest_on=today))
                publish(StaffMailDue("waiting", user.pk, user.pk))
                queued += 1
    return queued


def _queue_mails(template: str, subject_ids: Sequence[int]) -> None:
    """Publish StaffMailDue for each recipient, so that a failed mail is retried without sending the others again."""
    staff = list_staff(_STAFF_MAILS[template].permission).values_list("pk", flat=True)
    publish(*(StaffMailDue(template, number, user_id) for number in subject_ids for user_id in staff))


def send_staff_mails(events: Sequence[StaffMailDue]) -> None:
    """Handle StaffMailDue: send the mails."""
    send_all(letter for event in events for letter in _staff_letters(event))


def send_strike_mails(events: Sequence[StrikeIssued]) -> None:
    """Handle StrikeIssued: unless the action was undone, send a mail that says what was done, why, and where to appeal."""
    send_all(letter for event in events for letter in _strike_letters(event.strike_id))


def send_decision_mails(events: Sequence[AppealDecided]) -> None:
    """Handle AppealDecided: send the decision to the person who appealed."""
    send_all(letter for event in events for letter in _decision_letters(event.appeal_id))


def _staff_letters(event: StaffMailDue) -> Iterator[Letter]:
    kind = _STAFF_MAILS[event.template]
    for user in list_staff(kind.permission).filter(pk=event.user_id):
        context = kind.context(event.subject_id) if is_on(user.preferences, kind.switch) else None
        if context is None:
            continue
        count = admission.count(STAFF_MAILS, subject=str(user.pk))
        if count is None or not count.exceeded:
            yield Letter(user, user.email, event.template, context, kind.switch)


def _strike_letters(strike_id: int) -> Iterator[Letter]:
    for strike in Strike.objects.select_related("target_account__user").filter(
        id=strike_id, overruled_at=None, target_account__deleted_at=None
    ):
        user = strike.target_account.user
        context = {
            "action": StrikeAction(strike.action).label,
            "text": strike.text,
            # The text is evaluated when the mail is rendered, in the language of its recipient.
            "reasons": partial(_reasons, strike),
            "link": strike_link(strike.id),
        }
        yield Letter(user, user.email, "strike", context)


def _reasons(strike: Strike) -> list[tuple[str, list[str]]]:
    posts = list_excerpts((strike.status_ids or [])[:_POSTS_SHOWN], strike.target_account_id)
    return read_statement(strike.statement, [quoted(shorten(post.words, 200, placeholder="…")) for post in posts])


def _decision_letters(appeal_id: int) -> Iterator[Letter]:
    for appeal in Appeal.objects.select_related("account__user", "strike").filter(
        id=appeal_id, account__deleted_at=None
    ):
        user = appeal.account.user
        context = {
            "accepted": appeal.approved_at is not None,
            "deleted": appeal.strike.action == StrikeAction.DELETE_STATUSES,
            "link": strike_link(appeal.strike_id),
        }
        yield Letter(user, user.email, "appeal_decided", context)
