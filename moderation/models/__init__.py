"""Tables of the server's rules and of the actions of staff."""

# Imported only so that Django finds the tables of blocklists; other code imports them from `moderation.blocklists.models`.
import moderation.blocklists.models  # noqa: F401  # binds `moderation`, and only the import counts
from moderation.models.announcement import Announcement, AnnouncementDismissal, AnnouncementReaction
from moderation.models.documents import ActivityWeek, InstanceRule, TermsOfService
from moderation.models.domain_rule import DomainAllow, DomainRule, DomainSeverity
from moderation.models.report import (
    Appeal,
    Decision,
    EvidenceFile,
    EvidenceState,
    Report,
    ReportCategory,
    StaffNote,
    Strike,
    StrikeAction,
)
from moderation.models.webhook import Webhook, WebhookAttempt, WebhookCall, WebhookEvent

__all__ = [
    "ActivityWeek",
    "Announcement",
    "AnnouncementDismissal",
    "AnnouncementReaction",
    "Appeal",
    "Decision",
    "DomainAllow",
    "DomainRule",
    "DomainSeverity",
    "EvidenceFile",
    "EvidenceState",
    "InstanceRule",
    "Report",
    "ReportCategory",
    "StaffNote",
    "Strike",
    "StrikeAction",
    "TermsOfService",
    "Webhook",
    "WebhookAttempt",
    "WebhookCall",
    "WebhookEvent",
]
