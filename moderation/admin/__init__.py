"""Staff look at reports, strikes, appeals and the audit log, and write what this server says about itself."""

from __future__ import annotations

from moderation.admin.accounts import ModeratedAccountAdmin
from moderation.admin.announcements import AnnouncementAdmin
from moderation.admin.audit import AuditAdmin
from moderation.admin.documents import RuleAdmin, SiteAdmin, TermsAdmin
from moderation.admin.reports import AppealAdmin, ReportAdmin, StrikeAdmin

__all__ = [
    "AnnouncementAdmin",
    "AppealAdmin",
    "AuditAdmin",
    "ModeratedAccountAdmin",
    "ReportAdmin",
    "RuleAdmin",
    "SiteAdmin",
    "StrikeAdmin",
    "TermsAdmin",
]
