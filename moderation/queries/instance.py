"""Reads what the instance documents say, and what this server says about itself beyond them, in a fixed number of
queries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from accounts.models import Account, Domain, Role
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.queries.accounts import has_address
from accounts.queries.emojis import EmojiLookup
from accounts.queries.site_settings import find_site_text, load_site_texts
from moderation.models import ActivityWeek, DomainRule, InstanceRule, TermsOfService
from moderation.models.domain_rule import DomainSeverity
from moderation.policies.documents import obfuscated
from social.kernel import clock
from social.kernel.errors import NotFound
from social.kernel.text.names import normalise_domain
from timelines.policies.access import HASHTAG, LIVE, TRENDING_LINK
from timelines.queries.public import load_access

WEEKS: Final = 12

# The day on which the privacy policy was written that this software brings along.
_PRIVACY_POLICY_DATE: Final = datetime(2026, 11, 22, tzinfo=UTC)
_REPORT_MONTH: Final = 12
_FIRST_REPORT_DAY: Final = 10
PEERS_FOUND_LIMIT: Final = 10
_PEERS_LIMIT: Final = 100_000


@dataclass(frozen=True)
class Document:
    """A text of staff in Markdown, empty where they have written none, and since when it stands."""

    markdown: str
    updated_at: datetime | None
    contact_email: str = ""


def find_description() -> Document:
    """The text of staff about this server."""
    written = find_site_text("site_extended_description")
    return Document("", None) if written is None else Document(*written)


def find_privacy_policy() -> Document:
    """The privacy policy of staff; with an empty text the one that is true of every server that runs this software."""
    markdown, updated_at = find_site_text("site_privacy_policy") or ("", _PRIVACY_POLICY_DATE)
    return Document(markdown, updated_at, load_site_texts()["site_contact_email"])


@dataclass(frozen=True)
class ShownTerms:
    """A version of the terms, whether it applies today, and the day from which the next one does."""

    terms: TermsOfService
    effective: bool
    succeeded_by: date | None


def _published() -> QuerySet[TermsOfService]:
    return TermsOfService.objects.filter(published_at__isnull=False)


def have_terms() -> bool:
    """Tell whether any terms of service are published."""
    return _published().exists()


def find_terms(day: date | None = None) -> ShownTerms:
    """The version that applies from `day`; without a day the one that applies today, or the first that will.

    Raises NotFound.
    """
    today = clock.now().astimezone(UTC).date()
    if day is not None:
        terms = _published().filter(effective_date=day).first()
    else:
        terms = (
            _published().filter(effective_date__lte=today).order_by("-effective_date").first()
            or _published().order_by("effective_date").first()
        )
    if terms is None or terms.effective_date is None:
        raise NotFound
    following = _published().filter(effective_date__gt=terms.effective_date).order_by("effective_date").first()
    return ShownTerms(
        terms,
        effective=terms.effective_date <= today,
        succeeded_by=following.effective_date if following is not None else None,
    )


@dataclass(frozen=True)
class Week:
    """Activity in a week that began at `start`."""

    start: datetime
    statuses: int = 0
    logins: int = 0
    registrations: int = 0


def list_weeks() -> list[Week]:
    """The last twelve weeks, this one first; a week that nobody counted has nothing."""
    today = clock.now().astimezone(UTC).date()
    this = today - timedelta(days=today.weekday())
    starts = [this - timedelta(weeks=number) for number in range(WEEKS)]
    found = {week.start: week for week in ActivityWeek.objects.filter(start__gte=starts[-1])}
    return [
        Week(datetime.combine(start, time.min, UTC), week.statuses, week.logins, week.registrations)
        if (week := found.get(start)) is not None
        else Week(datetime.combine(start, time.min, UTC))
        for start in starts
    ]


def _known() -> QuerySet[Domain]:
    suspended = DomainRule.objects.filter(severity=DomainSeverity.SUSPEND)
    return Domain.objects.exclude(name__in=suspended.values("domain"))


def list_peers() -> list[str]:
    """The servers that this one knows and has not suspended."""
    return list(_known().order_by("name").values_list("name", flat=True)[:_PEERS_LIMIT])


def search_peers(prefix: str) -> list[str]:
    """List ten known servers whose names begin with this."""
    wanted = normalise_domain(prefix) or prefix.strip().lower()
    return list(
        _known().filter(name__startswith=wanted).order_by("name").values_list("name", flat=True)[:PEERS_FOUND_LIMIT]
    )


@dataclass(frozen=True)
class ShownDomainBlock:
    """A server that this one limits or suspends, as it is shown: its name, the digest of the whole name, why."""

    domain: str
    digest: str
    severity: str
    comment: str | None


def list_domain_blocks(*, with_rationale: bool) -> list[ShownDomainBlock]:
    """Limited servers, then suspended ones, by name."""
    rules = DomainRule.objects.filter(severity__in=[DomainSeverity.SILENCE, DomainSeverity.SUSPEND])
    return [
        ShownDomainBlock(
            domain=obfuscated(rule.domain) if rule.obfuscate else rule.domain,
            digest=hashlib.sha256(rule.domain.encode()).hexdigest(),
            severity=rule.severity,
            comment=(rule.public_comment or "") if with_rationale else None,
        )
        for rule in rules.order_by("severity", "domain")
    ]


# "The last four weeks" of the contract's usage figure.
ACTIVE_MONTH = timedelta(days=28)


@dataclass(frozen=True)
class Figures:
    """Totals of this server; counted when asked, answered from a cache in front of it."""

    users: int
    statuses: int
    domains: int
    active_month: int


@dataclass(frozen=True)
class InstanceDocument:
    """Data of both versions of the instance document."""

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


def offered_report_year() -> int | None:
    """The year whose report people may ask for today, in UTC: the current one in its last three weeks."""
    today = clock.now().astimezone(UTC)
    offered = settings.ANNUAL_REPORTS and today.month == _REPORT_MONTH and today.day >= _FIRST_REPORT_DAY
    return today.year if offered else None


def load_instance() -> InstanceDocument:
    """Loads the data of the instance documents."""
    texts = load_site_texts()
    contact = None
    if texts["site_contact_username"]:
        contact = (
            Account.objects.select_related("stat", "user__role")
            .prefetch_related("moved_to")
            .filter(has_address(texts["site_contact_username"], None))
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
