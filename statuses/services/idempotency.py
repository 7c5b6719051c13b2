"""Stores idempotency keys, so that a request sent twice creates one post (behaviours section 9)."""

from datetime import timedelta
from hashlib import sha256
from typing import Final

from django.db import connection
from django.db.models import QuerySet

from social.kernel import clock
from statuses.models import IdempotencyKey, ScheduledStatus, Status

KEY_LIFETIME: Final = timedelta(hours=1)
_KEY_LENGTH: Final = 64

# Waits for another transaction that has claimed the same key. A key older than KEY_LIFETIME is reused; if two requests reuse a
# key at the same time, the second request finds the key renewed and gets no row.
_CLAIM_SQL: Final = """
INSERT INTO statuses_idempotencykey (account_id, key, status_id, created_at)
VALUES (%(account)s, %(key)s, NULL, %(now)s)
ON CONFLICT (account_id, key) DO UPDATE SET status_id = NULL, scheduled_id = NULL, created_at = %(now)s
 WHERE statuses_idempotencykey.created_at < %(oldest)s
RETURNING id
"""


def _storable_key(key: str) -> str:
    return key if len(key) <= _KEY_LENGTH else sha256(key.encode("utf-8", "replace")).hexdigest()


def find_first(account_id: int, key: str) -> Status | None:
    """Return the post that was created with this key within the last hour, or None."""
    row = _recent_keys(account_id, key).filter(status__isnull=False).select_related("status__account").first()
    return row.status if row is not None else None


def find_first_scheduled(account_id: int, key: str) -> ScheduledStatus | None:
    """Return the scheduled post that was created with this key within the last hour, if it is still scheduled."""
    row = _recent_keys(account_id, key).filter(scheduled__isnull=False).select_related("scheduled").first()
    return row.scheduled if row is not None else None


def _recent_keys(account_id: int, key: str) -> QuerySet[IdempotencyKey]:
    return IdempotencyKey.objects.filter(
        account_id=account_id, key=_storable_key(key), created_at__gte=clock.now() - KEY_LIFETIME
    )


def claim(account_id: int, key: str) -> int | None:
    """Claim a key, waiting for concurrent claims, and return the id of its row; None if another transaction has claimed the
    key.
    """
    now = clock.now()
    with connection.cursor() as cursor:
        cursor.execute(
            _CLAIM_SQL, {"account": account_id, "key": _storable_key(key), "now": now, "oldest": now - KEY_LIFETIME}
        )
        row = cursor.fetchone()
    return row[0] if row is not None else None


def remember(claimed: int, **created: Status | ScheduledStatus) -> None:
    """Link a claimed key to the post (`status`) or scheduled post (`scheduled`) that was created, in the same transaction."""
    IdempotencyKey.objects.filter(id=claimed).update(**created)


def remember_published(scheduled: ScheduledStatus, status: Status) -> None:
    """Link the key of a scheduled post to the post that was published from it, in the same transaction."""
    IdempotencyKey.objects.filter(scheduled=scheduled).update(scheduled=None, status=status)


def forget_old() -> int:
    """Remove expired keys and return how many. Run by the scheduler, about once an hour."""
    removed, _by_model = IdempotencyKey.objects.filter(created_at__lt=clock.now() - KEY_LIFETIME).delete()
    return removed
