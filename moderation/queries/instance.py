"""Reads the data of the instance documents and of the other documents about this server, in a fixed number of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from accounts.emojis.queries import EmojiLookup
from accounts.models import Account, Domain, Role
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.queries.accounts import has_address
from accounts.queries.site_settings import find_site_text, load_site_texts
from moderation.models import ActivityWeek, DomainRule, InstanceRule, TermsOfService
from moderation.models.domain_rule import DomainSeverity
from social.kernel import clock
from social.kernel.errors import NotFound
from social.kernel.identity import Identity, current_identity
from social.kernel.text.names import normalise_domain
from timelines.policies.access import HASHTAG, LIVE, TRENDING_LINK
from timelines.queries.public import load_access

WEEKS: Final = 12

# The date of the privacy policy that comes with this software.
_PRIVACY_POLICY_DATE: Final = datetime(2026, 11, 22, tzinfo=UTC)
_REPORT_MONTH: Final = 12
_FIRST_REPORT_DAY: Final = 10
PEERS_FOUND_LIMIT: Final = 10
_PEERS_LIMIT: Final = 100_000


@dataclass(frozen=True)
class Document:
    """A text by staff in Markdown (empty: not written yet), and the time of the last change."""

    markdown: str
    updated_at: datetime | None
    contact_email: str = ""


def find_description() -> Document:
    """Return the extended description of this server, written by staff."""
    text = find_site_text("site_extended_description")
    return Document("", None) if text is None else Document(*text)


def find_privacy_policy() -> Document:
    """Return the privacy policy written by staff; an empty text means that the policy that comes with this software applies."""
    markdown, updated_at = find_site_text("site_privacy_policy") or ("", _PRIVACY_POLICY_DATE)
    return Document(markdown, updated_at, load_site_texts()["site_contact_email"])


@dataclass(frozen=True)
class ShownTerms:
    """A version of the terms, whether it applies today, and the date from which the next version applies."""

    terms: TermsOfService
    effective: bool
    succeeded_by: date | None


def _published() -> QuerySet[TermsOfService]:
    return TermsOfService.objects.filter(published_at__isnull=False)


def have_terms() -> bool:
    return _published().exists()


def find_terms(day: date | None = None) -> ShownTerms:
    """Return the version that applies from `day`. The default is the current version or, if there is none, the first future
    version. Raises NotFound.
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


def list_weeks() -> list[ActivityWeek]:
    """Return the last twelve weeks, the current week first; a week without a row has zeros."""
    today = clock.now().astimezone(UTC).date()
    monday = today - timedelta(days=today.weekday())
    starts = [monday - timedelta(weeks=number) for number in range(WEEKS)]
    stored = ActivityWeek.objects.filter(start__gte=starts[-1]).in_bulk()
    return [stored.get(start) or ActivityWeek(start=start) for start in starts]


def _known_domains() -> QuerySet[Domain]:
    suspended = DomainRule.objects.filter(severity=DomainSeverity.SUSPEND)
    return Domain.objects.exclude(name__in=suspended.values("domain"))


def list_peers() -> list[str]:
    """Return the servers that this server knows and has not suspended."""
    return list(_known_domains().order_by("name").values_list("name", flat=True)[:_PEERS_LIMIT])


def search_peers(prefix: str) -> list[str]:
    """Return at most ten known servers whose names begin with this prefix."""
    peers = _known_domains().filter(name__startswith=normalise_domain(prefix) or prefix.strip().lower())
    return list(peers.order_by("name").values_list("name", flat=True)[:PEERS_FOUND_LIMIT])


def list_domain_blocks() -> list[DomainRule]:
    """Return the rules that limit servers, then the rules that suspend servers, each group sorted by name."""
    rules = DomainRule.objects.filter(severity__in=[DomainSeverity.SILENCE, DomainSeverity.SUSPEND])
    return list(rules.order_by("severity", "domain"))


# The contract's usage figure counts "the last four weeks".
ACTIVE_MONTH = timedelta(days=28)


@dataclass(frozen=True)
class Figures:
    """Totals of this server; the caller caches them."""

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
    identity: Identity
    has_terms: bool = False


def list_rules() -> list[InstanceRule]:
    """Return the rules in force, sorted by position."""
    return list(InstanceRule.objects.filter(withdrawn_at=None).order_by("position", "id"))


# Reading updates active_at twice a day, and signing in on the website updates last_login; clients that only post, such as bots,
# update last_status_at. GREATEST ignores NULL.
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
    """Return the numbers of local users and posts, known domains, and users active in the last four weeks: one query."""
    with connection.cursor() as cursor:
        cursor.execute(_FIGURES, [clock.now() - ACTIVE_MONTH])
        users, statuses, domains, active = cursor.fetchone()
    return Figures(users, statuses, domains, active)


def count_active(since: datetime) -> int:
    """Count the approved local users, except disabled users, who have read, signed in or posted since a time."""
    with connection.cursor() as cursor:
        cursor.execute(_ACTIVE, [since])
        return int(cursor.fetchone()[0])


def offered_report_year() -> int | None:
    """Return the year whose report users may request today (UTC): the current year from 10 December on, otherwise None."""
    today = clock.now().astimezone(UTC)
    offered = settings.ANNUAL_REPORTS and today.month == _REPORT_MONTH and today.day >= _FIRST_REPORT_DAY
    return today.year if offered else None


def load_instance() -> InstanceDocument:
    """Return the data of the instance documents."""
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
        identity=current_identity(),
        emojis=EmojiLookup.for_accounts([contact] if contact is not None else []),
        invites_enabled=Role.objects.get(id=EVERYONE_ROLE_ID).can(Permission.INVITE_USERS),
        has_terms=have_terms(),
        timelines_access={
            kind: {"local": str(access.local), "remote": str(access.remote)}
            for kind, access in ((kind, load_access(kind)) for kind in (LIVE, HASHTAG, TRENDING_LINK))
        },
    )
