"""Lists the tables of the server's rules and what staff do."""

from moderation.models.activity_week import ActivityWeek
from moderation.models.announcement import Announcement, AnnouncementDismissal, AnnouncementReaction
from moderation.models.domain_rule import DomainAllow, DomainRule, DomainSeverity
from moderation.models.house_rule import InstanceRule
from moderation.models.report import Report, ReportCategory
from moderation.models.strike import Appeal, Strike, StrikeAction
from moderation.models.terms_of_service import TermsOfService

__all__ = [
    "ActivityWeek",
    "Announcement",
    "AnnouncementDismissal",
    "AnnouncementReaction",
    "Appeal",
    "DomainAllow",
    "DomainRule",
    "DomainSeverity",
    "InstanceRule",
    "Report",
    "ReportCategory",
    "Strike",
    "StrikeAction",
    "TermsOfService",
]
