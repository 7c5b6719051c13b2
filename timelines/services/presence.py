"""Records which users are active, because feeds are written only for users who were active in the last seven days."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import connection, transaction

from accounts.models import Follow, TagFollow
from accounts.models.relations import FollowerState
from social.kernel import clock, redis
from social.kernel.batches import in_batches
from timelines.models import List, ListMember
from timelines.queries.lists import load_list_ids
from timelines.stores import feed

_PEOPLE_PER_STEP: Final = 50

# The statement returns the time of the previous activity.
_PRESENCE_UPDATE: Final = """
UPDATE accounts_user u SET active_at = %(now)s
  FROM (SELECT id, COALESCE(active_at, created_at) AS active_at FROM accounts_user WHERE account_id = ANY(%(ids)s)) before
 WHERE u.id = before.id
RETURNING u.account_id, before.active_at
"""

# Tables with a flag for readers who may have a feed: the table's name, and the condition of its index of active rows.
_ACTIVE_TABLES: Final = (
    ("accounts_follow", "follower_state = 'active'"),
    ("accounts_tagfollow", "NOT absent"),
    ("timelines_list", "NOT absent"),
)

# The queries find one reader after the other in the indexes of active rows, and skip the other rows of each reader.
_READERS: Final = ", ".join(
    f"""readers_{table} (id) AS (
  SELECT min(account_id) FROM {table} WHERE {condition}
  UNION ALL
  SELECT (SELECT min(f.account_id) FROM {table} f WHERE {condition} AND f.account_id > r.id)
    FROM readers_{table} r WHERE r.id IS NOT NULL
)"""  # noqa: S608 (constants)
    for table, condition in _ACTIVE_TABLES
)
_ABSENT_PEOPLE: Final = f"""
WITH RECURSIVE {_READERS}
SELECT readers.id FROM ({" UNION ".join(f"SELECT id FROM readers_{table}" for table, _condition in _ACTIVE_TABLES)}) readers
  JOIN accounts_user u ON u.account_id = readers.id
 WHERE COALESCE(u.active_at, u.created_at) <= %(before)s
"""  # noqa: S608 (constants)

# Rows of users who return at this moment are locked, and are skipped.
_ABSENT_PEOPLE_LOCK: Final = """
SELECT account_id FROM accounts_user
 WHERE account_id = ANY(%(ids)s) AND COALESCE(active_at, created_at) <= %(before)s
   FOR NO KEY UPDATE SKIP LOCKED
"""


def record_presence(*account_ids: int) -> None:
    """Mark the users of these accounts as active, so that posts are added to their feeds. Called about twice a day for each
    reader, and when a stream is opened. Runs one statement, or six if one of the users was absent.
    """
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        now = clock.now()
        cursor.execute(_PRESENCE_UPDATE, {"ids": list(account_ids), "now": now})
        # Users who were away for RETENTION may have been marked as absent: mark them as present. The statement above locks
        # their rows until the commit, so that `note_absent_people` skips them.
        back = [account_id for account_id, last in cursor.fetchall() if last <= now - feed.RETENTION]
        if back:
            _write_absence(back, absent=False)
    with redis.best_effort("remember who is present"):
        for account_id in account_ids:
            feed.mark_present(account_id)


def record_arrival(account_id: int) -> None:
    """Mark the user as active unless this was done in the last twelve hours."""
    with redis.best_effort("see who is present"):
        if feed.is_present(account_id):
            return
    record_presence(account_id)


def note_absent_people() -> int:
    """Mark absent users, whom fan-out skips, and return how many there are. Several processes may call this at any time."""
    before = feed.absent_before(clock.now())
    with connection.cursor() as cursor:
        cursor.execute(_ABSENT_PEOPLE, {"before": before})
        found = [account_id for (account_id,) in cursor.fetchall()]
    return sum(_note_absent(batch, before) for batch in in_batches(found, _PEOPLE_PER_STEP))


def _note_absent(account_ids: Sequence[int], before: datetime) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_ABSENT_PEOPLE_LOCK, {"ids": list(account_ids), "before": before})
        absent = [account_id for (account_id,) in cursor.fetchall()]
        _write_absence(absent, absent=True)
    return len(absent)


def _write_absence(account_ids: Sequence[int], *, absent: bool) -> None:
    # Remote accounts are never among the users.
    before, after = FollowerState.ACTIVE, FollowerState.ABSENT
    if not absent:
        before, after = after, before
    Follow.objects.filter(account_id__one_of=account_ids, follower_state=before).update(follower_state=after)
    TagFollow.objects.filter(account_id__one_of=account_ids, absent=not absent).update(absent=absent)
    # Members are filtered by the ids of the lists. For `list__account_id__in` Django would put the join into a subquery on the
    # same table, which took minutes while PostgreSQL's statistics covered few lists.
    lists = load_list_ids(account_ids)
    ListMember.objects.filter(list_id__one_of=lists, absent=not absent).update(absent=absent)
    List.objects.filter(id__one_of=lists, absent=not absent).update(absent=absent)
