"""Writes to staff about reports, appeals and those who want to join, and to people about what staff did to them and decided.

Mails go through the outbox, as those of `accounts.services.mails`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from django.urls import reverse

from accounts.events import UserWaiting
from accounts.models import User
from accounts.models.user import Permission
from accounts.queries.users import list_staff
from accounts.services.mails import Letter, send_all
from moderation.events import AppealDecided, AppealFiled, ReportFiled, StrikeIssued
from moderation.models import Appeal, Report, Strike, StrikeAction
from moderation.policies.strike_links import strike_link
from social.kernel import links

WANTED: Final = "staff_mails"
"""The preference of staff who get mails about reports and appeals; they do unless they have said otherwise."""


SIGN_UPS_WANTED: Final = "sign_up_mails"
"""The preference of staff who get mails about people who wait for approval; they do unless they have said otherwise."""


def send_sign_up_mails(events: Sequence[UserWaiting]) -> None:
    """The reaction to UserWaiting: to everybody who manages users (contract, behaviours section 6), as long as nobody has
    decided.
    """
    send_all(letter for event in events for letter in _sign_up_letters(event.user_id))


def send_report_mails(events: Sequence[ReportFiled]) -> None:
    """The reaction to ReportFiled: to everybody who manages reports (SEED-143)."""
    send_all(letter for event in events for letter in _report_letters(event.report_id))


def send_strike_mails(events: Sequence[StrikeIssued]) -> None:
    """The reaction to StrikeIssued: what was done, why, and where it can be appealed against."""
    send_all(letter for event in events for letter in _strike_letters(event.strike_id))


def send_appeal_mails(events: Sequence[AppealFiled]) -> None:
    """The reaction to AppealFiled: to everybody who manages appeals."""
    send_all(letter for event in events for letter in _appeal_letters(event.appeal_id))


def send_decision_mails(events: Sequence[AppealDecided]) -> None:
    """The reaction to AppealDecided: to whom appealed."""
    send_all(letter for event in events for letter in _decision_letters(event.appeal_id))


def _staff(permission: Permission, wanted: str = WANTED) -> Iterator[User]:
    return (user for user in list_staff(permission) if user.preferences.get(wanted, True))


def _sign_up_letters(user_id: int) -> Iterator[Letter]:
    for waiting in User.objects.select_related("account").filter(
        pk=user_id, approved=False, disabled_at=None, account__suspended_at=None
    ):
        context = {
            "person": waiting.account.username,
            "reason": waiting.sign_up_reason,
            "link": links.web_url(reverse("admin:accounts_user_change", args=[waiting.pk])),
        }
        for user in _staff(Permission.MANAGE_USERS, SIGN_UPS_WANTED):
            yield Letter(user, user.email, "sign_up", context)


def _report_letters(report_id: int) -> Iterator[Letter]:
    for report in Report.objects.select_related("account", "target_account").filter(id=report_id):
        context = {
            "target": report.target_account.acct,
            "reporter": report.account.acct,
            "category": report.category,
            "comment": report.comment,
            "link": links.web_url(reverse("admin:moderation_report_change", args=[report.id])),
        }
        for user in _staff(Permission.MANAGE_REPORTS):
            yield Letter(user, user.email, "report", context)


def _strike_letters(strike_id: int) -> Iterator[Letter]:
    for strike in Strike.objects.select_related("target_account__user").filter(
        id=strike_id, target_account__deleted_at=None
    ):
        user = strike.target_account.user
        context = {
            "action": StrikeAction(strike.action).label,
            "text": strike.text,
            "link": strike_link(strike.id),
        }
        yield Letter(user, user.email, "strike", context)


def _appeal_letters(appeal_id: int) -> Iterator[Letter]:
    for appeal in Appeal.objects.select_related("account").filter(id=appeal_id):
        context = {
            "author": appeal.account.acct,
            "text": appeal.text,
            "link": links.web_url(reverse("admin:moderation_appeal_change", args=[appeal.id])),
        }
        for user in _staff(Permission.MANAGE_APPEALS):
            yield Letter(user, user.email, "appeal", context)


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
