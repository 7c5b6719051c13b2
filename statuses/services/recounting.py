"""Recalculates the stored counters of posts, accounts, polls and featured hashtags, and corrects wrong counters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Model, QuerySet

from accounts.models import Account, AccountStat, FeaturedTag
from statuses.models import Poll, QuoteState, Status, StatusStat
from statuses.policies.visibility import COUNTED_VISIBILITIES, OPEN_VISIBILITIES

BATCH_SIZE: Final = 500
"""Maximum number of rows recounted in one transaction."""

# Each statement returns an id, the stored values and the correct values, both in the order of the columns.
_POSTS: Final = """
SELECT s.id, COALESCE(t.replies_count, 0), COALESCE(t.reblogs_count, 0), COALESCE(t.favourites_count, 0),
       COALESCE(t.quotes_count, 0),
       (SELECT count(*) FROM statuses_status r
         WHERE r.in_reply_to_id = s.id AND r.deleted_at IS NULL AND r.visibility = ANY(%(public)s)),
       (SELECT count(*) FROM statuses_status b WHERE b.reblog_of_id = s.id AND b.deleted_at IS NULL),
       (SELECT count(*) FROM statuses_favourite f WHERE f.status_id = s.id),
       (SELECT count(*) FROM statuses_quote q JOIN statuses_status x ON x.id = q.status_id
         WHERE q.quoted_status_id = s.id AND q.state = %(accepted)s AND x.deleted_at IS NULL)
  FROM unnest(%(ids)s::bigint[]) s (id) LEFT JOIN statuses_statusstat t ON t.status_id = s.id
 ORDER BY 1
"""
# The time of an account's last post never moves back, because a deleted post still counts.
_ACCOUNTS: Final = """
SELECT a.id, COALESCE(t.statuses_count, 0), t.last_status_at, found.number, GREATEST(t.last_status_at, found.last)
  FROM unnest(%(ids)s::bigint[]) a (id) LEFT JOIN accounts_accountstat t ON t.account_id = a.id
 CROSS JOIN LATERAL (SELECT count(*) AS number, max(s.created_at) AS last FROM statuses_status s
                      WHERE s.account_id = a.id AND s.deleted_at IS NULL AND s.visibility = ANY(%(counted)s)) found
 ORDER BY 1
"""
_POLLS: Final = """
SELECT p.id, p.tallies, COALESCE(p.voters_count, 0),
       ARRAY(SELECT (SELECT count(*) FROM statuses_pollvote v WHERE v.poll_id = p.id AND v.choice = place - 1)
               FROM generate_series(1, cardinality(p.options)) place ORDER BY place),
       (SELECT count(DISTINCT v.account_id) FROM statuses_pollvote v WHERE v.poll_id = p.id)
  FROM statuses_poll p WHERE p.id = ANY(%(ids)s) ORDER BY 1
"""
_FEATURED_TAGS: Final = """
SELECT f.id, f.statuses_count, f.last_status_at, found.number, GREATEST(f.last_status_at, found.last)
  FROM accounts_featuredtag f
 CROSS JOIN LATERAL (SELECT count(*) AS number, max(s.created_at) AS last
                       FROM statuses_statustag g JOIN statuses_status s ON s.id = g.status_id
                      WHERE g.tag_id = f.tag_id AND s.account_id = f.account_id AND s.deleted_at IS NULL
                        AND s.visibility = ANY(%(public)s)) found
 WHERE f.id = ANY(%(ids)s) ORDER BY 1
"""


@dataclass(frozen=True)
class _Kind:
    # `counted` selects the objects; the counters are the `columns` of `model`, in rows whose column `key` has the object's id.
    name: str
    counted: QuerySet[Any]
    statement: str
    model: type[Model]
    key: str
    columns: tuple[str, ...]


def _kinds() -> Iterator[_Kind]:
    posts = Status.objects.filter(deleted_at=None, reblog_of=None)
    columns = ("replies_count", "reblogs_count", "favourites_count", "quotes_count")
    yield _Kind("posts", posts, _POSTS, StatusStat, "status_id", columns)
    use = ("statuses_count", "last_status_at")
    yield _Kind("accounts", Account.objects.all(), _ACCOUNTS, AccountStat, "account_id", use)
    # Only local polls are counted, because the votes in a remote poll are counted by its server.
    polls = Poll.objects.filter(status__local=True, status__deleted_at=None)
    yield _Kind("polls", polls, _POLLS, Poll, "id", ("tallies", "voters_count"))
    yield _Kind("featured hashtags", FeaturedTag.objects.all(), _FEATURED_TAGS, FeaturedTag, "id", use)


@dataclass(frozen=True)
class Wrong:
    """An object with wrong counters: the names of the counters, their stored values, and their correct values."""

    id: int
    columns: tuple[str, ...]
    stored: tuple[Any, ...]
    right: tuple[Any, ...]

    def __str__(self) -> str:
        rows = zip(self.columns, self.stored, self.right, strict=True)
        return f"{self.id}: " + ", ".join(f"{name} {old} -> {new}" for name, old, new in rows if old != new)


@dataclass(frozen=True)
class Progress:
    """Progress for one kind of objects: the numbers of objects that were counted and that were wrong so far, and the wrong
    objects found in this step.
    """

    kind: str
    counted: int
    wrong: int
    found: Sequence[Wrong] = ()


def recount_statuses(*, dry_run: bool = False) -> Iterator[Progress]:
    """Recount the counters of posts that are not deleted, of accounts (with the time of the last post), of local polls and of
    featured hashtags, oldest first. Wrong counters are corrected, except with `dry_run`. Can be interrupted. Concurrent changes
    are counted correctly, because they wait for the lock of the corrected row.
    """
    for kind in _kinds():
        after, counted, wrong = 0, 0, 0
        while True:
            ids = list(kind.counted.filter(id__gt=after).order_by("id").values_list("id", flat=True)[:BATCH_SIZE])
            found = _find_wrong(kind, ids) if ids else []
            if found and not dry_run:
                _correct(kind, [one.id for one in found])
            after, counted, wrong = ids[-1] if ids else after, counted + len(ids), wrong + len(found)
            yield Progress(kind.name, counted, wrong, found)
            if len(ids) < BATCH_SIZE:
                break


def _find_wrong(kind: _Kind, ids: Sequence[int]) -> list[Wrong]:
    values: dict[str, Any] = {
        "ids": list(ids),
        "public": list(OPEN_VISIBILITIES),
        "counted": list(COUNTED_VISIBILITIES),
        "accepted": QuoteState.ACCEPTED,
    }
    with connection.cursor() as cursor:
        cursor.execute(kind.statement, values)
        rows = cursor.fetchall()
    width = len(kind.columns)
    found = (Wrong(row[0], kind.columns, row[1 : width + 1], row[width + 1 :]) for row in rows)
    return [one for one in found if one.stored != one.right]


def _correct(kind: _Kind, ids: Sequence[int]) -> None:
    with transaction.atomic():
        # The rows are created and locked before counting; therefore a favourite that is not committed yet is added to the
        # corrected number.
        rows = kind.model._default_manager
        if kind.key != "id":
            existing = [kind.model(**{kind.key: number}) for number in ids]
            rows.bulk_create(existing, ignore_conflicts=True, batch_size=BATCH_SIZE)
        locked_rows = rows.select_for_update().filter(**{f"{kind.key}__one_of": list(ids)})
        list(locked_rows.order_by(kind.key).values_list(kind.key, flat=True))
        for one in _find_wrong(kind, ids):
            rows.filter(**{kind.key: one.id}).update(**dict(zip(kind.columns, one.right, strict=True)))
