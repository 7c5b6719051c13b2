"""Deletes personal data after some time: network addresses, mails written to files, and the audit log.

The retention periods in days are settings (0: for ever). Data of accounts on hold stays. Run by the scheduler.
"""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.db.models import QuerySet

from accounts.models import User
from accounts.queries.site_settings import retention_days
from social.kernel import clock

BATCH_SIZE: Final = 1000
KEPT_MAIL_DAYS: Final = 30

_OLD_ENTRIES: Final = """
FROM accounts_auditentry e WHERE e.created_at < %(before)s
 AND NOT EXISTS (SELECT FROM accounts_account a
                  WHERE a.held_at IS NOT NULL AND e.target_type = 'Account' AND a.id = e.target_id)
 AND NOT EXISTS (SELECT FROM accounts_user u JOIN accounts_account a ON a.id = u.account_id
                  WHERE a.held_at IS NOT NULL AND e.target_type = 'User' AND u.id = e.target_id)
"""
_FORGOTTEN_ENTRIES: Final = f"""
DELETE FROM accounts_auditentry WHERE id IN (SELECT e.id {_OLD_ENTRIES} ORDER BY e.id LIMIT %(limit)s)
"""  # noqa: S608 (constants)


def forget_addresses() -> int:
    """Delete addresses of sign-ups, and end unused sessions, after KEEP_ADDRESSES_DAYS; return how many."""
    return _forget_sign_up_addresses() + _end_unused_sessions()


def count_addresses() -> int:
    """Count the addresses and sessions that `forget_addresses` would delete now."""
    return old_sign_ups().count() + unused_sessions().count()


def old_sign_ups() -> QuerySet[User]:
    """List users whose sign-up address has been stored for more than KEEP_ADDRESSES_DAYS."""
    before = clock.days_ago(retention_days("KEEP_ADDRESSES_DAYS"))
    rows = User.objects.filter(sign_up_ip__isnull=False, account__held_at=None)
    return rows.filter(created_at__lt=before) if before is not None else rows.none()


def unused_sessions() -> QuerySet[UserSession]:
    """List browser sessions that have not been used for KEEP_ADDRESSES_DAYS."""
    before = clock.days_ago(retention_days("KEEP_ADDRESSES_DAYS"))
    rows: QuerySet[UserSession] = UserSession.objects.filter(user__account__held_at=None)
    return rows.filter(last_seen_at__lt=before) if before is not None else rows.none()


def _forget_sign_up_addresses() -> int:
    forgotten = 0
    while ids := list(old_sign_ups().order_by("created_at").values_list("pk", flat=True)[:BATCH_SIZE]):
        forgotten += User.objects.filter(id__one_of=ids).update(sign_up_ip=None)
    return forgotten


def _end_unused_sessions() -> int:
    ended = 0
    while rows := list(unused_sessions().order_by("last_seen_at").values_list("pk", "session_key")[:BATCH_SIZE]):
        with transaction.atomic():
            Session.objects.filter(session_key__one_of=[key for _number, key in rows]).delete()
            UserSession.objects.filter(pk__one_of=[number for number, _key in rows]).delete()
        ended += len(rows)
    return ended


def forget_written_mails() -> int:
    """Delete mails that were written to files (if EMAIL_URL is not set) more than KEPT_MAIL_DAYS ago; return how many."""
    if settings.EMAIL_BACKEND != "django.core.mail.backends.filebased.EmailBackend":
        return 0
    before = (clock.now() - timedelta(days=KEPT_MAIL_DAYS)).timestamp()
    removed = 0
    for path in Path(settings.EMAIL_FILE_PATH).glob("*.log"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()
                removed += 1
    return removed


def forget_audit_entries() -> int:
    """Delete rows of the audit log, and of Django's admin log, after KEEP_AUDIT_LOG_DAYS; return how many audit rows.

    The database lets only this function delete audit rows, and none from the last 30 days.
    """
    before = clock.days_ago(retention_days("KEEP_AUDIT_LOG_DAYS"))
    forgotten = 0
    old = LogEntry.objects.filter(action_time__lt=before) if before is not None else LogEntry.objects.none()
    while ids := list(old.order_by("pk").values_list("pk", flat=True)[:BATCH_SIZE]):
        LogEntry.objects.filter(pk__one_of=ids).delete()
    while before is not None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('social.audit_retention', 'on', TRUE)")
            cursor.execute(_FORGOTTEN_ENTRIES, {"before": before, "limit": BATCH_SIZE})
            step = cursor.rowcount
        forgotten += step
        if step < BATCH_SIZE:
            break
    return forgotten


def count_audit_entries() -> int:
    """Count the rows that `forget_audit_entries` would delete now."""
    before = clock.days_ago(retention_days("KEEP_AUDIT_LOG_DAYS"))
    if before is None:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) {_OLD_ENTRIES}", {"before": before})
        (count,) = cursor.fetchone()
    return int(count)
