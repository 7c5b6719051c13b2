"""Subscriptions: which event calls which service."""

from accounts.events import SpamRuleMet, UserWaiting
from moderation import events
from moderation.services.announcements import handle_due
from moderation.services.decisions import carry_out
from moderation.services.domain_rules import apply_rules, end_follows
from moderation.services.evidence_files import write_files
from moderation.services.mails import (
    send_appeal_mails,
    send_decision_mails,
    send_report_mails,
    send_sign_up_mails,
    send_staff_mails,
    send_strike_mails,
)
from moderation.services.rule_acts import act_on_matches
from moderation.tasks.announcing import stream_announcements, stream_reactions, stream_withdrawals
from social.kernel.events import on

on(SpamRuleMet, act_on_matches, queue="default", batch=20)
on(UserWaiting, send_sign_up_mails, queue="mailers", database=True)
on(events.ReportFiled, send_report_mails, queue="mailers", database=True, when=lambda event: event.notify)
on(events.AppealFiled, send_appeal_mails, queue="mailers", database=True)
# A mail server may be slow: few mails per call, and a generous time-out.
on(events.StaffMailDue, send_staff_mails, queue="mailers", batch=1, seconds=90)
on(events.StrikeIssued, send_strike_mails, queue="mailers", batch=5, seconds=90, when=lambda event: event.notify)
on(events.AppealDecided, send_decision_mails, queue="mailers", batch=5, seconds=90)
on(events.DecisionEnded, carry_out, batch=1)
on(events.EvidenceDue, write_files, queue="transfers", batch=1, seconds=600)
on(events.DomainRuleChanged, apply_rules, batch=1)
on(events.ServerSuspended, end_follows, batch=1)
on(events.AnnouncementDue, handle_due, batch=1)
on(events.AnnouncementPublished, stream_announcements, queue="notifications")
on(events.AnnouncementWithdrawn, stream_withdrawals, queue="notifications")
on(events.AnnouncementReactionChanged, stream_reactions, queue="notifications")
