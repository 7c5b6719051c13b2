"""Subscriptions: which event calls which service."""

from accounts import events as account_events
from moderation import events
from moderation.blocklists.services.fetching import FETCHES
from moderation.blocklists.services.settling import settle_lists
from moderation.senders.webhooks import CALLS
from moderation.services import mails
from moderation.services.announcements import handle_due
from moderation.services.decisions import carry_out
from moderation.services.domain_rules import apply_rules, end_follows
from moderation.services.evidence_files import write_files
from moderation.services.rule_acts import act_on_matches
from moderation.tasks import webhooks
from moderation.tasks.announcing import stream_announcements, stream_reactions, stream_withdrawals
from social.kernel.events import on
from statuses.events import StatusEdited, StatusPublished

on(account_events.SpamRuleMet, act_on_matches, queue="default", batch=20)
on(account_events.UserWaiting, mails.send_sign_up_mails, queue="mailers", database=True)
on(events.ReportFiled, mails.send_report_mails, queue="mailers", database=True, when=lambda event: event.notify)
on(events.AppealFiled, mails.send_appeal_mails, queue="mailers", database=True)
# Each call sends few mails and has a long time-out, because a mail server may be slow.
on(events.StaffMailDue, mails.send_staff_mails, queue="mailers", batch=1, seconds=90)
on(events.StrikeIssued, mails.send_strike_mails, queue="mailers", batch=5, seconds=90, when=lambda event: event.notify)
on(events.AppealDecided, mails.send_decision_mails, queue="mailers", batch=5, seconds=90)
on(events.DecisionEnded, carry_out, batch=1)
on(events.EvidenceDue, write_files, queue="transfers", batch=1, seconds=600)
on(events.DomainRuleChanged, apply_rules, batch=1)
on(events.ServerSuspended, end_follows, batch=1)
on(events.BlocklistChanged, settle_lists, batch=1)
on(events.AnnouncementDue, handle_due, batch=1)
on(events.AnnouncementPublished, stream_announcements, queue="notifications")
on(events.AnnouncementWithdrawn, stream_withdrawals, queue="notifications")
on(events.AnnouncementReactionChanged, stream_reactions, queue="notifications")
# The queue is separate, so that an event whose entity cannot be built does not delay other reactions.
on(account_events.AccountCreated, webhooks.call_about_new_accounts, queue="webhooks", database=True)
on(account_events.UserActivated, webhooks.call_about_activations, queue="webhooks", database=True)
on(account_events.ProfileUpdated, webhooks.call_about_changed_accounts, queue="webhooks", database=True)
on(account_events.AccountSanctioned, webhooks.call_about_changed_accounts, queue="webhooks", database=True)
on(events.ReportFiled, webhooks.call_about_reports, queue="webhooks", database=True)
on(events.ReportChanged, webhooks.call_about_changed_reports, queue="webhooks", database=True)
on(StatusPublished, webhooks.call_about_posts, queue="webhooks", database=True, when=webhooks.await_posts)
on(StatusEdited, webhooks.call_about_edited_posts, queue="webhooks", database=True, when=webhooks.await_edited_posts)
CALLS.subscribe()
FETCHES.subscribe()
