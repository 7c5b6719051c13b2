"""Reads what the instance documents say, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from accounts.models import Account, Role
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.queries.emojis import EmojiLookup
from accounts.queries.site_settings import load_site_texts
from moderation.models import InstanceRule
from moderation.queries.documents import have_terms
from social.kernel import clock
from timelines.policies.access import HASHTAG, LIVE, TRENDING_LINK
from timelines.queries.access import load_access

# "The last four weeks" of the contract's usage figure.
ACTIVE_MONTH = timedelta(days=28)


@dataclass(frozen=True)
class Figures:
    """How much there is; counted when asked, answered from a cache in front of it."""

    users: int
    statuses: int
    domains: int
    active_month: int


@dataclass(frozen=True)
class InstanceDocument:
    """Everything both versions of the document need, loaded."""

    texts: dict[str, Any]
    figures: Figures
    rules: Sequence[InstanceRule]
    contact: Account | None
    emojis: EmojiLookup
    timelines_access: Mapping[str, Mapping[str, str]]
    invites_enabled: bool
    has_terms: bool = False


def list_rules() -> list[InstanceRule]:
    """The rules in force, in their order."""
    return list(InstanceRule.objects.filter(withdrawn_at=None).order_by("position", "id"))


# Reading is noted in active_at twice a day, signing in on a page in last_login; who only writes, as programs do, has
# written. GREATEST passes over what is NULL.
_ACTIVE = """
SELECT count(*) FROM accounts_user u LEFT JOIN accounts_accountstat s ON s.account_id = u.account_id
 WHERE u.approved AND u.disabled_at IS NULL AND GREATEST(u.active_at, u.last_login, s.last_status_at) > %s
"""
_FIGURES = f"""
SELECT (SELECT count(*) FROM accounts_user WHERE approved AND disabled_at IS NULL),
       (SELECT coalesce(sum(s.statuses_count), 0)::bigint FROM accounts_accountstat s
          JOIN accounts_user u ON u.account_id = s.account_id),
       (SELECT count(*) FROM accounts_domain),
       ({_ACTIVE})
"""  # noqa: S608 (constants)


def load_figures() -> Figures:
    """Local people and posts, known domains, people active in the last four weeks: one query."""
    with connection.cursor() as cursor:
        cursor.execute(_FIGURES, [clock.now() - ACTIVE_MONTH])
        users, statuses, domains, active = cursor.fetchone()
    return Figures(users, statuses, domains, active)


def count_active(since: datetime) -> int:
    """People of this server who have read, signed in or written after a moment, and may still."""
    with connection.cursor() as cursor:
        cursor.execute(_ACTIVE, [since])
        return int(cursor.fetchone()[0])


def _openness(kind: str) -> dict[str, str]:
    access = load_access(kind)
    return {"local": str(access.local), "remote": str(access.remote)}


def load_instance() -> InstanceDocument:
    """What the instance documents show."""
    texts = load_site_texts()
    contact = None
    if texts["site_contact_username"]:
        contact = (
            Account.objects.select_related("stat", "user__role")
            .prefetch_related("moved_to")
            .filter(domain=None, username__iexact=texts["site_contact_username"])
            .first()
        )
    return InstanceDocument(
        texts=texts,
        figures=load_figures(),
        rules=list_rules(),
        contact=contact,
        emojis=EmojiLookup.for_accounts([contact] if contact is not None else []),
        invites_enabled=Role.objects.get(id=EVERYONE_ROLE_ID).can(Permission.INVITE_USERS),
        has_terms=have_terms(),
        timelines_access={kind: _openness(kind) for kind in (LIVE, HASHTAG, TRENDING_LINK)},
    )
