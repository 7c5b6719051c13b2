"""Keeps what is found out about servers that we have met."""

from __future__ import annotations

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


def begin_asking(names: Collection[str]) -> None:
    """Write that known servers are asked for their software now."""
    Domain.objects.filter(name__one_of=names).update(software_asked_at=clock.now())


def keep_software(*, name: str, software: str, version: str) -> None:
    """Write which software a known server runs."""
    Domain.objects.filter(name=name).update(software=software, version=version)


def note_host(*, name: str, host: str) -> None:
    """Write where the documents of a known server's people are."""
    Domain.objects.filter(name=name).exclude(host=host).update(host=host)


def note_reached(names: Collection[str]) -> None:
    """Write of known servers that they have taken or given what they should, once in REACHED_PERIOD; of a server that another
    process is writing about it is left to the next time. `names` are theirs, or those where their documents are.
    """
    now = clock.now()
    if names:
        rows_of(_REACHED, {"names": list(names), "now": now, "before": now - REACHED_PERIOD})
