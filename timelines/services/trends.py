"""Computes trends with a bounded amount of work, and stores decisions of staff about showing them."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

from django.db import connection, transaction

from accounts.models import Account, Tag
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from social.kernel import clock
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import first_at
from statuses.models import PreviewCard, Status
from statuses.policies.audience import HASHTAG_TIMELINE
from statuses.policies.visibility import FEDERATED_POST, LIVE_POST, PUBLIC_POST, is_listed
from timelines.models import LinkPublisher, Trend, TrendKind, TrendReview
from timelines.policies import trends

TRENDS_LIMIT: Final = 200
"""Limit on simultaneous trends of each kind."""

CANDIDATES_LIMIT: Final = 50_000
"""Maximum number of public posts that are read, newest first, and of candidate hashtags."""

_SHOWN_AUTHOR: Final = HASHTAG_TIMELINE.authors.sql("a.id", has_viewer=False, joined="a")
_TAGS: Final = f"""
SELECT today.tag_id, today.people,
       (SELECT count(*) FROM accounts_taguse y WHERE y.tag_id = today.tag_id AND y.day = %(day)s::date - 1)
  FROM (SELECT u.tag_id, count(*) AS people FROM accounts_taguse u JOIN accounts_account a ON a.id = u.account_id
         WHERE u.day = %(day)s AND {_SHOWN_AUTHOR}
         GROUP BY u.tag_id HAVING count(*) >= %(threshold)s ORDER BY count(*) DESC LIMIT 1000) today
"""  # noqa: S608 (constants)
_NEWEST: Final = f"""(
  SELECT s.* FROM statuses_status s WHERE {PUBLIC_POST} AND {LIVE_POST} AND {FEDERATED_POST} AND s.id >= %(since)s
   ORDER BY s.id DESC LIMIT %(looked_at)s)"""  # noqa: S608 (constants)
_STATUSES: Final = f"""
SELECT s.id, s.created_at, c.reblogs_count + c.favourites_count AS liked
  FROM {_NEWEST} s JOIN statuses_statusstat c ON c.status_id = s.id JOIN accounts_account a ON a.id = s.account_id
 WHERE c.reblogs_count + c.favourites_count >= %(threshold)s AND {_SHOWN_AUTHOR} AND a.discoverable AND NOT s.sensitive
   AND a.sensitized_at IS NULL AND s.spoiler_text = '' AND s.in_reply_to_id IS NULL AND s.in_reply_to_uri IS NULL
   AND s.in_reply_to_account_id IS NULL
 ORDER BY liked DESC LIMIT 1000
"""  # noqa: S608 (constants)
_LINKS: Final = f"""
SELECT k.card_id, (s.created_at AT TIME ZONE 'UTC')::date, count(DISTINCT s.account_id)
  FROM {_NEWEST} s JOIN statuses_statuscard k ON k.status_id = s.id JOIN accounts_account a ON a.id = s.account_id
  JOIN statuses_previewcard p ON p.id = k.card_id
 WHERE {_SHOWN_AUTHOR} AND p.title <> '' GROUP BY 1, 2
"""  # noqa: S608 (constants)

_GONE_REVIEWS: Final = """
DELETE FROM timelines_trendreview WHERE id IN (
  SELECT r.id FROM timelines_trendreview r
   WHERE (r.kind = 'status' AND NOT EXISTS (SELECT FROM statuses_status s WHERE s.id = r.object_id))
      OR (r.kind = 'link' AND NOT EXISTS (SELECT FROM statuses_previewcard c WHERE c.id = r.object_id))
      OR (r.kind = 'author' AND NOT EXISTS (SELECT FROM accounts_account a WHERE a.id = r.object_id))
   LIMIT %s)
"""


def compute_trends() -> int:
    """Compute the trends of all three kinds, and return how many there are. Runs a constant number of statements."""
    now = clock.now()
    return compute_tags(now) + compute_statuses(now) + compute_links(now)


def compute_tags(now: datetime) -> int:
    """Compute trending hashtags, used by more accounts today (UTC) than yesterday; ask staff to review new hashtags."""
    rows = _rows(_TAGS, {"day": now.astimezone(UTC).date(), "threshold": trends.THRESHOLD})
    fresh = {tag_id: trends.surprise(today, yesterday) for tag_id, today, yesterday in rows}
    trending = _renew(TrendKind.TAG, fresh, trends.TAG_HALF_LIFE, now)
    unseen = Tag.objects.filter(id__one_of=trending, reviewed_at=None, requested_review_at=None)
    unseen.update(requested_review_at=now)
    return len(trending)


def compute_statuses(now: datetime) -> int:
    """Compute trending posts of the last two days by discoverable authors; no replies, sensitive posts or content warnings."""
    values = {
        "since": first_at(now - timedelta(days=2)),
        "looked_at": CANDIDATES_LIMIT,
        "threshold": trends.THRESHOLD,
    }
    scores = {
        status_id: trends.decayed(trends.surprise(liked, 1), created_at, now, trends.STATUS_HALF_LIFE)
        for status_id, created_at, liked in _rows(_STATUSES, values)
    }
    return len(_store(TrendKind.STATUS, {number: (score, score, now) for number, score in scores.items()}))


def compute_links(now: datetime) -> int:
    """Compute trending links, shared by more accounts today (UTC) than yesterday; ask staff to review new publishers."""
    today = now.astimezone(UTC).date()
    yesterday = datetime.combine(today - timedelta(days=1), time(), UTC)
    counts: dict[int, dict[Any, int]] = {}
    for card_id, day, people in _rows(_LINKS, {"since": first_at(yesterday), "looked_at": CANDIDATES_LIMIT}):
        counts.setdefault(card_id, {})[day] = people
    fresh = {
        card_id: trends.surprise(days.get(today, 0), sum(days.values()) - days.get(today, 0))
        for card_id, days in counts.items()
    }
    trending = _renew(TrendKind.LINK, fresh, trends.LINK_HALF_LIFE, now)
    hosts = PreviewCard.objects.filter(id__one_of=trending).exclude(host="").values_list("host", flat=True).distinct()
    publishers = [LinkPublisher(domain=host, requested_review_at=now) for host in sorted(hosts)]
    LinkPublisher.objects.bulk_create(publishers, ignore_conflicts=True, batch_size=TRENDS_LIMIT)
    return len(trending)


def _rows(sql: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def _renew(kind: TrendKind, fresh: Mapping[int, float], half_life: timedelta, now: datetime) -> list[int]:
    # Stored scores decay from their peak; a higher score, or any score after the peak's lifetime, becomes the new peak.
    peaks = {row.object_id: (row.peak, row.peak_at) for row in Trend.objects.filter(kind=kind)}
    scores: dict[int, tuple[float, float, datetime]] = {}
    for number in {*peaks, *fresh}:
        peak, peak_at = peaks.get(number, (0.0, now))
        measured = fresh.get(number, 0.0)
        if measured > peak or now - peak_at > trends.PEAK_LIFETIME:
            peak, peak_at = measured, now
        scores[number] = (trends.decayed(peak, peak_at, now, half_life), peak, peak_at)
    return _store(kind, scores)


def _store(kind: TrendKind, scores: Mapping[int, tuple[float, float, datetime]]) -> list[int]:
    # Returns the ids of the trends, the strongest first.
    strong = sorted((-score, number) for number, (score, _p, _at) in scores.items() if score >= trends.LOWEST_SCORE)
    kept_ids = [number for _score, number in strong[:TRENDS_LIMIT]]
    rows = [
        Trend(kind=kind, object_id=number, score=scores[number][0], peak=scores[number][1], peak_at=scores[number][2])
        for number in sorted(kept_ids)
    ]
    with transaction.atomic():
        Trend.objects.filter(kind=kind).exclude(object_id__one_of=kept_ids).delete()
        Trend.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["kind", "object_id"],
            update_fields=["score", "peak", "peak_at"],
            batch_size=TRENDS_LIMIT,
        )
    return kept_ids


def review_trend(*, by: Staff, kind: TrendKind, object_id: int, trendable: bool) -> None:
    """Store the decision of staff about an object that may trend. Raises NotPermitted, and NotFound for any other object."""
    require(by, Permission.MANAGE_TAXONOMIES)
    with transaction.atomic():
        name = _name_of(kind, object_id)
        if name is None:
            raise NotFound
        if kind is TrendKind.TAG:
            Tag.objects.filter(id=object_id).update(trendable=trendable, reviewed_at=clock.now())
        else:
            TrendReview.objects.update_or_create(
                kind=kind, object_id=object_id, defaults={"trendable": trendable, "reviewed_at": clock.now()}
            )
        _record(by, kind.capitalize(), object_id, name, trendable=trendable)


def _name_of(kind: TrendKind, object_id: int) -> str | None:
    # Returns a name for the audit log; None for an object that cannot trend. Posts must be public, because the response to a
    # review shows the post to staff.
    if kind is TrendKind.TAG:
        tag = Tag.objects.filter(id=object_id).first()
        return None if tag is None else str(tag)
    if kind is TrendKind.STATUS:
        post = Status.objects.filter(id=object_id, reblog_of=None, deleted_at=None).select_related("account").first()
        return f"@{post.account.acct}" if post is not None and is_listed(post.visibility) else None
    if kind is TrendKind.LINK:
        card = PreviewCard.objects.filter(id=object_id).exclude(title="").first()
        return None if card is None else card.url
    account = Account.objects.filter(id=object_id).first()
    return None if account is None else f"@{account.acct}"


def forget_reviews(*, batch: int = 5000) -> int:
    """Delete the decisions about posts, links and authors that no longer exist, and return how many. Run by the scheduler."""
    with connection.cursor() as cursor:
        cursor.execute(_GONE_REVIEWS, [batch])
        return int(cursor.rowcount)


def review_publisher(*, by: Staff, publisher_id: int, trendable: bool) -> LinkPublisher:
    """Store the decision of staff about whether pages of a publisher may trend. Raises NotPermitted and NotFound."""
    require(by, Permission.MANAGE_TAXONOMIES)
    with transaction.atomic():
        publisher = require_found(LinkPublisher.objects.select_for_update().filter(id=publisher_id).first())
        publisher.trendable, publisher.reviewed_at = trendable, clock.now()
        publisher.save(update_fields=["trendable", "reviewed_at"])
        _record(by, "LinkPublisher", publisher.id, publisher.domain, trendable=trendable)
    return publisher


def _record(by: Staff, target_type: str, target_id: int, name: str, *, trendable: bool) -> None:
    action = "approve_trend" if trendable else "reject_trend"
    record(by=by, action=action, target_type=target_type, target_id=target_id, target_name=name)
