"""Counts answers, boosts, favourites and quotes of posts anew, should the counters ever be wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection, transaction

from statuses.models import QuoteState, Status, StatusStat
from statuses.policies.visibility import FOR_ANYBODY

STEP: Final = 500
"""Posts counted in one transaction."""

_COUNTED: Final = """
SELECT s.id AS status_id,
       (SELECT count(*) FROM statuses_status r
         WHERE r.in_reply_to_id = s.id AND r.deleted_at IS NULL AND r.visibility = ANY(%(public)s)) AS replies,
       (SELECT count(*) FROM statuses_status b WHERE b.reblog_of_id = s.id AND b.deleted_at IS NULL) AS reblogs,
       (SELECT count(*) FROM statuses_favourite f WHERE f.status_id = s.id) AS favourites,
       (SELECT count(*) FROM statuses_quote q JOIN statuses_status x ON x.id = q.status_id
         WHERE q.quoted_status_id = s.id AND q.state = %(accepted)s AND x.deleted_at IS NULL) AS quotes
  FROM unnest(%(ids)s::bigint[]) s (id)
"""
_WRONG: Final = f"""
SELECT counted.status_id FROM ({_COUNTED}) counted
  LEFT JOIN statuses_statusstat t ON t.status_id = counted.status_id
 WHERE (COALESCE(t.replies_count, 0), COALESCE(t.reblogs_count, 0), COALESCE(t.favourites_count, 0),
        COALESCE(t.quotes_count, 0)) <> (replies, reblogs, favourites, quotes)
 ORDER BY 1
"""  # noqa: S608 (constants)
_CORRECT: Final = f"""
UPDATE statuses_statusstat t
   SET replies_count = replies, reblogs_count = reblogs, favourites_count = favourites, quotes_count = quotes
  FROM ({_COUNTED}) counted WHERE t.status_id = counted.status_id
"""  # noqa: S608 (constants)


@dataclass(frozen=True)
class Progress:
    """How far the counting has come: posts counted, and how many of them were wrong, so far."""

    counted: int
    wrong: int


def recount_statuses(*, dry_run: bool = False) -> Iterator[Progress]:
    """Count all posts that are not deleted, the oldest first, and correct counters; with `dry_run` say how many are wrong.

    What is liked, boosted and answered meanwhile is counted right: whoever counts waits for the row that is corrected. Can
    be ended at any time.
    """
    after, counted, wrong = 0, 0, 0
    while True:
        rows = Status.objects.filter(id__gt=after, deleted_at=None, reblog_of=None).order_by("id")
        ids = list(rows.values_list("id", flat=True)[:STEP])
        if not ids:
            return
        found = _find_wrong(ids)
        if found and not dry_run:
            _correct(found)
        after, counted, wrong = ids[-1], counted + len(ids), wrong + len(found)
        yield Progress(counted, wrong)


def _values(ids: Sequence[int]) -> dict[str, Any]:
    return {"ids": list(ids), "public": list(FOR_ANYBODY), "accepted": QuoteState.ACCEPTED}


def _find_wrong(ids: Sequence[int]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(_WRONG, _values(ids))
        return [number for (number,) in cursor.fetchall()]


def _correct(ids: Sequence[int]) -> None:
    with transaction.atomic():
        # The rows are there and held before anything is counted: a favourite that is not committed yet adds itself to the
        # corrected number afterwards.
        existing = [StatusStat(status_id=number) for number in ids]
        StatusStat.objects.bulk_create(existing, ignore_conflicts=True, batch_size=STEP)
        list(StatusStat.objects.select_for_update().filter(status_id__one_of=list(ids)).order_by("status_id"))
        with connection.cursor() as cursor:
            cursor.execute(_CORRECT, _values(ids))
