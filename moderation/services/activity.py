"""Weekly counts of the activity on this server (contract, entities "InstanceActivity")."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django.db import connection, transaction

from moderation.models import ActivityWeek
from social.kernel import clock
from social.kernel.ids import first_at

WEEK: Final = timedelta(days=7)
# Only posts with ids above the id of the last counted post, so that each post is counted once.
_COUNT: Final = """
SELECT count(*) FILTER (WHERE local AND reblog_of_id IS NULL), max(id) FROM statuses_status
 WHERE id > %(after)s AND id < %(end)s
"""
_PEOPLE: Final = """
SELECT count(*) FILTER (WHERE GREATEST(u.active_at, u.last_login, s.last_status_at) >= %(start)s),
       count(*) FILTER (WHERE u.created_at >= %(start)s AND u.created_at < %(end)s)
  FROM accounts_user u LEFT JOIN accounts_accountstat s ON s.account_id = u.account_id
"""


def count_activity() -> None:
    """Update the counts of the current week, and complete the counts of the previous week. May run at any time."""
    today = clock.now().astimezone(UTC).date()
    monday = today - timedelta(days=today.weekday())
    for start in (monday - WEEK, monday):
        _count(start)


def _count(start: date) -> None:
    begin = datetime.combine(start, time.min, UTC)
    end = begin + WEEK
    with transaction.atomic():
        ActivityWeek.objects.get_or_create(start=start, defaults={"counted_to": first_at(begin) - 1})
        week = ActivityWeek.objects.select_for_update().get(start=start)
        with connection.cursor() as cursor:
            cursor.execute(_COUNT, {"after": week.counted_to, "end": first_at(end)})
            statuses, last = cursor.fetchone()
            cursor.execute(_PEOPLE, {"start": begin, "end": end})
            logins, registrations = cursor.fetchone()
        week.statuses += statuses
        week.counted_to = last or week.counted_to
        week.registrations = max(week.registrations, registrations)
        # Only the time of each user's last activity is stored, so the active users of a week can no longer be counted after
        # the week.
        if clock.now() < end:
            week.logins = max(week.logins, logins)
        week.save()
