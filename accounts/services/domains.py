"""Stores facts about known servers: their software, their host, and when they were last reached."""

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from accounts.models import Domain
from social.kernel import clock
from social.kernel.statements import rows_of

REACHED_PERIOD: Final = timedelta(hours=1)
_REACHED: Final = """
UPDATE accounts_domain SET reached_at = %(now)s WHERE id IN (
    SELECT id FROM accounts_domain
    WHERE (name = ANY(%(names)s) OR (host = ANY(%(names)s) AND host <> ''))
      AND (reached_at IS NULL OR reached_at <= %(before)s) FOR UPDATE SKIP LOCKED)
RETURNING id
"""


def record_software_request(names: Collection[str]) -> None:
    """Record that these known servers are being asked for their software now."""
    Domain.objects.filter(name__one_of=names).update(software_asked_at=clock.now())


def store_software(*, name: str, software: str, version: str) -> None:
    """Store the software and version that a known server runs."""
    Domain.objects.filter(name=name).update(software=software, version=version)


def store_host(*, name: str, host: str) -> None:
    """Store the host that serves the documents of a known server's accounts."""
    Domain.objects.filter(name=name).exclude(host=host).update(host=host)


def record_reached_hosts(names: Collection[str]) -> None:
    """Record that these domains or hosts were just reached, at most once in REACHED_PERIOD; locked rows are skipped."""
    now = clock.now()
    if names:
        rows_of(_REACHED, {"names": list(names), "now": now, "before": now - REACHED_PERIOD})
