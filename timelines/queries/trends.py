"""Reads trends: a limited number of each kind, the highest score first."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, TypeVar

from django.db import connection
from django.db.models import Case, F, Model, OuterRef, QuerySet, Subquery, TextField, Value, When
from django.db.models.functions import Coalesce, Concat

from accounts.models import SiteSetting, Tag
from accounts.queries.tags import HISTORY_DAYS, DayOfUse
from social.kernel import clock
from social.kernel.errors import NotFound
from social.kernel.ids import first_at
from statuses.models import PreviewCard, Status
from statuses.policies.visibility import FEDERATED_POST, LIVE_POST, PUBLIC_POST
from statuses.queries.cards import find_card
from timelines.models import LinkPublisher, Trend, TrendKind, TrendReview

M = TypeVar("M", bound=Model)
TRENDS_SETTING: Final = "trends"
"""Site setting that switches trends off when it is False."""

UNREVIEWED_TRENDS_SETTING: Final = "site_trends_without_review"
"""Site setting that, when it is True, shows trends until staff reject them."""


@dataclass(frozen=True, slots=True)
class Trending:
    """Trend with its review: `allowed` tells whether staff allow it to be shown; None if they have not decided."""

    object_id: int
    allowed: bool | None


_ALLOWED_IDS: Final = {
    "tag": """SELECT t.object_id, g.trendable FROM timelines_trend t JOIN accounts_tag g ON g.id = t.object_id
               WHERE t.kind = 'tag' AND g.listable ORDER BY t.score DESC, t.object_id""",
    "status": """
      SELECT t.object_id, COALESCE(r.trendable, a.trendable) FROM timelines_trend t
        JOIN statuses_status s ON s.id = t.object_id AND s.deleted_at IS NULL
        LEFT JOIN timelines_trendreview r ON r.kind = 'status' AND r.object_id = s.id
        LEFT JOIN timelines_trendreview a ON a.kind = 'author' AND a.object_id = s.account_id
       WHERE t.kind = 'status' ORDER BY t.score DESC, t.object_id""",
    "link": """
      SELECT t.object_id, COALESCE(r.trendable, p.trendable) FROM timelines_trend t
        JOIN statuses_previewcard c ON c.id = t.object_id
        LEFT JOIN timelines_trendreview r ON r.kind = 'link' AND r.object_id = c.id
        LEFT JOIN timelines_linkpublisher p ON p.domain = c.host
       WHERE t.kind = 'link' ORDER BY t.score DESC, t.object_id""",
}
_HISTORY: Final = f"""
SELECT k.card_id, (s.created_at AT TIME ZONE 'UTC')::date, count(DISTINCT s.account_id), count(*)
  FROM statuses_statuscard k JOIN statuses_status s ON s.id = k.status_id
 WHERE k.card_id = ANY(%(ids)s) AND k.status_id >= %(since)s AND {PUBLIC_POST} AND {LIVE_POST}
   AND {FEDERATED_POST} GROUP BY 1, 2
"""  # noqa: S608 (constants)


def _settings() -> tuple[bool, bool]:
    """Return whether trends are shown at all, and whether trends without a decision of staff are shown."""
    keys = (TRENDS_SETTING, UNREVIEWED_TRENDS_SETTING)
    stored = dict(SiteSetting.objects.filter(key__one_of=keys).values_list("key", "value"))
    return stored.get(TRENDS_SETTING) is not False, stored.get(UNREVIEWED_TRENDS_SETTING) is True


def list_trending(kind: str) -> list[Trending]:
    """Return all trends of a kind, shown or not; only for staff."""
    with connection.cursor() as cursor:
        cursor.execute(_ALLOWED_IDS[kind])
        return [Trending(object_id, allowed) for object_id, allowed in cursor.fetchall()]


def list_trends_with_names() -> QuerySet[Any]:
    """Select the trends of all kinds that can be shown, in one query. Each has its `name` (the text of a post, the title of a
    page, a hashtag), its `source` (an account's address, a site, None) and `trendable`, the applicable decision of staff.
    """
    row = OuterRef("object_id")
    post = Status.objects.filter(pk=row, deleted_at=None)
    card = PreviewCard.objects.filter(pk=row)
    tag = Tag.objects.filter(pk=row, listable=True)
    author = TrendReview.objects.filter(kind=TrendKind.AUTHOR, object_id=OuterRef("account_id"))
    publisher = LinkPublisher.objects.filter(domain=OuterRef("host"))
    home = Case(
        When(account__domain=None, then=Value("")),
        default=Concat(Value("@"), F("account__domain"), output_field=TextField()),
        output_field=TextField(),
    )
    own = TrendReview.objects.filter(kind=OuterRef("kind"), object_id=row)
    return Trend.objects.annotate(
        name=_by_kind(tag.values("display_name"), post.values("content"), card.values("title")),
        source=_by_kind(
            None,
            post.values(found=Concat(Value("@"), F("account__username"), home, output_field=TextField())),
            card.values("host"),
        ),
        trendable=Coalesce(
            Subquery(own.values("trendable")),
            _by_kind(
                tag.values("trendable"),
                post.values(found=Subquery(author.values("trendable"))),
                card.values(found=Subquery(publisher.values("trendable"))),
            ),
        ),
    ).filter(name__isnull=False)


def _by_kind(tag: Any, status: Any, link: Any) -> Case:
    found = ((TrendKind.TAG, tag), (TrendKind.STATUS, status), (TrendKind.LINK, link))
    return Case(*(When(kind=kind, then=Subquery(rows)) for kind, rows in found if rows is not None))


def list_allowed_ids(kind: str) -> list[int]:
    """Return the ids of trends that may be shown: allowed by staff or, without review, not rejected; none if trends are off."""
    shown, unreviewed = _settings()
    if not shown:
        return []
    return [found.object_id for found in list_trending(kind) if found.allowed or (unreviewed and found.allowed is None)]


def find_trending_link(url: str) -> int:
    """Return the id of the preview card of a trending link that may be shown. Raises NotFound for any other address."""
    card = find_card(url)
    if card.id not in list_allowed_ids("link"):
        raise NotFound
    return card.id


def load_tags(tag_ids: Iterable[int]) -> list[Tag]:
    """Return hashtags, in the order of the given ids."""
    return _in_order(Tag.objects.all(), tag_ids)


def load_cards(card_ids: Iterable[int]) -> list[PreviewCard]:
    """Return preview cards, in the order of the given ids."""
    return _in_order(PreviewCard.objects.all(), card_ids)


def _in_order(rows: QuerySet[M], ids: Iterable[int]) -> list[M]:
    ids = list(ids)
    found = {row.pk: row for row in rows.filter(pk__one_of=ids)}
    return [found[number] for number in ids if number in found]


def load_link_histories(card_ids: Iterable[int]) -> dict[int, list[DayOfUse]]:
    """Return how many accounts linked to pages, and how often, on each of the last HISTORY_DAYS days, today first."""
    ids = list(card_ids)
    today = clock.now().astimezone(UTC).date()
    days = [today - timedelta(days=number) for number in range(HISTORY_DAYS)]
    found: dict[tuple[int, date], DayOfUse] = {}
    values: dict[str, Any] = {"ids": ids, "since": first_at(datetime.combine(days[-1], time(), UTC))}
    with connection.cursor() as cursor:
        cursor.execute(_HISTORY, values)
        for card_id, day, accounts, uses in cursor.fetchall():
            found[card_id, day] = DayOfUse(day, accounts, uses)
    return {number: [found.get((number, day), DayOfUse(day)) for day in days] for number in ids}
