"""Admin pages of moderation: reports, strikes, appeals, the audit log, and the texts of this server about itself."""

from __future__ import annotations

from moderation.admin.accounts import ModeratedAccountAdmin
from moderation.admin.announcements import AnnouncementAdmin
from moderation.admin.audit import AuditAdmin
from moderation.admin.documents import RuleAdmin, TermsAdmin
from moderation.admin.domain_rules import DomainAllowAdmin, DomainRuleAdmin
from moderation.admin.evidence import EvidenceFileAdmin
from moderation.admin.quarantine import QuarantineAdmin
from moderation.admin.reports import AppealAdmin, ReportAdmin, StrikeAdmin
from moderation.admin.site import SiteAdmin
from moderation.admin.spam_rules import HeldPostAdmin, SpamRuleAdmin
from moderation.admin.trends import LinkPublisherAdmin, TagAdmin, TrendAdmin
from moderation.admin.webhooks import WebhookAdmin

__all__ = [
    "AnnouncementAdmin",
    "AppealAdmin",
    "AuditAdmin",
    "DomainAllowAdmin",
    "DomainRuleAdmin",
    "EvidenceFileAdmin",
    "HeldPostAdmin",
    "LinkPublisherAdmin",
    "ModeratedAccountAdmin",
    "QuarantineAdmin",
    "ReportAdmin",
    "RuleAdmin",
    "SiteAdmin",
    "SpamRuleAdmin",
    "StrikeAdmin",
    "TagAdmin",
    "TermsAdmin",
    "TrendAdmin",
    "WebhookAdmin",
]
