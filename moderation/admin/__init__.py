"""Admin pages of moderation: reports, strikes, appeals, the audit log, and the texts that describe this server."""

from moderation.admin import (  # noqa: F401 (each registers its pages)
    accounts,
    announcements,
    audit,
    documents,
    domain_rules,
    evidence,
    hash_lists,
    quarantine,
    reports,
    site,
    spam_rules,
    trends,
    webhooks,
)
from moderation.blocklists import admin as blocklists  # noqa: F401 (it registers its pages)
