"""Reads hashtags and how often they were used lately."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from django.db.models import Count, Sum

from accounts.models import TagUse
from social.kernel import clock

HISTORY_DAYS: Final = 7


@dataclass(frozen=True, slots=True)
class DayOfUse:
    """Of one day (UTC): by how many accounts a hashtag was used, and how often."""

    day: date
    accounts: int = 0
    uses: int = 0


def load_histories(tag_ids: Iterable[int]) -> dict[int, list[DayOfUse]]:
    """The last HISTORY_DAYS days of each hashtag, today first, in one query; days without use are in it."""
    ids = list(tag_ids)
    today = clock.now().date()
    days = [today - timedelta(days=number) for number in range(HISTORY_DAYS)]
    found = TagUse.objects.filter(tag_id__one_of=ids, day__gt=today - timedelta(days=HISTORY_DAYS))
    rows = found.values("tag_id", "day").annotate(accounts=Count("id"), total=Sum("uses")) if ids else ()
    known = {(row["tag_id"], row["day"]): DayOfUse(row["day"], row["accounts"], row["total"]) for row in rows}
    return {number: [known.get((number, day), DayOfUse(day)) for day in days] for number in ids}
