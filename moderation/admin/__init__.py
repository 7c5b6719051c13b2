"""Staff look at reports, strikes, appeals and the audit log, and write what this server says about itself."""

from __future__ import annotations

from moderation.admin.announcements import AnnouncementAdmin
from moderation.admin.appeals import AppealAdmin
from moderation.admin.audit import AuditAdmin
from moderation.admin.reports import ReportAdmin
from moderation.admin.rules import RuleAdmin
from moderation.admin.site import SiteAdmin
from moderation.admin.strikes import StrikeAdmin
from moderation.admin.terms import TermsAdmin

__all__ = [
    "AnnouncementAdmin",
    "AppealAdmin",
    "AuditAdmin",
    "ReportAdmin",
    "RuleAdmin",
    "SiteAdmin",
    "StrikeAdmin",
    "TermsAdmin",
]
