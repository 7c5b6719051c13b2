"""Reads what this server says about itself beyond the instance documents: terms, activity, other servers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django.db.models import QuerySet

from accounts.models import Domain
from accounts.queries.site_settings import find_site_text, load_site_texts
from moderation.models import ActivityWeek, DomainRule, TermsOfService
from moderation.models.domain_rule import DomainSeverity
from moderation.policies.documents import obfuscated
from social.kernel import clock
from social.kernel.errors import NotFound
from social.kernel.text.names import normalise_domain

WEEKS: Final = 12
# The day on which the privacy policy was written that this software brings along.
_WRITTEN: Final = datetime(2026, 11, 22, tzinfo=UTC)
SEARCHED: Final = 10
_MOST_PEERS: Final = 100_000


@dataclass(frozen=True)
class Document:
    """A text of staff in Markdown, empty where they have written none, and since when it stands."""

    markdown: str
    updated_at: datetime | None
    contact_email: str = ""


def find_description() -> Document:
    """What staff have written about this server."""
    written = find_site_text("site_extended_description")
    return Document("", None) if written is None else Document(*written)


def find_privacy_policy() -> Document:
    """What this server keeps of people; with an empty text what is true of every server that runs this software."""
    markdown, updated_at = find_site_text("site_privacy_policy") or ("", _WRITTEN)
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
    """Whether any terms of service are published."""
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
    """What happened in a week that began at `start`."""

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
    return list(_known().order_by("name").values_list("name", flat=True)[:_MOST_PEERS])


def search_peers(prefix: str) -> list[str]:
    """Ten known servers whose names begin with this."""
    wanted = normalise_domain(prefix) or prefix.strip().lower()
    return list(_known().filter(name__startswith=wanted).order_by("name").values_list("name", flat=True)[:SEARCHED])


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
