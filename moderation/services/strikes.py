"""Strikes: what staff have done to somebody is written down, shown to that person, and may be appealed against."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account
from accounts.policies.staff import Staff
from moderation.events import StrikeIssued
from moderation.models import Report, Strike
from moderation.models.strike import STRIKE_TEXT_LIMIT
from social.kernel.errors import FieldError, Invalid
from social.kernel.events import publish


def issue_strike(
    *,
    by: Staff,
    target: Account,
    action: str,
    text: str = "",
    report: Report | None = None,
    status_ids: Sequence[int] | None = None,
    notify: bool = True,
) -> Strike:
    """Write down what was done, in the transaction of the act; publishes StrikeIssued.

    The caller has asked whether `by` may do it and writes the audit row of the act. Without `notify`, and for somebody of
    another server, there is neither a notification nor a mail (contract, behaviours section 18). `status_ids` None: those
    of the report. Raises Invalid for a text that is too long.
    """
    if len(text) > STRIKE_TEXT_LIMIT:
        message = _("is too long (maximum is %(count)d characters)") % {"count": STRIKE_TEXT_LIMIT}
        raise Invalid.of([FieldError("text", "ERR_TOO_LONG", message)])
    if status_ids is None and report is not None:
        status_ids = report.status_ids or None
    with transaction.atomic():
        strike = Strike(
            account_id=by.account_id,
            target_account=target,
            action=action,
            text=text,
            report=report,
            status_ids=None if status_ids is None else list(status_ids),
        )
        strike.save(force_insert=True)
        publish(StrikeIssued(strike_id=strike.id, account_id=target.id, notify=notify and target.local))
    return strike
